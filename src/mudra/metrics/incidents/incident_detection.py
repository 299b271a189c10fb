"""Detects incidents: from the calls of a window to what it says of every subject, and its changes.

New content of closed windows becomes observations; from the observations of the last days
incidents are detected again, compared with the stored ones, and changes notify members.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final

from msgspec import Struct

from mudra.metrics.health.health import verdict_of_calls
from mudra.metrics.incidents.incident import (
    CALL_RULES,
    REPORTING_RULES,
    AaCalls,
    AaReporting,
    FipApi,
    Incident,
    Observation,
    StoredIncident,
    Subject,
    incidents,
    observation,
    reporting_observations,
)
from mudra.metrics.incidents.incident_change import Change, Opened, changes
from mudra.metrics.notifications.incident_notifications import (
    IncidentNotification,
    incident_notifications,
)
from mudra.metrics.notifications.notifier import Notifier
from mudra.metrics.payload.catalogue import window_start
from mudra.metrics.payload.report import RequestBlock
from mudra.metrics.ports import Calls, Members, Observations, RollupQueries, Silences
from mudra.metrics.rollup.coverage import TimeRange

LOOK_BACK: Final = timedelta(hours=26)
BEFORE_OPEN: Final = timedelta(hours=2)
OBSERVED: Final = timedelta(days=8)
"""Incidents are detected in windows of this time only."""
StaleWindows = Mapping[datetime, Sequence[int]]
"""Windows with new content, and the stale marks that say so."""


class DetectionService(Struct, frozen=True):
    """Observes windows and detects incidents in one transaction."""

    observations: Observations
    rollups: RollupQueries
    members: Members
    silences: Silences
    notifier: Notifier
    new_id: Callable[[], str]

    async def stale_hours(self, now: datetime) -> Sequence[StaleWindows]:
        """Returns the windows to observe, an hour at a time."""
        by_hour: dict[datetime, dict[datetime, Sequence[int]]] = defaultdict(dict)
        for window, marks in (await self.observations.stale_windows(now)).items():
            by_hour[window.replace(minute=0)][window] = marks
        return [*by_hour.values()]

    async def observe(self, stale: StaleWindows) -> None:
        """Replaces the observations of some windows."""
        await self.observations.lock()
        left = await self.observations.still_stale(
            mark for marks in stale.values() for mark in marks
        )
        for window, marks in stale.items():
            if not left.isdisjoint(marks):  # else another process has observed it
                observed = observe_window(window, await self.rollups.calls_of(window))
                await self.observations.replace(window, observed, marks)

    async def detect(
        self, now: datetime, changed: Iterable[datetime] = ()
    ) -> Sequence[IncidentNotification]:
        """Stores what changed about incidents and notifies the members concerned.

        `changed` are the windows with new content, however late they came.
        """
        await self.observations.lock()
        end = window_start(now)
        changed_since = min([end - LOOK_BACK, *(window - BEFORE_OPEN for window in changed)])
        # Incidents of this time are detected again as a whole, up to the oldest observation ...
        touched = await self.observations.since(max(changed_since, end - OBSERVED))
        began = [one.incident.began - BEFORE_OPEN for one in touched]
        within = TimeRange(max(min([changed_since, *began]), end - OBSERVED), end)
        # ... and compared with all that are stored of as long a time: one that is left out here
        # would be stored again at every detection.
        known = await self.observations.since(within.start)
        watched = await self._watched(known, within, now)
        changed_now = [change for one in watched for change in find_changes(one, within)]
        silences = await self.silences.ending_after(now)
        found = incident_notifications(changed_now, known, silences, now, self.new_id)
        await self.observations.save(found, now)
        await self.notifier.send(found, now)
        return found

    async def detect_past(self, within: TimeRange, now: datetime) -> None:
        """Detects incidents of a time that is no longer watched; notifies no one."""
        await self.observations.lock()
        observed: dict[Subject, list[Observation]] = defaultdict(list)
        for window in within.windows:
            seen_in = observe_window(window, await self.rollups.calls_of(window))
            if window >= window_start(now) - OBSERVED:  # `detect` may read as far back
                await self.observations.replace(window, seen_in, ())
            for subject, seen in seen_in.items():
                observed[subject].append(seen)
        known = [one.incident for one in await self.observations.since(within.start)]
        past = [
            IncidentNotification(self.new_id(), change, notified=True)
            for subject, seen in observed.items()
            for change in find_changes(
                Watched(subject, seen, [one for one in known if one.subject == subject]), within
            )
            if isinstance(change, Opened)
        ]
        await self.observations.save(past, now)

    async def _watched(
        self, known: Sequence[StoredIncident], within: TimeRange, now: datetime
    ) -> list["Watched"]:
        observed = dict(await self.observations.within(within))
        received = await self.observations.received(within)
        reporting = await self.members.reporting_aas()
        for aa_id, since in reporting.items():
            subject, seen = reporting_of(aa_id, since, received.get(aa_id, {}), within, now)
            observed[subject] = seen
        by_subject: dict[Subject, list[Incident]] = defaultdict(list)
        for one in known:
            match one.incident:
                case Incident(subject=AaReporting(aa_id), ended=datetime()) if (
                    aa_id not in reporting
                ):
                    continue  # nothing is expected of it any more; its past stays
                case incident:
                    by_subject[incident.subject].append(incident)
        return [
            Watched(subject, observed.get(subject, ()), by_subject.get(subject, ()))
            for subject in {**observed, **by_subject}
        ]


class Watched(Struct, frozen=True):
    """One subject: the observations of its windows, and its stored incidents."""

    subject: Subject
    observations: Sequence[Observation]
    known: Sequence[Incident]


def observe_window(window: datetime, calls: Iterable[Calls]) -> dict[FipApi | AaCalls, Observation]:
    """Returns what one window says of each API of each FIP, and of the calls of each AA."""
    by_api: dict[tuple[str, str], list[RequestBlock]] = defaultdict(list)
    by_aa: dict[str, list[RequestBlock]] = defaultdict(list)
    for aa_id, fip_id, block in calls:
        by_api[fip_id, block.type].append(block)
        by_aa[aa_id].append(block)
    parts: dict[FipApi | AaCalls, list[RequestBlock]] = {
        **{FipApi(*key): found for key, found in by_api.items()},
        **{AaCalls(aa_id): found for aa_id, found in by_aa.items()},
    }
    return {
        subject: observation(window, verdict_of_calls(found)) for subject, found in parts.items()
    }


def find_changes(watched: Watched, within: TimeRange) -> tuple[Change, ...]:
    """Returns what is new about a subject.

    Of incidents from before `within`, those that ended stay as they are, and an open one
    continues from its last bad window.
    """
    rules = REPORTING_RULES if isinstance(watched.subject, AaReporting) else CALL_RULES
    known = [one for one in watched.known if one.ended is None or one.began >= within.start]
    earlier = [one for one in watched.known if one.began < within.start]
    continued = next((one for one in earlier if one.ended is None), None)
    detected = incidents(watched.subject, watched.observations, within.end, rules, continued)
    over = [one.ended for one in earlier if one.ended is not None]
    return changes(known, [one for one in detected if all(one.began > end for end in over)])


def reporting_of(
    aa_id: str,
    since: datetime,
    received: Mapping[datetime, datetime],
    within: TimeRange,
    now: datetime,
) -> tuple[AaReporting, list[Observation]]:
    """Returns whether an AA reported each window of this time, from when it had to."""
    expected = TimeRange(max(since, within.start), within.end).windows
    return AaReporting(aa_id), reporting_observations(expected, received, now)
