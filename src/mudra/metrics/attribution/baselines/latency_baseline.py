"""The usual latency of each cell: its median and tail by API, AA, path and hour of day.

Additive in the logarithm of time: API of the FIP + AA + path + hour of the network + hour of the
FIP. Every part is a running mean with a weight, so a part with little history stays near 0. At
night a FIP has too few calls to show how much faster they are: all FIPs together show it.
"""

import math
from typing import Final

import numpy as np
from msgspec import Struct

from mudra.metrics.attribution.evidence.evidence import WINDOWS_PER_DAY, Evidence
from mudra.metrics.attribution.evidence.lanes import TIMED_APIS, Flags, Floats

_KEEP: Final = 0.5 ** (1 / (7 * WINDOWS_PER_DAY))
_WEIGHT_CAP: Final = 20.0
_STEP_CAP: Final = 0.7
"""An outage moves a known median by at most the weight of a factor of two."""
_KNOWN: Final = 40.0
_HOUR_CAP: Final = 200.0
_HOUR_PRIOR: Final = 1000.0
_HOUR_OF_ALL: Final = 1500.0
"""The most that an hour of one day says of the same hour of all days."""
_USUAL_SPREAD: Final = 1.0  # log(p95 / p50) of a lognormal with sigma 0.6
_SPREAD_SAMPLES: Final = 20.0
_SLOW_FACTOR: Final = 1.5
"""Near the median a shift of all times changes the count of slow calls the most."""
_TAIL_FACTOR: Final = 2.5
_SLOWER_TOGETHER: Final = 0.25
"""A factor of 1.3: up to it times of all FIPs wander together."""
_SLOW_TOGETHER: Final = 0.45, 0.6
"""From a factor of 1.6 on the less is allowed, and nothing from 1.8 on: the network is slow."""
_FEWEST_FIPS: Final = 8
NEVER_MS: Final = 1e12
"""A time that no call takes: without history nothing is slow."""


class LatencyBaseline(Struct, frozen=True):
    """Running means of log milliseconds, each with its weight."""

    median: Floats
    median_weight: Floats
    aa: Floats
    aa_weight: Floats
    path: Floats
    path_weight: Floats
    hour: Floats
    hour_weight: Floats
    hour_of_all: Floats
    hour_of_all_weight: Floats
    today_pull: Floats
    """Of the hour that runs: it moves its mean when it is over, so that a drift within the hour is
    not usual before it is found."""
    today_weight: Floats
    hour_now: Floats
    """The hour of day that runs."""
    spread: Floats
    spread_weight: Floats


def new_latency_baseline(aas: int, fips: int) -> LatencyBaseline:
    """No history: the first window sets the medians."""
    timed = (len(TIMED_APIS), fips)
    shapes = (timed, timed, (aas,), (aas,), (aas, fips), (aas, fips), (fips, 24), (fips, 24))
    more = ((24,), (24,), (fips,), (fips,), (1,))
    parts = [np.zeros(shape, np.float32) for shape in (*shapes, *more)]
    parts += [np.full(timed, start, np.float32) for start in (_USUAL_SPREAD, _SPREAD_SAMPLES)]
    return LatencyBaseline(*parts)


def usual_median(baseline: LatencyBaseline, hour: int) -> Floats:
    """Log of the usual p50 of each cell at this hour of day."""
    of_hour = baseline.hour[None, :, hour] + baseline.hour_of_all[hour]
    rest = baseline.path + baseline.aa[:, None] + of_hour
    return np.asarray(baseline.median[:, None, :] + rest[None], np.float32)


def slower_together(baseline: LatencyBaseline, evidence: Evidence, evaluated: Flags) -> float:
    """Logarithm of how much slower than usual half of the FIPs are, within what all wander.

    0 of a few FIPs: one of them could be half.
    """
    weight = np.minimum(evidence.samples, _WEIGHT_CAP) * evaluated
    weight *= (baseline.median_weight > 0)[:, None, :]
    p50 = np.log(np.maximum(evidence.percentiles[..., 0], 1.0))
    rest = (p50 - usual_median(baseline, evidence.hour)).clip(-_STEP_CAP, _STEP_CAP)
    mass = weight.sum((0, 1))
    known = mass > 0
    if known.sum() < _FEWEST_FIPS:
        return 0.0
    each = (rest * weight).sum((0, 1))[known] / mass[known]
    says = np.minimum(mass[known], _HOUR_CAP)
    slower = _median(each, says)
    first, last = _SLOW_TOGETHER
    kept = min(max((last - slower) / (last - first), 0.0), 1.0)
    return kept * min(max(slower, 0.0), _SLOWER_TOGETHER)


def thresholds(baseline: LatencyBaseline, hour: int, slower: float = 0.0) -> tuple[Floats, Floats]:
    """Milliseconds above which a call counts as slow, and as a call of the slow tail.

    `slower` is the logarithm of how much slower all FIPs are: a FIP is compared with the others.
    """
    usual = usual_median(baseline, hour) + np.float32(slower)
    usual = np.where(
        baseline.median_weight[:, None, :] > 0, usual, np.float32(math.log(NEVER_MS) + 1)
    )
    slow = np.exp(usual) * _SLOW_FACTOR
    tail = np.exp(usual + baseline.spread[:, None, :]) * _TAIL_FACTOR
    return slow.astype(np.float32), tail.astype(np.float32)


def learn_latency(
    baseline: LatencyBaseline, evidence: Evidence, samples: Floats, doubtful: Flags
) -> LatencyBaseline:
    """Move the running means; `samples` is 0 where a cell is not to be learned from.

    Doubtful cells, by `TIMED_APIS`, teach the hour of day only, and the less the farther they
    are from the usual.
    """
    seen = np.minimum(samples, _WEIGHT_CAP)
    weight = np.where(doubtful, np.float32(0.0), seen)
    points = np.log(np.maximum(evidence.percentiles[..., :2], 1.0))
    rest = np.where(seen > 0, points[..., 0] - usual_median(baseline, evidence.hour), 0.0)
    near = np.minimum(1.0, _STEP_CAP / np.maximum(np.abs(rest), 1e-6))
    seen = np.where(doubtful, seen * near**2, seen)
    known = (baseline.median_weight > _KNOWN)[:, None, :] | doubtful
    rest = np.where(known, rest.clip(-_STEP_CAP, _STEP_CAP), rest)
    median, median_weight = _move(
        baseline.median, baseline.median_weight, (rest * weight).sum(1), weight.sum(1), 0.0
    )
    rest = (rest - (median - baseline.median)[:, None, :]).clip(-_STEP_CAP, _STEP_CAP)
    pull, mass = (rest * weight).sum(0), weight.sum(0)
    aa, aa_weight = _move(baseline.aa, baseline.aa_weight, pull.sum(1), mass.sum(1), 400.0)
    pull = pull - (aa - baseline.aa)[:, None] * mass
    path, path_weight = _move(baseline.path, baseline.path_weight, pull, mass, 400.0)
    mass = seen.sum(0)
    pull = (rest * seen).sum(0) - ((aa - baseline.aa)[:, None] + path - baseline.path) * mass
    # All medians of a FIP wander together: one window says only so much of its hour.
    share = np.minimum(1.0, _HOUR_CAP / np.maximum(mass.sum(0), 1.0))
    hours = _move_hour(baseline, evidence.hour, pull.sum(0) * share, mass.sum(0) * share)
    many = np.where(samples >= _SPREAD_SAMPLES, weight, 0.0)
    wider = points[..., 1] - points[..., 0] - baseline.spread[:, None, :]
    pull = (wider.clip(-_STEP_CAP, _STEP_CAP) * many).sum(1)
    spread, spread_weight = _move(
        baseline.spread, baseline.spread_weight, pull, many.sum(1), _SPREAD_SAMPLES
    )
    return LatencyBaseline(
        median, median_weight, aa, aa_weight, path, path_weight, *hours, spread, spread_weight
    )


def _move_hour(
    baseline: LatencyBaseline, hour: int, pull: Floats, mass: Floats
) -> tuple[Floats, Floats, Floats, Floats, Floats, Floats, Floats]:
    """Add a window to the running hour; one that is over moves the means of its name.

    That of all FIPs first, by what half of them exceed, so that one FIP with an hour of its own
    says nothing of the others; each FIP learns what this leaves.
    """
    mean, weight = baseline.hour, baseline.hour_weight
    of_all, weight_of_all = baseline.hour_of_all, baseline.hour_of_all_weight
    today_pull, today_weight = baseline.today_pull, baseline.today_weight
    over = int(baseline.hour_now[0])
    if over != hour:
        mean, weight = mean.copy(), weight.copy()
        of_all, weight_of_all = of_all.copy(), weight_of_all.copy()
        at, before = slice(over, over + 1), of_all[over]
        says = np.asarray(today_weight * _HOUR_PRIOR / (_HOUR_PRIOR + today_weight), np.float32)
        said = np.minimum(says.sum(keepdims=True), _HOUR_OF_ALL).astype(np.float32)
        each = np.asarray(today_pull / np.maximum(today_weight, 1.0), np.float32)
        moved = said * _median(each, says)
        of_all[at], weight_of_all[at] = _move(
            of_all[at], weight_of_all[at], moved, said, _HOUR_PRIOR
        )
        pull_left = today_pull - (of_all[over] - before) * today_weight
        mean[:, over], weight[:, over] = _move(
            mean[:, over], weight[:, over], pull_left, today_weight, _HOUR_PRIOR
        )
        today_pull, today_weight = np.zeros_like(today_pull), np.zeros_like(today_weight)
    now = np.array([hour], np.float32)
    today_pull = (today_pull + pull).astype(np.float32)
    return mean, weight, of_all, weight_of_all, today_pull, today_weight + mass, now


def _median(values: Floats, weights: Floats) -> float:
    """The value that half of the weight is below; 0 without weight."""
    order = np.argsort(values)
    sums = np.cumsum(weights[order])
    return float(values[order][np.searchsorted(sums, sums[-1] / 2)]) if sums[-1] > 0 else 0.0


def _move(
    mean: Floats, weight: Floats, pull: Floats, mass: Floats, prior: float
) -> tuple[Floats, Floats]:
    kept = weight * np.float32(_KEEP) + mass
    step = np.where(mass > 0, pull / np.maximum(kept + prior, 1e-6), 0.0)
    return (mean + step).astype(np.float32), kept.astype(np.float32)
