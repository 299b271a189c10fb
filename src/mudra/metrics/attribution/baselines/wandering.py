"""The range in which rates wander without a fault, and how much of the evidence is left then."""

from typing import Final

import numpy as np
from msgspec import Struct

from mudra.metrics.attribution.baselines.rate_baseline import (
    ARRIVING,
    PRIOR_BAD,
    USUAL_VARIANCE,
    RateBaseline,
    fip_rates,
    unknown_time,
)
from mudra.metrics.attribution.evidence.lanes import ARRIVALS, LANES, LANES_OF, Floats, Symptom

_RELATIVE: Final = np.array(
    [lane.symptom not in {Symptom.FAILURES, Symptom.MISSING} for lane in LANES]
)[:, None]
"""Lanes without a limit of their own: only history says what is much."""
_FEW_EVENTS: Final = 100.0
_PRIOR_WINDOWS: Final = 30.0
_TOLERATED: Final = 16.0
"""Twice the wandering is tolerated already; the rest of its variance counts by this much less."""
_CELL_SHARE: Final = 1.2
"""Cells that wander alone even out in a group, so their standard deviation counts less."""
_SLOW: Final = LANES_OF[Symptom.SLOW]


class Wander(Struct, frozen=True):
    """The distance from the usual that rates may have without meaning; lane x FIP."""

    log_odds: Floats
    """What may still be nothing, as a rise of the log odds."""
    voice: Floats
    """How much of a window's evidence counts: times of calls wander together, so ten thousand
    of them say little more than a hundred."""


def wander(baseline: RateBaseline, events: Floats, hour: int, weekday: int) -> Wander:
    """Return what the wandering leaves of the evidence of a window with these events.

    To the wandering itself comes what is not known yet of this hour and weekday. Chance and
    wandering of slow calls add up as variances: where calls are few, chance is nearly all of it.
    """
    own = _own_variance(baseline) + unknown_time(baseline, hour, weekday)
    own = np.maximum(own, 0.0)
    unknown = 1.5 / np.sqrt(baseline.fip_bad + PRIOR_BAD)
    unknown[ARRIVALS] *= 0.3
    cells = (baseline.cell_variance + _PRIOR_WINDOWS * USUAL_VARIANCE) / (
        baseline.cell_windows + _PRIOR_WINDOWS
    )
    spread = np.maximum(2.0 * np.sqrt(own), _CELL_SHARE * np.sqrt(np.maximum(cells, 0.0))[:, None])
    rates = fip_rates(baseline)[_SLOW]
    chance = (1.0 - rates) / (rates * np.maximum(events[_SLOW].sum((0, 1)), 1.0))
    voice = np.ones_like(own)
    voice[_SLOW] = chance / (chance + own[_SLOW] / _TOLERATED)
    spread[_SLOW] *= np.sqrt(own[_SLOW] / (own[_SLOW] + chance))
    least = np.where(ARRIVING[..., 0], 0.1, 0.3)
    known = np.minimum(least + spread + unknown, 2.0)
    new = np.where(_RELATIVE, 3.0 / (1.0 + baseline.fip_events / _FEW_EVENTS), 0.0)
    return Wander(np.asarray(known + new, np.float32), np.asarray(voice, np.float32))


def _own_variance(baseline: RateBaseline) -> Floats:
    """Relative variance of each lane of a FIP; times of all its APIs wander together."""
    variance, windows = baseline.variance.copy(), baseline.variance_windows.copy()
    for part in (variance, windows):
        part[_SLOW] = part[_SLOW].sum(0)
    prior = _PRIOR_WINDOWS * _lane_variance(baseline)[:, None]
    return np.asarray((variance + prior) / (windows + _PRIOR_WINDOWS), np.float32)


def _lane_variance(baseline: RateBaseline) -> Floats:
    usual = np.where(ARRIVING[:, 0, 0], 0.1, 1.0) * USUAL_VARIANCE
    total = baseline.variance.sum(1) + _PRIOR_WINDOWS * usual
    return np.asarray(total / (baseline.variance_windows.sum(1) + _PRIOR_WINDOWS), np.float32)
