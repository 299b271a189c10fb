"""The numbers of a report, from its evidence. Pure: the service and who verifies use this alone.

But percentiles: each brings its own, so that a check of a report checks those of the service too.
"""

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from fractions import Fraction
from typing import Final, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from mudra.levels.evidence import Calls, Evidence, Fate, Span
from mudra.levels.target import ALL_APIS, Measure, Target, target_of
from mudra.metrics.payload.catalogue import (
    CALL_CODES,
    CUSTOMER_CODES,
    FIRST_4XX,
    FIRST_5XX,
    WINDOW,
    NotificationType,
    Position,
    RequestType,
    StatusPosition,
)
from mudra.shared.entity_type import EntityType

_HIGHEST: Final = (Fate.LEFT_OUT, Fate.MAINTENANCE, Fate.ELSEWHERE, Fate.UNSURE, Fate.EXCUSED)
"""Of several fates of a window, the first of these holds; the member's own is the last."""
_FINEST: Final = 10_000
"""Percents are rounded down to four decimals: 99.99999 % never becomes 100 %."""
_PERCENTS: Final = {Measure.P95: 95, Measure.P99: 99}
_READY: Final = RequestType.FI_READY_TIME.value
_FINOT: Final = NotificationType.FI.value
Asked: TypeAlias = tuple[Mapping[int, int], int, int]
"""Calls by cell of time, a percent, and the longest time, in milliseconds."""
PercentilesOf: TypeAlias = Callable[[Sequence[Asked]], Sequence[int | None]]
"""Returns the percentile of each, in milliseconds; None without calls."""


class Budget(Struct, frozen=True, rename="camel"):
    """The failures that a target allows, and those that happened."""

    allowed: int
    spent: int
    spent_percent: float | None
    """None where nothing is allowed and nothing was spent."""


class Figure(Struct, frozen=True, rename="camel"):
    """One measure of one API, or of all calls for customers together (empty `api`)."""

    measure: Measure
    api: str
    value: float | None
    """Percent with four decimals, or milliseconds; None where nothing can be said."""
    part: int
    """Calls that are good; of missing reports those that are missing; of times the samples."""
    whole: int
    """Calls, ended FI requests or reports that count."""
    reporters: int
    """AAs whose calls these are; of an AA, FIPs."""
    left_out: int
    """Calls that do not count: maintenance, a cause elsewhere, a decision."""
    uncertain: int
    """Of these, failed calls whose cause may be the member or another."""
    down_windows: int
    """Of availability: windows of ten minutes in the member's own outages."""
    windows: int
    """Of availability: windows that any AA reported, without maintenance."""
    target: float | None
    met: bool | None
    """None without a target or a value."""
    budget: Budget | None
    """Of shares with a target."""


class _Tally:
    """The calls of some APIs that count."""

    def __init__(self) -> None:
        self.eligible = self.good = self.lost = self.left_out = self.uncertain = 0
        self.ended = self.with_data = self.longest = 0
        self.times: dict[int, int] = {}
        self.peers: set[str] = set()
        self.reporters = 0
        """Where the peers are not named."""

    def add(self, calls: Calls, sign: int = 1) -> None:
        """Adds calls, or takes them away."""
        self.eligible += sign * _eligible(calls)
        self.good += sign * calls.counts[Position.OK_200]
        if calls.statuses:
            data, without = (
                calls.statuses[StatusPosition.SUCCEEDED],
                calls.statuses[StatusPosition.FAILED],
            )
            self.ended += sign * (data + without)
            self.with_data += sign * data
        self._add_times(calls, sign)

    def _add_times(self, calls: Calls, sign: int) -> None:
        times, known = self.times, self.times.get
        for place, number in calls.times:  # of a national FIP 20,000 a month: no method a number
            times[place] = known(place, 0) + sign * number
        self.longest = max(self.longest, calls.longest)

    def leave_out(self, calls: Calls, fate: Fate) -> None:
        """Takes calls of a window away, as their fate asks."""
        if fate is Fate.EXCUSED:
            failed = _failed(calls)
            self.eligible -= failed
            self.left_out += failed
            self._add_times(calls, -1)
            return
        self.add(calls, -1)
        self.left_out += calls.counts[Position.TOTAL]
        if fate is Fate.UNSURE:
            self.uncertain += _failed(calls)

    def merge(self, other: "_Tally") -> None:
        """Adds the calls of another API."""
        self.eligible += other.eligible
        self.good += other.good
        self.lost += other.lost
        self.left_out += other.left_out
        self.uncertain += other.uncertain
        self.peers |= other.peers
        self.reporters = max(self.reporters, other.reporters)


def figures(
    evidence: Evidence,
    role: EntityType | None,
    targets: Sequence[Target],
    percentiles_of: PercentilesOf,
) -> tuple[Figure, ...]:
    """Returns all numbers of a member of this role, in their order; of the network for None."""
    by_api = _tallies(evidence)
    if role is None:  # without AAs by name
        for tally in by_api.values():
            tally.reporters = evidence.reports.reporters_seen
    found: list[Figure] = []
    together = _Tally()
    for api in CUSTOMER_CODES:
        together.merge(by_api.get(api, _Tally()))
    times = _times(by_api, percentiles_of)
    for api, tally in ((ALL_APIS, together), *_in_order(by_api)):
        if role is not None:
            good = tally.eligible - tally.lost, tally.eligible
            found.append(_share(Measure.AVAILABILITY, api, tally, good, _down(evidence, api)))
        found.append(_share(Measure.SUCCESS, api, tally, (tally.good, tally.eligible)))
        if api != ALL_APIS:
            found += itertools.islice(times, len(_PERCENTS))
    found += times
    ended = by_api.get(_FINOT, _Tally())
    found.append(_share(Measure.DATA, ALL_APIS, ended, (ended.with_data, ended.ended)))
    if role is not EntityType.FIP:
        missed = evidence.reports
        missing = missed.expected - missed.received, missed.expected
        found.append(_share(Measure.MISSING, ALL_APIS, _Tally(), missing))
    return tuple(_judged(one, role, targets) for one in found)


def fate_of(spans: Iterable[Span], at: datetime, peer_id: str, api: str) -> Fate | None:
    """Returns the fate of the calls of a window; None where they count like any others."""
    fates = {one.fate for one in spans if one.covers(at, peer_id, api)}
    for one in (*_HIGHEST, Fate.OWN):
        if one in fates:
            return one
    return None


def _tallies(evidence: Evidence) -> dict[str, _Tally]:
    found: dict[str, _Tally] = {}
    for calls in evidence.whole:
        tally = found.setdefault(calls.api, _Tally())
        tally.add(calls)
        if calls.counts[Position.TOTAL]:
            tally.peers.add(calls.peer_id)
    for calls in evidence.apart:
        tally = found.setdefault(calls.api, _Tally())
        fate = fate_of(evidence.spans, calls.at, calls.peer_id, calls.api)
        if fate is Fate.OWN:
            tally.lost += _failed(calls)
        elif fate is not None:
            tally.leave_out(calls, fate)
    return found


def _in_order(by_api: dict[str, _Tally]) -> Iterator[tuple[str, _Tally]]:
    for api in CALL_CODES:
        if api in by_api:
            yield api, by_api[api]


def _down(evidence: Evidence, api: str) -> tuple[int, int]:
    """Returns the windows in the member's own outages, and all that are not maintenance.

    Of windows that any AA reported. An outage of any API counts for all APIs together.
    """
    silent = {*evidence.silent}
    of_all = [one for one in evidence.spans if not one.peers]
    begins = {at for one in of_all for at in _windows(one)} - silent
    down = maintained = 0
    for at in begins:
        fates = {_fate_at(of_all, at, one) for one in ((api,) if api else CUSTOMER_CODES)}
        maintained += fates == {Fate.MAINTENANCE}
        down += Fate.OWN in fates
    return down, evidence.reported_windows - maintained


def _fate_at(spans: Iterable[Span], at: datetime, api: str) -> Fate | None:
    return fate_of(spans, at, "", api)


def _windows(span: Span) -> Iterator[datetime]:
    at = span.start
    while at < span.end:
        yield at
        at += WINDOW


def _share(
    measure: Measure,
    api: str,
    tally: _Tally,
    of: tuple[int, int],
    time: tuple[int, int] = (0, 0),
) -> Figure:
    part, whole = of
    value = 100 * part * _FINEST // whole / _FINEST if whole > 0 else None
    return _figure(measure, api, tally, value, of, time)


def _times(by_api: dict[str, _Tally], percentiles_of: PercentilesOf) -> Iterator[Figure]:
    """Yields the times of each API, and last how long data takes to be ready."""
    found = [
        *((*one, *each) for one in _in_order(by_api) for each in _PERCENTS.items()),
        (ALL_APIS, by_api.get(_READY, _Tally()), Measure.READY, 95),
    ]
    times = [
        {place: calls for place, calls in tally.times.items() if calls > 0}
        for _, tally, _, _ in found
    ]
    asked = [
        (of_one, percent, tally.longest)
        for of_one, (_, tally, _, percent) in zip(times, found, strict=True)
    ]
    values = percentiles_of(asked)
    for value, of_one, (api, tally, measure, _) in zip(values, times, found, strict=True):
        samples = sum(of_one.values())
        yield _figure(measure, api, tally, value, (samples, samples))


def _figure(
    measure: Measure,
    api: str,
    tally: _Tally,
    value: float | None,
    of: tuple[int, int],
    time: tuple[int, int] = (0, 0),
) -> Figure:
    return Figure(
        measure,
        api,
        value,
        *of,
        tally.reporters or len(tally.peers),
        tally.left_out,
        tally.uncertain,
        *time,
        target=None,
        met=None,
        budget=None,
    )


def _judged(figure: Figure, role: EntityType | None, targets: Sequence[Target]) -> Figure:
    """Returns the figure with its target, and the budget that this leaves."""
    measure = figure.measure
    target = None if role is None else target_of(targets, role, measure, figure.api)
    if target is None:
        return figure
    wanted = Fraction(str(target.value))
    met = None if figure.value is None else _met(figure, wanted)
    budget = None if measure.in_ms else _budget(figure, wanted)
    return replace(figure, target=target.value, met=met, budget=budget)


def _met(figure: Figure, wanted: Fraction) -> bool:
    """Returns whether the target is met, by whole numbers: 19 of 20 is exactly 95 %."""
    if figure.measure.in_ms:
        return Fraction(figure.value or 0) <= wanted
    share = Fraction(100 * figure.part, figure.whole)
    return share <= wanted if figure.measure.at_most else share >= wanted


def _budget(figure: Figure, wanted: Fraction) -> Budget | None:
    if figure.whole <= 0:
        return None
    at_most = figure.measure.at_most
    allowed = int(figure.whole * (wanted if at_most else 100 - wanted) / 100)
    spent = figure.part if at_most else figure.whole - figure.part
    percent = 100 * spent * 100 // allowed / 100 if allowed else None
    return Budget(allowed, spent, percent)


def _eligible(calls: Calls) -> int:
    return calls.counts[Position.TOTAL] - sum(calls.counts[FIRST_4XX:FIRST_5XX])


def _failed(calls: Calls) -> int:
    """Returns the calls answered with 5xx, or not at all."""
    no_answer = calls.counts[Position.TOTAL] - sum(calls.counts[1:])
    return no_answer + sum(calls.counts[FIRST_5XX:])
