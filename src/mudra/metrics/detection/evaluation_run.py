"""Judges a run of windows, and says what changed against the stored incidents.

Loaded in the jobs process only.
"""

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from msgspec.structs import replace

from mudra.metrics.attribution.causes.cause import Cause
from mudra.metrics.attribution.state import new_state, state_to_bytes
from mudra.metrics.detection.fip_counts import counts_from_bytes, counts_to_bytes
from mudra.metrics.detection.fip_test import LOOKS, fip_states
from mudra.metrics.detection.heard import CallsOfIncident
from mudra.metrics.detection.journal import (
    Journal,
    Tracked,
    calls_of_incident,
    evaluate,
    found_incident,
    journal_from_bytes,
    journal_to_bytes,
    new_journal,
    renamed,
    skipped,
)
from mudra.metrics.detection.window_calls import WindowCalls
from mudra.metrics.detection.window_reports import WindowReports
from mudra.metrics.health.fip_state import states_from_bytes, states_to_bytes
from mudra.metrics.health.level_change import changes_to_bytes, level_changes
from mudra.metrics.health.own_calls import OwnCalls, added_up, own_from_bytes, own_to_bytes
from mudra.metrics.incidents.incident import (
    AaReporting,
    Ending,
    Incident,
    StoredIncident,
    TimelineChange,
    TimelineEntry,
)
from mudra.metrics.incidents.incident_change import (
    Change,
    Closed,
    FoundIncident,
    Opened,
    Updated,
    change_of,
    same_incidents,
    with_corrections,
    withdrawn,
)
from mudra.metrics.incidents.subject import name_of
from mudra.metrics.payload.catalogue import WINDOW, hour_start, window_at

_LAST_OF_HOUR: Final = 50
_KEPT_HOURLY: Final = timedelta(days=1)
_HOURS_APART: Final = 6
"""So far apart are the journals that are kept from before: a nation's is 5 MB (0044)."""


class _Recent(NamedTuple):
    window: datetime
    counts: bytes
    """Packed at once, as all that is kept until the end of a run."""
    causes: tuple[Cause, ...]


class _Kept(NamedTuple):
    """A journal of a full hour. Its state is packed at once: a week of them would fill memory."""

    journal: Journal
    state: bytes


class EvaluationRun:
    """Windows evaluated one after the other; memory holds what follows from them until its end."""

    def __init__(
        self,
        packed: bytes | None,
        first: datetime,
        changed: frozenset[datetime],
        new_id: Callable[[], str],
        now: datetime,
    ) -> None:
        journal = None if packed is None else journal_from_bytes(packed)
        self.afresh = journal is None
        """Without a journal before: every incident is found again."""
        # Whole hours, so that a late report of the first one starts at its beginning again.
        self.journal = journal or new_journal(first.replace(minute=0))
        self.base = self.next_window - WINDOW
        """The window before the first."""
        self.changed = changed
        """Windows whose reports changed since they were evaluated, if they were."""
        self.evaluated = 0
        self._new_id = new_id
        self._hourly_since = now - _KEPT_HOURLY
        self._kept: dict[datetime, _Kept] = {}
        self._found: dict[str, Tracked] = {}
        self._recent: deque[_Recent] = deque(maxlen=LOOKS[-1])
        self._own: dict[datetime, OwnCalls] = {}

    @property
    def next_window(self) -> datetime:
        """The window that follows."""
        last = self.journal.state.window
        return window_at(self.journal.first if last < 0 else last + 1)

    @property
    def states_from(self) -> datetime:
        """The first window of which the states of FIPs are made."""
        return self._recent[0].window if self._recent else self.journal.window

    def evaluate(
        self,
        reports: WindowReports,
        calls: WindowCalls,
        fips: frozenset[str],
        detected: datetime,
    ) -> None:
        """Evaluate the next window; incidents that it opens were detected at this time."""
        self.journal = evaluate(self.journal, reports, calls, fips, detected, self._new_id)
        self.evaluated += 1
        self._found.update((one.incident_id, one) for one in self.journal.incidents)
        if self.journal.counts is not None:
            causes = self.journal.bad_causes
            self._recent.append(
                _Recent(reports.window, counts_to_bytes(self.journal.counts), causes)
            )
        if self.journal.own is not None:
            hour = hour_start(reports.window)
            before = [self._own[hour]] if hour in self._own else []
            self._own[hour] = added_up([*before, self.journal.own])
        if self._is_kept(reports.window):
            self._kept[reports.window] = _kept(self.journal)

    def _is_kept(self, window: datetime) -> bool:
        """Returns whether its journal is kept: of each hour of the last day, of some before.

        And the first where there is none before: a late report of the hours after it begins there.
        """
        if window.minute != _LAST_OF_HOUR:
            return False
        is_first = self.afresh and not self._kept
        apart = (window.hour + 1) % _HOURS_APART == 0
        return window >= self._hourly_since or apart or is_first

    def ahead(self) -> "EvaluationRun":
        """Returns a run that goes on from here, of which nothing but openings is kept."""
        return EvaluationRun.after(self.journal, self._new_id)

    @classmethod
    def after(cls, journal: Journal, new_id: Callable[[], str]) -> "EvaluationRun":
        """Returns a run that goes on from a journal."""
        run = cls(None, journal.window, frozenset(), new_id, journal.window)
        run.journal, run.afresh, run.base = journal, False, journal.window
        return run

    def opened(
        self, known: Sequence[StoredIncident], *, also_in_doubt: bool
    ) -> Mapping[str, Change]:
        """Returns the incidents that opened in these windows, but for silent agents."""
        return {
            name: change
            for name, change in self.changes(known).items()
            if isinstance(change, Opened | Updated)
            and change.incident.timeline[0].window > self.base
            and (also_in_doubt or not change.incident.cause.ambiguous_with)
            and not isinstance(change.incident.subject, AaReporting)
        }

    def skip(self, until: datetime, expected: frozenset[str]) -> None:
        """Goes on with a later window; AAs that were expected were silent meanwhile."""
        self.journal = skipped(self.journal, until, expected)

    def changes(self, known: Sequence[StoredIncident]) -> Mapping[str, Change]:
        """Returns what changed, by ID; what was known before keeps its ID and detection."""
        before = {one.incident_id: one.incident for one in known}
        self._take_names(known)
        found = [
            FoundIncident(one.incident_id, found_incident(one, self.journal))
            for one in self._found.values()
        ]
        changes: dict[str, Change] = {}
        for one in _distinct(found, known):
            was, incident = before.get(one.incident_id), one.incident
            if was is not None:
                incident = with_corrections(was, incident, self.journal.window)
            if change := change_of(was, incident):
                changes[one.incident_id] = change
        for old in known:
            if old.incident_id not in self._found and (gone := self._gone(old.incident)):
                changes[old.incident_id] = gone
        return changes

    def to_count(self) -> Sequence[CallsOfIncident]:
        """Returns the incidents whose calls are to be read again: earlier windows are theirs."""
        return [
            calls_of_incident(one, self.journal)
            for one in self._found.values()
            if not one.is_counted
        ]

    def take_counts(self, counts: Mapping[str, tuple[int, int]]) -> None:
        """Takes the calls that succeeded, and all but 4xx, of these incidents."""

        def counted(one: Tracked) -> Tracked:
            if one.incident_id not in counts:
                return one
            succeeded, eligible = counts[one.incident_id]
            return replace(one, succeeded=succeeded, eligible=eligible, is_counted=True)

        self._found = {name: counted(one) for name, one in self._found.items()}
        incidents = tuple(map(counted, self.journal.incidents))
        self.journal = replace(self.journal, incidents=incidents)

    @property
    def kept(self) -> Sequence[datetime]:
        """The windows of the journals to keep: of hours, and the last."""
        return [*dict.fromkeys([*self._kept, self.journal.window])]

    def packed(self, window: datetime) -> bytes:
        """Returns the journal after one of the windows to keep."""
        is_last = window == self.journal.window
        return journal_to_bytes(*(_kept(self.journal) if is_last else self._kept[window]))

    def own_hours(self, begun: bytes | None) -> dict[datetime, bytes]:
        """Returns the calls that are the FIPs' own, by hour.

        `begun` is what is stored of the hour of the window before the first, if that hour goes on.
        """
        hours = dict(self._own)
        started = hour_start(self.base)
        if begun is not None and started in hours:
            hours[started] = added_up([own_from_bytes(begun), hours[started]])
        return {hour: own_to_bytes(own) for hour, own in hours.items()}

    def changed_rates(
        self, hours: Mapping[datetime, bytes], incidents: Sequence[Incident]
    ) -> bytes:
        """Returns the rates that have changed for good, by the stored hours of some days."""
        own = ((at, own_from_bytes(one)) for at, one in hours.items())
        known = [found_incident(one, self.journal) for one in self._found.values()]
        return changes_to_bytes(level_changes(own, [*incidents, *known]))

    def fip_rows(
        self, before: Sequence[tuple[datetime, bytes]], last: bytes | None
    ) -> Sequence[tuple[datetime, bytes, bytes]]:
        """Returns the counts and states to keep, by window.

        `before` has the stored counts of the six hours before these windows, `last` the states
        after the last of them.
        """
        counts = deque((counts_from_bytes(one) for _, one in before), LOOKS[-1])
        states = None if last is None else states_from_bytes(last)
        rows = []
        for one in self._recent:
            counts.append(counts_from_bytes(one.counts))
            states = fip_states(one.window, [*counts], one.causes, states)
            rows.append((one.window, one.counts, states_to_bytes(states)))
        return rows

    def _take_names(self, known: Sequence[StoredIncident]) -> None:
        found = [
            FoundIncident(one.incident_id, found_incident(one, self.journal))
            for one in self._found.values()
        ]
        detected = {one.incident_id: one.incident.detected for one in known}
        names = {fresh: (old, detected[old]) for fresh, old in same_incidents(known, found).items()}
        self._kept = {
            window: _Kept(renamed(one.journal, names), one.state)
            for window, one in self._kept.items()
        }
        self.journal = renamed(self.journal, names)
        for fresh, (old, at) in names.items():
            self._found[old] = replace(self._found.pop(fresh), incident_id=old, detected=at)

    def _gone(self, known: Incident) -> Change | None:
        """Return what becomes of an incident that neither these windows nor the journal show.

        One of windows that follow waits for them.
        """
        opened = known.timeline[0].window
        if known.ending is Ending.WITHDRAWN or opened > self.journal.window:
            return None
        if opened > self.base:
            return withdrawn(known, self.journal.window)
        if self.afresh and known.ended is None:
            entry = TimelineEntry(self.base, TimelineChange.NO_DATA, known.subject)
            ended = replace(
                known,
                ended=self.base + WINDOW,
                ending=Ending.NO_DATA,
                timeline=(*known.timeline, entry),
            )
            return Closed(known, ended)
        return None


def _kept(journal: Journal) -> _Kept:
    small = replace(journal, state=new_state(0, 1), counts=None, own=None)
    return _Kept(small, state_to_bytes(journal.state))


def _distinct(
    found: Sequence[FoundIncident], known: Sequence[StoredIncident]
) -> Sequence[FoundIncident]:
    """Lets no two incidents have one cause and one beginning, which the database refuses.

    The evidence of the later one then begins a window later.
    """
    names = {one.incident_id for one in found}
    taken = {
        _key(one.incident)
        for one in known
        if one.incident_id not in names and one.incident.ending is not Ending.WITHDRAWN
    }
    distinct = []
    for one in found:
        incident = one.incident
        while _key(incident) in taken:
            incident = replace(incident, began=incident.began + WINDOW)
        taken.add(_key(incident))
        distinct.append(FoundIncident(one.incident_id, incident))
    return distinct


def _key(incident: Incident) -> tuple[object, ...]:
    return name_of(incident.subject), incident.refused, incident.began
