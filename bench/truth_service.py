"""bench/truth_said: the judgements of a service over `truth_world`, without a database.

Windows are judged when the service would: once all reports are there, or 15 minutes after their
end; ahead of that from the reports at hand. What it says then is kept: incidents and when they
were first reported, states of the feed, public days, changes of rates, FIPs that fell at once.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from msgspec.structs import replace

from bench.truth_world import Fault, Reported, World
from mudra.metrics.attribution.evidence.lanes import CALL_APIS
from mudra.metrics.detection.fip_counts import FipCounts
from mudra.metrics.detection.fip_test import LOOKS, fip_states
from mudra.metrics.detection.journal import (
    Journal,
    Tracked,
    counted_apis,
    evaluate,
    found_incident,
    new_journal,
)
from mudra.metrics.detection.window_reports import (
    Before,
    WindowReports,
    are_silent,
    is_complete,
    suffices,
)
from mudra.metrics.health.fip_state import FipStates
from mudra.metrics.health.level_change import LevelChange, level_changes
from mudra.metrics.health.own_calls import ALL, Field, OwnCalls, added_up, below, broken
from mudra.metrics.incidents.explanation import AtOnce, at_once
from mudra.metrics.incidents.incident import AaReporting, Incident, each_of
from mudra.metrics.incidents.subject import aa_concerned, codes_of, fip_concerned, fip_of
from mudra.metrics.payload.catalogue import CUSTOMER_CODES, WINDOW, hour_start, window_at
from mudra.metrics.public_status.public_rows import PublicFloor
from mudra.metrics.public_status.status_history import (
    Day,
    DayState,
    _days,
    is_public,
    last_day_of,
    with_incidents,
)

_ARRIVED, _SPREAD, _LATE = (timedelta(minutes=one) for one in (3.6, 4, 5))
"""After the end of a window: its last report, the end of the spread, that of the window before."""
_DAY = timedelta(days=1)


@dataclass
class Said:
    """All that was said in one network."""

    first: dict[tuple[str, str, datetime], tuple[datetime, Incident]] = field(default_factory=dict)
    """When trouble at an AA or a FIP from a window on was first reported, and as what."""
    incidents: dict[str, Incident] = field(default_factory=dict)
    miscounted: list[str] = field(default_factory=list)
    changes: dict[tuple[str, str], tuple[datetime, LevelChange]] = field(default_factory=dict)
    groups: dict[datetime, AtOnce] = field(default_factory=dict)
    days: dict[str, list[Day]] = field(default_factory=dict)


class Service:
    """A network as one service sees it, from its first window on."""

    def __init__(self, world: World, first: int, providers: dict[str, str]) -> None:
        self.world, self.providers = world, providers
        self.journal = new_journal(window_at(first))
        self.counts: deque[FipCounts] = deque(maxlen=LOOKS[-1])
        self.states: FipStates | None = None
        self.hours: dict[datetime, OwnCalls] = {}
        self.said = Said()
        self.kept: dict[int, Reported] = {}
        self.windows: dict[int, WindowReports] = {}
        self.judged = first - 1
        self.newest = first - 1

    def window(self, window: int, faults: Sequence[Fault]) -> None:
        """Let a window pass, and five minutes."""
        world, at = self.world, window_at(window)
        made = world.report(window, faults)
        sent = [aa for place, aa in enumerate(world.aa_ids) if place not in made.silent]
        self.kept[window] = made
        self.windows[window] = WindowReports(
            at,
            frozenset(world.aa_ids),
            dict.fromkeys(sent, at + WINDOW + timedelta(minutes=2)),
            frozenset(sent),
            frozenset(world.fip_ids[fip] for fip in made.planned),
        )
        self.newest = window
        for after in (_ARRIVED, _SPREAD, _LATE):
            self._look(at + WINDOW + after)
        if self.journal.window.minute == 50:
            self._each_hour()

    def _before(self, window: int) -> Before:
        past = self.windows.get(window - 1)
        return Before(
            frozenset(past.requests) if past else frozenset(),
            past.notifications if past else frozenset(),
        )

    def _look(self, now: datetime) -> None:
        fips = frozenset(self.world.fip_ids)
        while self.judged < self.newest:
            window = self.judged + 1
            reports = self.windows[window]
            if not is_complete(reports, self.journal.silent, now, self._before(window)):
                break
            calls = self.kept[window].calls
            self.journal = evaluate(self.journal, reports, calls, fips, now, _named)
            self.judged = window
            self._judged(now)
        ahead, none_is_late = self.journal, False
        for window in range(self.judged + 1, self.newest + 1):
            reports, before = self.windows[window], self._before(window)
            if not suffices(reports, self.journal.silent, now, before):
                break
            calls = self.kept[window].calls
            ahead = evaluate(ahead, reports.at_hand, calls, fips, now, _named)
            none_is_late = are_silent(reports, self.journal.silent, before)
        if ahead is not self.journal:
            for one in ahead.incidents:
                opened = one.tracked.history[0].window > self.judged
                if opened and (none_is_late or not one.tracked.cause.ambiguous_with):
                    self._tell(one, ahead, now)

    def _judged(self, now: datetime) -> None:
        journal = self.journal
        causes = journal.bad_causes
        assert journal.counts is not None
        assert journal.own is not None
        self.counts.append(journal.counts)
        self.states = fip_states(journal.window, list(self.counts), causes, self.states)
        hour = hour_start(journal.window)
        known = [self.hours[hour]] if hour in self.hours else []
        self.hours[hour] = added_up([*known, journal.own])
        for one in journal.incidents:
            self._tell(one, journal, now)
        now_open = {
            one.incident_id: self.said.incidents[one.incident_id] for one in journal.incidents
        }
        for group in at_once(now_open, self.providers):
            self.said.groups.setdefault(group.began, group)

    def _tell(self, one: Tracked, journal: Journal, now: datetime) -> None:
        incident = found_incident(self._counted(one), journal)
        if journal is self.journal or not isinstance(incident.subject, AaReporting):
            ends = aa_concerned(incident.subject) or "", fip_concerned(incident.subject) or ""
            self.said.first.setdefault((*ends, incident.began), (now, incident))
        if journal is self.journal:
            self.said.incidents[one.incident_id] = incident

    def _counted(self, one: Tracked) -> Tracked:
        """Count the calls of an incident from the reports, and compare with what it says."""
        locus = one.tracked.cause.locus
        rows = [CALL_APIS.index(api) for api in counted_apis(locus) if api in CALL_APIS]
        good = eligible = 0
        names, fips = self.journal.aas, self.journal.fips
        aa = self.world.aa_ids.index(names[locus.aa]) if locus.aa >= 0 else slice(None)
        fip = self.world.fip_ids.index(fips[locus.fip]) if locus.fip >= 0 else slice(None)
        for window in each_of(one.windows):
            made = self.kept[window]
            counted = (made.total - made.refused)[rows][:, aa][..., fip]
            eligible += int(counted.sum())
            good += int(counted.sum() - made.failed[rows][:, aa][..., fip].sum())
        if locus.kind == "agent":
            return one
        if one.is_counted and (one.succeeded, one.eligible) != (good, eligible):
            said = f"{one.succeeded}/{one.eligible}, recount {good}/{eligible}"
            self.said.miscounted.append(f"{one.incident_id} {locus}: {said}")
        return replace(one, succeeded=good, eligible=eligible)

    def _each_hour(self) -> None:
        now = self.journal.window + WINDOW
        recent = [one for one in self.hours.items() if one[0] >= now - 9 * _DAY]
        for one in level_changes(recent, self.said.incidents.values()):
            self.said.changes.setdefault((one.fip_id, one.code), (now, one))

    def last_day(self) -> dict[str, DayState]:
        """Return the state of the last 24 hours of each FIP."""
        end = self.journal.window + WINDOW
        own = added_up(own for at, own in self.hours.items() if at >= end - _DAY)
        places, is_below, is_broken = own.places(), below(own.counts), broken(own.counts)
        found = {}
        for fip in self.world.fip_ids:
            hits = [
                one for one in self.said.incidents.values()
                if fip_of(one.subject) == fip and (one.ended is None or one.ended > end - _DAY)
                and is_public(one)
            ]  # fmt: skip
            if fip not in places:
                found[fip] = DayState.NO_DATA
                continue
            at = places[fip]
            hit = {
                code for one in hits if one.failing
                for code in codes_of(one.subject) or CUSTOMER_CODES
            }  # fmt: skip
            bad = [
                place for place, code in enumerate(CUSTOMER_CODES)
                if own.counts[Field.TOTAL, place, at] >= PublicFloor().min_calls
                and is_below[place, at] and (code in hit or is_broken[place, at])
            ]  # fmt: skip
            found[fip] = last_day_of(
                (), int(own.counts[Field.TOTAL, ALL, at]),
                is_broken=bool(is_broken[ALL, at]) or bool(bad), had_incident=bool(hits),
            )  # fmt: skip
        return found

    def finish(self) -> Said:
        """Return all that was said, with the public days."""
        by_day: dict[datetime, list[OwnCalls]] = {}
        for at, one in self.hours.items():
            by_day.setdefault(at.replace(hour=0), []).append(one)
        for day, parts in sorted(by_day.items()):
            own = added_up(parts)
            total, counted, failed = (
                own.counts[name, ALL] for name in (Field.TOTAL, Field.ELIGIBLE, Field.FAILED)
            )
            judged = _days(
                day.date(), own.fips, total, counted, counted - failed, broken(own.counts)[ALL]
            )
            for fip, found in judged.of_fips.items():
                hits = [i for i in self.said.incidents.values()
                        if fip_of(i.subject) == fip and is_public(i)]  # fmt: skip
                state = with_incidents(found, hits, is_below=fip in judged.below)
                self.said.days.setdefault(fip, []).append(state)
        return self.said


_numbers = iter(range(1, 10**9))


def _named() -> str:
    return f"incident {next(_numbers)}"
