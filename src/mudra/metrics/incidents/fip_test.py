"""Tests the network's rule for each API of each FIP: success above 95 %, p50 below 5,000 ms.

The evidence is that of the latest windows, as few of them as decide. Loaded in the jobs
process only.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from math import erfc, sqrt
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mudra.metrics.attribution.causes.cause import Cause, Kind
from mudra.metrics.attribution.evidence.lanes import Flags, Floats, Symptom
from mudra.metrics.health.fip_state import ApiState, FipStates
from mudra.metrics.health.health import GOOD_ABOVE_PERCENT, Status
from mudra.metrics.incidents.fip_counts import (
    ALL,
    APIS,
    CALLED,
    REPORTERS,
    WITHOUT_BEST,
    WITHOUT_WORST,
    FipCounts,
    aligned,
    covered,
)

LOOKS: Final = (1, 2, 3, 6, 12, 36)
"""Numbers of windows that are looked at, in this order; six hours at most."""
_HOUR: Final = 6
"""Without calls in an hour nothing is known."""
GOOD_Z: Final = 1.645
"""One in twenty APIs that just break the rule would look as good."""
BAD_Z: Final = 5.3
"""About one in ten million that just keep it would look as bad: a day has 2 million tests."""
_DOUBT_Z: Final = 3.0
_CERTAIN: Final = 0.9999
_FAILING: Final = 1 - GOOD_ABOVE_PERCENT / 100
_HALF: Final = 0.5
_STATUSES: Final = (Status.UNSURE, Status.GOOD, Status.BAD)
_GOOD, _BAD = 1, 2


class _Tested(NamedTuple):
    status: NDArray[np.int8]
    z: Floats
    look: NDArray[np.intp]


def fip_states(
    window: datetime,
    recent: Sequence[FipCounts],
    at_fips: Iterable[Cause],
    before: FipStates | None,
) -> FipStates:
    """Returns the states after a window.

    `recent` has the counts of up to six hours, those of the window last; `at_fips` are the
    causes that this window or the one before showed at FIPs: they need no other test.
    """
    fips = recent[-1].fips
    sums = np.stack([aligned(one, fips) for one in reversed(recent[-LOOKS[-1] :])])
    totals = np.stack([sums[:look].sum(0) for look in LOOKS])
    tested = _with_causes(_tested(sums, totals), at_fips)
    reporters = np.stack([sums[:look, REPORTERS].max(0) for look in LOOKS])
    found = {}
    for place, fip_id in enumerate(fips):
        if fip_id and reporters[-1, :, place].any():
            found[fip_id] = tuple(
                _state(tested, totals, reporters, api, place, _earlier(before, fip_id, api), window)
                for api in range(len(APIS))
            )
    return FipStates(window, found)


def _tested(sums: Floats, totals: Floats) -> _Tested:
    """The first look that decides, for each API and FIP; `totals` has the sums of each look."""
    of_all, without_best, without_worst = (
        _roots(totals[:, parts]) for parts in (ALL, WITHOUT_BEST, WITHOUT_WORST)
    )
    failing, slower = of_all
    timed = np.arange(len(APIS)) < len(CALLED)
    good = np.where(timed[:, None], np.minimum(-failing, -slower), -failing)
    doubt = np.maximum(np.maximum(failing, slower), np.maximum(*without_best))
    bad = np.maximum(*without_worst)
    doubtful = np.maximum.accumulate(doubt, 0) >= _DOUBT_Z
    is_good = (good >= GOOD_Z) & ~doubtful
    is_bad = (bad >= BAD_Z) & _still_bad(sums)
    is_bad[0] = False  # one odd window is never enough
    decided = (is_good | is_bad) & (sums[:_HOUR, 0].sum(0) > 0)
    first = np.where(decided.any(0), decided.argmax(0), len(LOOKS) - 1)
    pick = first[None]
    status = np.where(np.take_along_axis(is_bad & decided, pick, 0)[0], _BAD, 0)
    good_here = np.take_along_axis(is_good & decided, pick, 0)[0]
    status = np.where(good_here, _GOOD, status).astype(np.int8)
    strongest = np.maximum(good, bad)
    return _Tested(status, np.take_along_axis(strongest, pick, 0)[0], first)


def _still_bad(sums: Floats) -> Flags:
    """Returns where the last two windows with calls both break the rule; else it may be over."""
    calls, failed, answered, slow = sums[:, 0], sums[:, 1], sums[:, 2], sums[:, 3]
    breaks = (failed > _FAILING * calls) | (slow > _HALF * answered)
    called = calls > 0
    nth = np.cumsum(called, 0) * called
    return np.asarray(~((nth > 0) & (nth <= 2) & ~breaks).any(0))  # noqa: PLR2004  # of them


def _roots(parts: Floats) -> tuple[Floats, Floats]:
    """Of the share of failures, and of the share of slow calls."""
    calls, failed, answered, slow = np.moveaxis(parts, 1, 0)
    return _root(failed, calls, _FAILING), _root(slow, answered, _HALF)


def _root(bad: Floats, events: Floats, rate: float) -> Floats:
    """The signed root of the deviance: a normal deviate if `bad` of `events` has this rate."""
    number = np.maximum(events.astype(np.float64), 1.0)
    share = np.clip(bad / number, 1e-12, 1 - 1e-12)
    deviance = number * (
        share * np.log(share / rate) + (1 - share) * np.log((1 - share) / (1 - rate))
    )
    root = np.sign(share - rate) * np.sqrt(2 * np.maximum(deviance, 0.0))
    return np.where(events > 0, root, 0.0).astype(np.float32)


def _with_causes(tested: _Tested, at_fips: Iterable[Cause]) -> _Tested:
    status, z, look = tested.status.copy(), tested.z.copy(), tested.look.copy()
    for cause in at_fips:
        if cause.locus.kind in {Kind.FIP, Kind.FIP_API} and set(cause.symptoms) != {
            Symptom.CLIENT_ERRORS
        }:
            places = covered(cause)
            look[places, cause.locus.fip] = np.where(
                status[places, cause.locus.fip] == _BAD, look[places, cause.locus.fip], 0
            )
            status[places, cause.locus.fip] = _BAD
            z[places, cause.locus.fip] = np.inf
    return _Tested(status, z, look)


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
    )


def _confidence(z: float) -> float:
    return min(int(5_000 * erfc(-z / sqrt(2))) / 10_000, _CERTAIN)
