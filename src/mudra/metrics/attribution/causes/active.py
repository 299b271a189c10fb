"""Causes that are known: how they do in each window, and whether they lie elsewhere after all.

A known cause keeps its own evidence, split by AA, FIP and API. That evidence
says when it has recovered, and when a wider place was named than needed: a
"FIP" that only one AA sees fail, while others get through, is a path.
"""

from collections.abc import Iterator
from typing import Final

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from mudra.metrics.attribution.causes.cause import (
    OF_TIMES,
    CauseStatus,
    Kind,
    Locus,
    locus_lanes,
    may_be_one,
)
from mudra.metrics.attribution.causes.closing import (
    CHANGES_AFTER,
    CLOSE_AFTER,
    SMALL_FOR_GOOD,
)
from mudra.metrics.attribution.evidence.evidence import WINDOWS_PER_DAY
from mudra.metrics.attribution.evidence.lane_counts import LaneCounts
from mudra.metrics.attribution.evidence.lanes import (
    APIS,
    ARRIVALS,
    FOR_CUSTOMERS,
    LANE_SYMPTOM,
    LANES,
    LANES_OF,
    Flags,
    Floats,
    Symptom,
    same_api,
)
from mudra.metrics.attribution.likelihood import TILTS, cell_ratios
from mudra.metrics.payload.catalogue import RequestType

HEARTBEAT: Final = (RequestType.HEARTBEAT.api,)
_OF_HEARTBEATS: Final = np.array([lane.api in HEARTBEAT for lane in LANES])
GIVE_UP_AFTER: Final = WINDOWS_PER_DAY
_BAD: Final = 2.0
_GOOD: Final = -1.0
_QUIET_ENOUGH: Final = -5.0
"""Or so much evidence of recovery from windows that alone say little."""
_FADE: Final = 0.7
_EXCESS_FADE: Final = 0.9
_RESIDUE: Final = 0.15
_SMALL_EXCESS: Final = 0.03
"""What is left of a large cause is recovery, not the cause, below both of these."""
_GOES_ON: Final = 0.5
"""A window with more than this part of the excess is bad, though alone it would open nothing: at
night calls are few, and twice the usual time is within what times wander. Of a large part that
fails, evidence against it ends that: a report that lies is in the excess."""
_FEW_CALLS: Final = 20.0
_TIMES_CHANGE_AFTER: Final = 120
"""Windows (twenty hours) after which slow calls at a FIP are its usual times from then on: before
the hour in which they began comes back, which has learned them."""
_CHANCE: Final = 2.0
"""Standard deviations: the worst of a day's windows of few calls is so much beyond their rate."""
_MAY_CHANGE: Final = frozenset({Symptom.FAILURES, Symptom.CLIENT_ERRORS, Symptom.OUTCOMES})
_PART_STEP: Final = (-3.0, 6.0)
_PART_RANGE: Final = (-12.0, 30.0)
_CLEARLY_BAD: Final = 3.0
_CLEARLY_GOOD: Final = -6.0
_MOST_ALONE: Final = 2
_STILL_BAD: Final = 10.0
"""Nats of one AA or FIP that still shows a cause which the others do not show any more."""


class Active(Struct, frozen=True):
    """A known cause and its evidence."""

    number: int
    locus: Locus
    symptoms: frozenset[Symptom]
    since: int
    level: Floats
    """Recent evidence for each tilt; the best says how severe the cause is."""
    part_aa: Floats
    part_fip: Floats
    part_lane: Floats
    last_bad: int
    good: int = 0
    quiet: float = 0.0
    excess: float = 0.0
    """Share of calls that fail beyond the usual, at its worst lately."""
    worst: float = 0.0
    """The same at its worst of all windows, less what chance may add to it."""
    bad: float = 0.0
    """Events of its own lanes since it was found, and as many as were expected."""
    expected: float = 0.0
    strength: float = 0.0
    ambiguous_with: tuple[Locus, ...] = ()
    earlier: tuple[int, ...] = ()
    """Bad windows before the latest finding of it, as long as this is of the last window."""


class Counted(Struct, frozen=True):
    """Events of the symptom that people read first, as messages report them."""

    calls: float
    failures: float
    expected: float
    of_heartbeats: bool = False
    """Whether heartbeats are all there was."""


class View(Struct, frozen=True):
    """The evidence of one window about a known cause, at each tilt."""

    total: Floats
    rest: Floats
    """Without the AA and without the FIP that say most, each cell left out once."""
    by_aa: Floats
    by_fip: Floats
    by_lane: Floats
    calls: float
    failures: float
    expected: float
    counted: Counted


def new_active(number: int, locus: Locus, symptom: Symptom, since: int, window: int,
               aas: int, fips: int) -> Active:  # fmt: skip
    """A cause that was found in this window."""
    return Active(
        number, locus, frozenset({symptom}), since,
        level=np.zeros(len(TILTS), np.float32),
        part_aa=np.zeros(aas, np.float32),
        part_fip=np.zeros(fips, np.float32),
        part_lane=np.zeros(len(LANES), np.float32),
        last_bad=window,
    )  # fmt: skip


def mark(cells: Flags, one: Active) -> None:
    """Set what a cause explains."""
    lanes = locus_lanes(one.locus, one.symptoms)
    aas, fips = one.locus.cells
    for lane in np.flatnonzero(lanes):
        cells[lane, aas, fips] = True


def is_twin(first: Active, second: Active) -> bool:
    """Return whether two causes, corrected, turn out to be the same."""
    return first.locus == second.locus and may_be_one(first.symptoms, second.symptoms)


def own_lanes(locus: Locus, symptoms: frozenset[Symptom]) -> Flags:
    """The lanes that show the cause itself, without what it explains along with it."""
    return locus_lanes(locus, symptoms) & np.isin(LANE_SYMPTOM, list(symptoms))


def _named_lanes(locus: Locus, symptoms: frozenset[Symptom]) -> Flags:
    """The lanes of the symptom that is named first; at all APIs those of requests for customers.

    A FIP that fails may still send its notifications: they say nothing of the calls to it. And a
    refused notification is no refused request.
    """
    first = min(symptoms)
    lanes = own_lanes(locus, frozenset({first}))
    of_requests = first in {Symptom.FAILURES, Symptom.CLIENT_ERRORS} and not locus.apis
    return lanes & FOR_CUSTOMERS if of_requests else lanes


def look(active: Active, inside: LaneCounts, usual: Floats, limit: Floats) -> View:
    """Read this window's evidence; all that is given lies within the place of the cause."""
    locus = active.locus
    aas, fips = locus.cells
    lanes, named = own_lanes(locus, active.symptoms), _named_lanes(locus, active.symptoms)
    by_aa = np.zeros((len(TILTS), len(active.part_aa)), np.float32)
    by_fip = np.zeros((len(TILTS), len(active.part_fip)), np.float32)
    by_lane = np.zeros((len(TILTS), len(LANES)), np.float32)
    rest = np.zeros(len(TILTS), np.float32)
    for tilt in range(len(TILTS)):
        cell = np.concatenate([*_of_lanes(lanes, inside, limit, tilt)])
        np.maximum(cell, _PART_STEP[0], out=cell)
        path = cell.sum(0).clip(_CLEARLY_GOOD)
        by_aa[tilt, aas], by_fip[tilt, fips] = path.sum(1), path.sum(0)
        others = np.delete(path, path.sum(1).argmax(), 0)
        rest[tilt] = np.delete(others, path.sum(0).argmax(), 1).sum()
        by_lane[tilt, lanes] = cell.sum((1, 2))
    bad, events = inside.bad.copy(), inside.events
    due = events[ARRIVALS] * usual[ARRIVALS]
    bad[ARRIVALS] = np.maximum(due - bad[ARRIVALS], 0.0)
    expected = events * usual
    expected[ARRIVALS] = 0.0
    if not events[named].any():  # no customer called: heartbeats show it, or what the FIP sends
        named = own_lanes(locus, frozenset({min(active.symptoms)}))
    of_heartbeats = bool(events[named].any()) and not events[named & ~_OF_HEARTBEATS].any()
    return View(
        by_aa.sum(1), rest, by_aa, by_fip, by_lane,
        float(events[lanes].sum()), float(bad[lanes].sum()), float(expected[lanes].sum()),
        Counted(
            float(events[named].sum()),
            float(bad[named].sum()),
            float(expected[named].sum()),
            of_heartbeats,
        ),
    )  # fmt: skip


def _of_lanes(lanes: Flags, inside: LaneCounts, limit: Floats, tilt: int) -> Iterator[Floats]:
    """Give the ratios of these lanes, one symptom after the other."""
    for symptom, own in zip(Symptom, LANES_OF, strict=True):
        which = lanes[own]
        if which.any():
            counts = LaneCounts(inside.bad[own][which], inside.events[own][which])
            yield cell_ratios(symptom, counts, limit[own][which], tilt)


def follow(active: Active, view: View, window: int) -> tuple[Active, CauseStatus]:
    """The cause after this window, in its corrected place, and how it does."""
    total = _without_loudest(active, view)
    worst = float(total.max())
    excess = max(view.failures - view.expected, 0.0) / max(view.calls, 1.0)
    sure = max(view.failures - view.expected - _CHANCE * view.failures**0.5, 0.0)
    lately = max(excess, active.excess * _EXCESS_FADE)
    active = replace(
        active,
        worst=max(active.worst, sure / max(view.calls, 1.0)),
        bad=active.bad + view.failures,
        expected=active.expected + view.expected,
    )
    if worst > _BAD and excess > min(_RESIDUE * active.excess, _SMALL_EXCESS):
        tilt = int(np.argmax(active.level + np.minimum(view.total, 200.0)))
        active = replace(
            active,
            level=(active.level * _FADE + view.total.clip(-20.0, 200.0)).astype(np.float32),
            part_aa=_add_part(active.part_aa, view.by_aa[tilt]),
            part_fip=_add_part(active.part_fip, view.by_fip[tilt]),
            part_lane=_add_part(active.part_lane, view.by_lane[tilt]),
            last_bad=window,
            good=0,
            quiet=0.0,
            excess=lately,
            strength=active.strength + worst,
        )
        return _settled(_corrected(active)), _bad_or_changed(active, window)
    is_small = active.worst <= SMALL_FOR_GOOD or active.symptoms <= OF_TIMES
    goes_on = (is_small or worst > _GOOD) and excess > _GOES_ON * active.excess > 0
    if goes_on and view.calls >= _FEW_CALLS:
        active = replace(active, last_bad=window, good=0, quiet=0.0, excess=lately)
        return active, _bad_or_changed(active, window)  # which says nothing new of its place
    now = float(total[int(np.argmax(active.level))])
    if goes_on:  # few calls of which as many are bad as before do not speak for recovery
        now = max(now, 0.0)
    good = now < _GOOD
    active = replace(active, good=active.good + good, quiet=min(active.quiet + now, 0.0))
    waited = window - active.last_bad >= CLOSE_AFTER
    if active.good >= CLOSE_AFTER or (waited and active.quiet < _QUIET_ENOUGH):
        left = _what_is_left(active.locus, view)
        if left is None:
            return active, CauseStatus.RECOVERED
        return _narrowed(active, left, window), CauseStatus.BAD
    if window - active.last_bad > GIVE_UP_AFTER:
        return active, CauseStatus.NO_DATA
    return active, CauseStatus.GOOD if good else CauseStatus.UNKNOWN


def _bad_or_changed(active: Active, window: int) -> CauseStatus:
    """Return whether a bad window of a cause is the last one that says anything new."""
    is_at_fip = active.locus.kind in {Kind.FIP, Kind.FIP_API}
    of_times = active.symptoms <= OF_TIMES
    is_small = active.worst <= SMALL_FOR_GOOD and active.symptoms <= _MAY_CHANGE
    lasts = window - active.since >= (_TIMES_CHANGE_AFTER if of_times else CHANGES_AFTER)
    may_be = is_at_fip and (is_small or of_times)
    return CauseStatus.CHANGED if may_be and lasts else CauseStatus.BAD


def bad_apis(active: Active) -> tuple[str, ...]:
    """APIs that show the cause."""
    shown = {LANES[lane].api for lane in np.flatnonzero(active.part_lane > _CLEARLY_BAD)}
    return tuple(api for api in APIS if api in shown)


def _without_loudest(active: Active, view: View) -> Floats:
    """The evidence without the AA that says most, where three or more saw the cause.

    Of an AA, without the FIP that says most; of the network, without both.
    """
    total, kind = view.total, active.locus.kind
    many_aas = bool((active.part_aa > _CLEARLY_BAD).sum() > _MOST_ALONE)
    many_fips = bool((active.part_fip > _CLEARLY_BAD).sum() > _MOST_ALONE)
    if kind is Kind.NETWORK and many_aas and many_fips:
        return np.minimum(view.rest, total)
    if kind in {Kind.FIP, Kind.FIP_API, Kind.NETWORK} and many_aas:
        total = total - np.maximum(view.by_aa.max(1), 0.0)
    if kind in {Kind.AA, Kind.AA_API, Kind.NETWORK} and many_fips:
        total = total - np.maximum(view.by_fip.max(1), 0.0)
    return np.asarray(total, np.float32)


def _what_is_left(locus: Locus, view: View) -> Locus | None:
    """The one place that still shows a cause which the rest does not show any more."""
    aas, fips = view.by_aa.max(0), view.by_fip.max(0)
    aa, fip = int(np.argmax(aas)), int(np.argmax(fips))
    match locus.kind:
        case Kind.FIP | Kind.FIP_API if aas[aa] > _STILL_BAD:
            return Locus(Kind.PATH, aa, locus.fip)
        case Kind.AA | Kind.AA_API if fips[fip] > _STILL_BAD:
            return Locus(Kind.PATH, locus.aa, fip)
        case _:  # of the network as well: what stays bad of it has a cause of its own
            return None


def _narrowed(active: Active, left: Locus, window: int) -> Active:
    """The cause in what is left of its place, with no evidence of the rest."""
    return replace(
        active,
        locus=left,
        part_aa=np.zeros_like(active.part_aa),
        part_fip=np.zeros_like(active.part_fip),
        part_lane=np.zeros_like(active.part_lane),
        last_bad=window,
        good=0,
        quiet=0.0,
        ambiguous_with=(),
    )


def _add_part(part: Floats, step: Floats) -> Floats:
    part = part + step.clip(*_PART_STEP)
    return part.clip(*_PART_RANGE).astype(np.float32)


def _corrected(active: Active) -> Active:
    """Name a narrower place where the evidence of the rest speaks against the wide one."""
    locus = active.locus
    if locus.kind in {Kind.FIP, Kind.FIP_API}:
        only = _only_one(active.part_aa)
        if only is not None:
            return replace(active, locus=Locus(Kind.PATH, only, locus.fip), ambiguous_with=())
    if locus.kind in {Kind.AA, Kind.AA_API}:
        only = _only_one(active.part_fip)
        if only is not None:
            return replace(active, locus=Locus(Kind.PATH, locus.aa, only), ambiguous_with=())
    if locus.kind in {Kind.FIP, Kind.AA}:
        apis = bad_apis(active)
        rest = active.part_lane[active.part_lane < 0].sum()
        least = _CLEARLY_GOOD if apis == HEARTBEAT else 2 * _CLEARLY_GOOD
        if apis and all(same_api(apis[0], api) for api in apis) and rest < least:
            kind = Kind.FIP_API if locus.kind is Kind.FIP else Kind.AA_API
            place = Locus(kind, locus.aa, locus.fip, tuple(sorted(apis)))
            return replace(active, locus=place, ambiguous_with=())
    return active


def _settled(active: Active) -> Active:
    """Drop the places that the evidence of several AAs, FIPs or APIs has ruled out."""
    if not active.ambiguous_with:
        return active
    ruled_out: set[Kind] = set()
    if (active.part_aa > _CLEARLY_BAD).sum() > 1:
        ruled_out |= {Kind.PATH, Kind.AA, Kind.AA_API}
    if (active.part_fip > _CLEARLY_BAD).sum() > 1:
        ruled_out |= {Kind.PATH, Kind.FIP, Kind.FIP_API}
    if len(bad_apis(active)) > 1:
        ruled_out |= {Kind.FIP_API, Kind.AA_API}
    left = tuple(place for place in active.ambiguous_with if place.kind not in ruled_out)
    return replace(active, ambiguous_with=left)


def _only_one(parts: Floats) -> int | None:
    bad = np.flatnonzero(parts > 0)
    if len(bad) == 1 and parts[bad[0]] > _CLEARLY_BAD and parts[parts < 0].sum() <= _CLEARLY_GOOD:
        return int(bad[0])
    return None
