"""Tests the network's rule for each API of each FIP: success above 95 %, p50 below 5,000 ms.

The evidence is that of the latest windows, as few of them as decide. Causes at the FIP need no
other test: those of failures are BAD, those that the rule allows, or by which few calls fail,
DEGRADED while it is kept. Loaded in the jobs process only.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from functools import cache
from math import erfc, sqrt
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mudra.metrics.attribution.causes.cause import Cause, Kind
from mudra.metrics.attribution.evidence.lanes import Flags, Floats, Symptom
from mudra.metrics.detection.fip_counts import (
    ALL,
    APIS,
    CALLED,
    FIELDS,
    MAINTAINED,
    REPORTERS,
    WITHOUT_BEST,
    WITHOUT_WORST,
    FipCounts,
    aligned,
    covered,
)
from mudra.metrics.health.fip_state import CERTAIN, REASONS, ApiState, FipStates, Reason
from mudra.metrics.health.health import Status
from mudra.metrics.health.own_calls import BAD_Z, FAILING, root

LOOKS: Final = (1, 2, 3, 6, 12, 36)
"""Numbers of windows that are looked at, in this order; six hours at most."""
_HOUR: Final = 6
"""Without calls in an hour nothing is known."""
GOOD_Z: Final = 1.645
"""One in twenty APIs that just break the rule would look as good."""
_DOUBT_Z: Final = 3.0
_HALF: Final = 0.5
_STATUSES: Final = (Status.UNSURE, Status.GOOD, Status.BAD, Status.DEGRADED)
_UNSURE, _GOOD, _BAD, _DEGRADED = range(len(_STATUSES))
_REASONS: Final = dict(zip(Symptom, REASONS.values(), strict=True))
_BITS: Final = {reason: 1 << place for place, reason in enumerate(Reason)}
_BREAKS_THE_RULE: Final = frozenset({Symptom.FAILURES, Symptom.OUTCOMES, Symptom.MISSING})
"""Symptoms of calls without success; the rule allows the others."""
_OF_CALLS: Final = frozenset({Symptom.FAILURES, Symptom.CLIENT_ERRORS, Symptom.SLOW, Symptom.TAIL})


class _Tested(NamedTuple):
    status: NDArray[np.int8]
    z: Floats
    look: NDArray[np.intp]
    reasons: NDArray[np.int64]
    """Bits of `Reason`."""


def fip_states(
    window: datetime,
    recent: Sequence[FipCounts],
    at_fips: Iterable[Cause],
    before: FipStates | None,
) -> FipStates:
    """Returns the states after a window.

    `recent` has the counts of up to six hours, those of the window last; `at_fips` are the
    causes at FIPs that nothing since has spoken against.
    """
    fips = recent[-1].fips
    counts, totals, reporters = _looks(recent[-LOOKS[-1] :], fips)
    tested = _with_causes(_tested(counts, totals), at_fips, counts[0])
    maintained = recent[-1].sums[MAINTAINED].any(0)
    tested.status[:, maintained], tested.z[:, maintained] = _UNSURE, -np.inf
    tested.reasons[:, maintained] = _BITS[Reason.MAINTENANCE]
    found = {}
    for place, fip_id in enumerate(fips):
        if fip_id and (reporters[-1, :, place].any() or tested.reasons[:, place].any()):
            found[fip_id] = tuple(
                _state(tested, totals, reporters, api, place, _earlier(before, fip_id, api), window)
                for api in range(len(APIS))
            )
    return FipStates(window, found)


def _looks(recent: Sequence[FipCounts], fips: tuple[str, ...]) -> tuple[Floats, Floats, Floats]:
    """Returns the counts of all AAs of each window, the latest first; sums and reporters of looks.

    Of windows before a maintenance they are zero: much has changed. One window after the other:
    those of six hours are 28 MB for 2,000 FIPs.
    """
    whole, most = (
        np.zeros(shape, np.float32)
        for shape in ((FIELDS, len(APIS), len(fips)), (len(APIS), len(fips)))
    )
    changed = np.zeros(whole.shape[1:], np.bool_)
    counts, totals, reporters = [], [], []
    for number, one in enumerate(reversed(recent), 1):
        sums = aligned(one, fips)
        changed |= sums[MAINTAINED] > 0
        sums = np.where(changed, np.float32(0.0), sums)
        counts.append(sums[ALL].copy())
        whole += sums
        np.maximum(most, sums[REPORTERS], out=most)
        if number in LOOKS:
            totals.append(whole.copy())
            reporters.append(most.copy())
    missing = len(LOOKS) - len(totals)
    totals += [whole] * missing
    reporters += [most] * missing
    return np.stack(counts), np.stack(totals), np.stack(reporters)


def _tested(counts: Floats, totals: Floats) -> _Tested:
    """The first look that decides, for each API and FIP; `totals` has the sums of each look."""
    of_all, without_best, without_worst = (
        _roots(totals[:, parts]) for parts in (ALL, WITHOUT_BEST, WITHOUT_WORST)
    )
    failing, slower = of_all
    timed = np.arange(len(APIS)) < len(CALLED)
    good = np.where(timed[:, None], np.minimum(-failing, -slower), -failing)
    doubt = np.maximum(np.maximum(failing, slower), np.maximum(*without_best))
    bad = np.maximum(*without_worst)
    why = np.where(without_worst[0] >= BAD_Z, _FAILS[:, None], 0) | np.where(
        without_worst[1] >= BAD_Z, _BITS[Reason.SLOW], 0
    )
    doubtful = np.maximum.accumulate(doubt, 0) >= _DOUBT_Z
    is_good = (good >= GOOD_Z) & ~doubtful
    is_bad = (bad >= BAD_Z) & _still_bad(counts)
    is_bad[0] = False  # one odd window is never enough
    decided = (is_good | is_bad) & (counts[:_HOUR, 0].sum(0) > 0)
    first = np.where(decided.any(0), decided.argmax(0), len(LOOKS) - 1)
    pick = first[None]
    status = np.where(np.take_along_axis(is_bad & decided, pick, 0)[0], _BAD, 0)
    good_here = np.take_along_axis(is_good & decided, pick, 0)[0]
    status = np.where(good_here, _GOOD, status).astype(np.int8)
    strongest = np.maximum(good, bad)
    reasons = np.where(status == _BAD, np.take_along_axis(why, pick, 0)[0], 0)
    return _Tested(status, np.take_along_axis(strongest, pick, 0)[0], first, reasons)


_FAILS: Final = np.array(
    [_BITS[Reason.FAILING if api in CALLED else Reason.OUTCOMES] for api in APIS]
)
"""FI notifications are judged by the outcomes of FI requests."""


def _still_bad(counts: Floats) -> Flags:
    """Returns where the last two windows with calls both break the rule; else it may be over."""
    calls, failed, answered, slow = np.moveaxis(counts, 1, 0)
    breaks = (failed > FAILING * calls) | (slow > _HALF * answered)
    called = calls > 0
    nth = np.cumsum(called, 0) * called
    return np.asarray(~((nth > 0) & (nth <= 2) & ~breaks).any(0))  # noqa: PLR2004  # of them


def _roots(parts: Floats) -> tuple[Floats, Floats]:
    """Returns the roots of the share of failures and of the share of slow calls."""
    calls, failed, answered, slow = np.moveaxis(parts, 1, 0)
    return root(failed, calls), root(slow, answered, _HALF)


def _with_causes(tested: _Tested, at_fips: Iterable[Cause], latest: Floats) -> _Tested:
    """Returns the states with the causes at FIPs; `latest` are the counts of one window."""
    status, z = tested.status.copy(), tested.z.copy()
    look, reasons = tested.look.copy(), tested.reasons.copy()
    for cause in at_fips:
        if cause.locus.kind not in {Kind.FIP, Kind.FIP_API}:
            continue
        fip, shown = cause.locus.fip, covered(cause, APIS)
        symptoms = set(cause.symptoms)
        # Where no call has come of late, the others show nothing of a FIP that is down.
        unheard = (latest[0, :, fip] == 0) & (Symptom.FAILURES in symptoms)
        others = np.flatnonzero(unheard | (tested.status[:, fip] == _UNSURE)).tolist()
        if cause.of_heartbeats and Symptom.FAILURES in symptoms:
            symptoms.remove(Symptom.FAILURES)
            if cause.locus.kind is Kind.FIP:
                is_open = [api for api in others if status[api, fip] in {_UNSURE, _GOOD}]
                status[is_open, fip], z[is_open, fip] = _UNSURE, -np.inf
                reasons[is_open, fip] = _BITS[Reason.HEARTBEATS]
        if not symptoms:
            continue
        if cause.locus.kind is Kind.FIP and not _OF_CALLS.isdisjoint(symptoms):
            shown = sorted({*shown, *others})
        is_bad = tested.status[shown, fip] == _BAD
        breaks = _BREAKS_THE_RULE & symptoms
        if cause.few_fail:  # more than usual, but the rule decides whether it is too many
            breaks -= {Symptom.FAILURES}
        worse = np.where(is_bad | bool(breaks), _BAD, _DEGRADED)
        status[shown, fip] = np.where(status[shown, fip] == _BAD, _BAD, worse)
        look[shown, fip] = np.where(is_bad, look[shown, fip], 0)
        z[shown, fip] = np.inf
        for symptom in symptoms:
            reasons[shown, fip] |= _BITS[_REASONS[symptom]]
    return _Tested(status, z, look, reasons)


def _earlier(before: FipStates | None, fip_id: str, api: int) -> ApiState | None:
    states = before.fips.get(fip_id) if before else None
    return states[api] if states else None


def _state(
    tested: _Tested, totals: Floats, reporters: Floats, api: int, fip: int,
    earlier: ApiState | None, window: datetime,
) -> ApiState:  # fmt: skip
    status = _STATUSES[int(tested.status[api, fip])]
    look = int(tested.look[api, fip])
    same = earlier is not None and earlier.status is status
    return ApiState(
        status,
        _confidence(float(tested.z[api, fip])),
        round(float(totals[look, 0, api, fip])),
        round(float(totals[look, 1, api, fip])),
        round(float(reporters[look, api, fip])),
        LOOKS[look],
        earlier.since if earlier is not None and same else int(window.timestamp()),
        _named(int(tested.reasons[api, fip])),
    )


@cache
def _named(bits: int) -> tuple[Reason, ...]:
    return tuple(reason for reason in Reason if bits & _BITS[reason])


def _confidence(z: float) -> float:
    return min(int(5_000 * erfc(-z / sqrt(2))) / 10_000, CERTAIN)
