"""The usual rate of each lane in each cell, and how far it is known to wander.

The rate of a cell is a product: API of the FIP x AA x path x hour of day x
weekday. The first is a rate shrunk to the network's own; the others are
factors shrunk to 1. Failures far above the usual are cut before they are
learned, so that an outage which is not yet recognized does not become usual.

Cells in doubt, because a cause explains them or may soon, teach only the factors
of time and the wandering, and the less the farther they are from what may still
be nothing. To leave them out would be to learn from what looks good alone: a FIP
that is worse every noon would never be known to be, and its wandering would be
taken for less than it is.
"""

from typing import Final

import numpy as np
from msgspec import Struct

from mudra.metrics.attribution.baselines.lessons import Seen, cut
from mudra.metrics.attribution.baselines.usual import HIGHEST, LOWEST, Usual
from mudra.metrics.attribution.evidence.evidence import WINDOWS_PER_DAY
from mudra.metrics.attribution.evidence.lanes import (
    ARRIVALS,
    LANE_SYMPTOM,
    LANES,
    LANES_OF,
    SYMPTOMS,
    USUAL_RATES,
    Flags,
    Floats,
    Symptom,
)

_KEEP: Final = np.float32(0.5 ** (1 / (7 * WINDOWS_PER_DAY)))
_KEEP_HOUR: Final = _KEEP**6
PRIOR_BAD: Final = 2.0
"""Weight of the network's rate in a FIP's own, in bad events."""
_FACTOR_RANGE: Final = (0.2, 8.0)
_PRIORS: Final = {"aa": 10.0, "path": 20.0}
ARRIVING: Final = np.zeros((len(LANES), 1, 1), np.bool_)
ARRIVING[ARRIVALS] = True
_KNOWN_EVENTS: Final = 500.0
_KNOWN_BAD: Final = 30.0
"""History from which on a sudden rise is not learned at once."""
_LARGE: Final = 5000.0
"""Events beyond which one FIP weighs no more in the rate of the network."""
_FEW: Final = 3.0
"""Expected bad events of a group below which it says nothing about wandering."""
USUAL_VARIANCE: Final = 0.06
"""Relative variance of a rate from window to window: a standard deviation of a quarter."""
_STEADY: Final = np.full((SYMPTOMS, 1), 1.0, np.float32)
_STEADY[Symptom.MISSING] = 0.1
_STEADY[Symptom.SLOW] = 0.3
"""Notifications per request vary so much less than rates of bad events; the usual median knows
the hours of slow calls already."""


class _Period(Struct, frozen=True):
    """The variances of an hour's or a weekday's factors, relative."""

    factor: float
    """Of the true factor, before anything is known of it."""
    window: float
    """Of one window around it. Windows that follow one another wander together: the six of
    an hour count as one and a half, the 144 of a day as ten."""


_HOUR: Final = _Period(factor=0.07, window=4 * USUAL_VARIANCE)
_WEEKDAY: Final = _Period(factor=0.02, window=15 * USUAL_VARIANCE)


class RateBaseline(Struct, frozen=True):
    """Sums of bad and of expected events behind each factor; old ones fade in a week."""

    fip_bad: Floats
    fip_events: Floats
    aa_bad: Floats
    aa_expected: Floats
    path_bad: Floats
    path_expected: Floats
    hour_bad: Floats
    hour_expected: Floats
    weekday_bad: Floats
    weekday_expected: Floats
    today_bad: Floats
    """Of the hour that runs: it teaches its factor when it is over, so that a drift within the
    hour is not usual before it is found."""
    today_expected: Floats
    hour_now: Floats
    """The hour of day that runs."""
    variance: Floats
    variance_windows: Floats
    cell_variance: Floats
    cell_windows: Floats


_BY_LANE: Final = (
    *("fip_bad", "fip_events", "aa_bad", "aa_expected", "variance", "variance_windows"),
    *("cell_variance", "cell_windows"),
)
_BY_SYMPTOM: Final = (
    *("path_bad", "path_expected", "hour_bad", "hour_expected", "weekday_bad", "weekday_expected"),
    *("today_bad", "today_expected"),
)
"""The fields of a baseline by what comes first in their shapes."""


def new_rate_baseline(aas: int, fips: int) -> RateBaseline:
    """No history: every cell has the usual rate of its lane."""
    lanes = len(LANES)
    shapes = ((lanes, fips), (lanes, aas), (SYMPTOMS, aas, fips), (SYMPTOMS, fips, 24),
              (SYMPTOMS, fips, 7), (SYMPTOMS, fips))  # fmt: skip
    factors = [np.zeros(shape, np.float32) for shape in shapes for _ in range(2)]
    rest = [np.zeros(1, np.float32), *(np.zeros((lanes, fips), np.float32) for _ in range(2))]
    cells = [np.zeros(lanes, np.float32) for _ in range(2)]
    return RateBaseline(*factors, *rest, *cells)


def usual_rates(baseline: RateBaseline, log_odds: Floats, hour: int, weekday: int) -> Usual:
    """The usual rates at this time, with the odds by which they may wander."""
    cell = _factor(baseline.path_bad, baseline.path_expected, _PRIORS["path"])
    return Usual(
        fip_rates(baseline),
        _factor(baseline.aa_bad, baseline.aa_expected, _PRIORS["aa"]),
        cell * _time_factor(baseline, hour, weekday)[:, None, :],
        np.exp(log_odds),
    )


def unknown_time(baseline: RateBaseline, hour: int, weekday: int) -> Floats:
    """Relative variance of a rate as far as its hour and weekday are not known; lane x FIP."""
    by_hour = 1.0 / (baseline.hour_expected[..., hour] + _prior(_HOUR))
    by_weekday = 1.0 / (baseline.weekday_expected[..., weekday] + _prior(_WEEKDAY))
    return np.asarray((by_hour + by_weekday)[LANE_SYMPTOM], np.float32)


def learn_rates(
    baseline: RateBaseline, seen: Seen, usual: Usual, hour: int, weekday: int
) -> RateBaseline:
    """Add one window.

    One symptom after the other, which teach each other nothing: what is made of the cells of all
    lanes on the way would take six times the memory of the whole state.
    """
    learned = [
        _learn(
            symptom,
            _part_of(baseline, symptom),
            Seen(seen.bad[lanes], seen.events[lanes], seen.doubtful[lanes]),
            usual,
            (hour, weekday),
        )
        for symptom, lanes in zip(Symptom, LANES_OF, strict=True)
    ]
    joined = {
        name: np.concatenate([getattr(one, name) for one in learned])
        for name in (*_BY_LANE, *_BY_SYMPTOM)
    }
    return RateBaseline(**joined, hour_now=np.array([hour], np.float32))


def _part_of(baseline: RateBaseline, symptom: Symptom) -> RateBaseline:
    lanes, own = LANES_OF[symptom], slice(symptom, symptom + 1)
    return RateBaseline(
        **{name: getattr(baseline, name)[lanes] for name in _BY_LANE},
        **{name: getattr(baseline, name)[own] for name in _BY_SYMPTOM},
        hour_now=baseline.hour_now,
    )


def _learn(
    symptom: Symptom,
    baseline: RateBaseline,
    seen: Seen,
    usual: Usual,
    at: tuple[int, int],
) -> RateBaseline:
    """Add one window of the lanes of a symptom.

    The factors are moved one after the other, each against what the earlier
    ones leave unexplained, so that one deviation is not learned twice.
    """
    hour, weekday = at
    steady = _STEADY[symptom : symptom + 1]
    rates = usual.rates(LANES_OF[symptom])
    expected = seen.events * rates
    nothing = seen.events * usual.limits(LANES_OF[symptom])
    known_fips = baseline.fip_events.sum(0) > _KNOWN_EVENTS
    known_aas = baseline.aa_expected.sum(0) > _KNOWN_BAD
    bad, weight = cut(symptom, seen, expected, nothing, (known_fips, known_aas))
    del nothing
    bad *= weight
    expected *= weight
    del weight
    chance = _chance(symptom, expected, rates)
    variance, variance_windows = _learn_variance(
        baseline.variance, baseline.variance_windows, bad.sum(1), expected.sum(1), chance.sum(1)
    )
    cell_variance, cell_windows = _learn_cells(baseline, bad, expected, chance)
    del rates, chance
    trusted = ~seen.doubtful
    before = _rates_of(symptom, baseline.fip_bad, baseline.fip_events)
    fip_bad = baseline.fip_bad * _KEEP + (bad * trusted).sum(1)
    fip_events = baseline.fip_events * _KEEP + (expected * trusted).sum(1) / before
    moved = _rates_of(symptom, fip_bad, fip_events) / before
    expected *= moved[:, None, :]
    aa_bad, aa_expected, moved = _move(
        baseline.aa_bad, baseline.aa_expected, (bad * trusted).sum(2),
        (expected * trusted).sum(2), _PRIORS["aa"],
    )  # fmt: skip
    expected *= moved[:, :, None]
    path_bad, path_expected, moved = _move(
        baseline.path_bad, baseline.path_expected, _of_all(bad * trusted),
        _of_all(expected * trusted), _PRIORS["path"],
    )  # fmt: skip
    group_bad, group = _of_all(bad).sum(1), (_of_all(expected) * moved).sum(1)
    hours, of_hour = _move_hour(baseline, hour, group_bad, group, steady)
    group_bad = _of_all(bad * trusted).sum(1)
    group = (_of_all(expected * trusted) * moved).sum(1) * of_hour
    weekday_bad, weekday_expected = baseline.weekday_bad.copy(), baseline.weekday_expected.copy()
    weekday_bad[..., weekday], weekday_expected[..., weekday], _ = _move_weekday(
        weekday_bad[..., weekday], weekday_expected[..., weekday], group_bad, group, steady
    )
    return RateBaseline(
        fip_bad, fip_events, aa_bad, aa_expected, path_bad, path_expected, hours.bad,
        hours.expected, weekday_bad, weekday_expected, hours.today_bad, hours.today_expected,
        baseline.hour_now, variance, variance_windows,
        cell_variance, cell_windows,
    )  # fmt: skip


def _chance(symptom: Symptom, expected: Floats, rates: Floats) -> Floats:
    """Variance of the counts themselves, in place of the rates."""
    if symptom is Symptom.MISSING:
        return expected
    left = np.subtract(1.0, rates, out=rates)
    left *= expected
    return left


def _time_factor(baseline: RateBaseline, hour: int, weekday: int) -> Floats:
    by_hour = _factor(
        baseline.hour_bad[..., hour], baseline.hour_expected[..., hour], _prior(_HOUR)
    )
    by_weekday = _factor(
        baseline.weekday_bad[..., weekday],
        baseline.weekday_expected[..., weekday],
        _prior(_WEEKDAY),
    )
    return by_hour * by_weekday


def _prior(period: _Period, steady: Floats = _STEADY) -> Floats:
    """Weight of 1 in the factor of a period, in expected events; symptom x 1."""
    return np.asarray(1.0 / (period.factor * steady), np.float32)


class _Hours(Struct, frozen=True):
    """The knowledge of the hours of the day, and apart from it what the running one shows."""

    bad: Floats
    expected: Floats
    today_bad: Floats
    today_expected: Floats


def _move_hour(
    baseline: RateBaseline, hour: int, new_bad: Floats, new_expected: Floats, steady: Floats
) -> tuple[_Hours, Floats]:
    """Add a window to the running hour; one that is over goes to the hours of its name."""
    bad, expected = baseline.hour_bad, baseline.hour_expected
    today_bad, today_expected = baseline.today_bad, baseline.today_expected
    over = int(baseline.hour_now[0])
    if over != hour:
        bad, expected = bad.copy(), expected.copy()
        bad[..., over] = bad[..., over] * _KEEP_HOUR + today_bad
        expected[..., over] = expected[..., over] * _KEEP_HOUR + today_expected
        today_bad, today_expected = np.zeros_like(today_bad), np.zeros_like(today_expected)
    weight = 1.0 / (1.0 + _HOUR.window * steady * new_expected)
    prior = _prior(_HOUR, steady)
    usual = _factor(bad[..., hour], expected[..., hour], prior)
    before = _factor(bad[..., hour] + today_bad, expected[..., hour] + today_expected, prior)
    today_bad = np.asarray(today_bad + new_bad * weight, np.float32)
    today_expected = np.asarray(today_expected + new_expected * weight / usual, np.float32)
    after = _factor(bad[..., hour] + today_bad, expected[..., hour] + today_expected, prior)
    return _Hours(bad, expected, today_bad, today_expected), after / before


def _move_weekday(
    bad: Floats, expected: Floats, new_bad: Floats, new_expected: Floats, steady: Floats
) -> tuple[Floats, Floats, Floats]:
    """As `_move`; a window says no more than its own wandering lets it, however many its calls."""
    weight = 1.0 / (1.0 + _WEEKDAY.window * steady * new_expected)
    prior = _prior(_WEEKDAY, steady)
    return _move(bad, expected, new_bad * weight, new_expected * weight, prior)


def _of_all(lanes_of_cells: Floats) -> Floats:
    """The sum of all lanes, which are of one symptom."""
    return np.asarray(lanes_of_cells.sum(0, keepdims=True))


def _factor(bad: Floats, expected: Floats, prior: float | Floats) -> Floats:
    """Observed by expected events, shrunk to 1; the expectation leaves the factor itself out."""
    return ((bad + prior) / (expected + prior)).clip(*_FACTOR_RANGE).astype(np.float32)


def _move(
    bad: Floats, expected: Floats, new_bad: Floats, new_expected: Floats, prior: float | Floats
) -> tuple[Floats, Floats, Floats]:
    """Sums of a factor with one window more, and by what the factor changed."""
    before = _factor(bad, expected, prior)
    bad = bad * _KEEP + new_bad
    expected = expected * _KEEP + new_expected / before
    return bad, expected, _factor(bad, expected, prior) / before


def fip_rates(baseline: RateBaseline) -> Floats:
    """The rate of each lane of each FIP, over all AAs, hours and weekdays."""
    parts = ((one, _part_of(baseline, one)) for one in Symptom)
    return np.concatenate([_rates_of(one, part.fip_bad, part.fip_events) for one, part in parts])


def _rates_of(symptom: Symptom, bad: Floats, events: Floats) -> Floats:
    """Rate of each lane of each FIP, shrunk to the network's lane and the FIP's other lanes."""
    lanes = LANES_OF[symptom]
    if symptom is Symptom.MISSING:
        # A FIP that was never seen to notify is not missing anything yet.
        rates = (bad + 0.01) / (events + 10.0)
    else:
        weight = 1.0 / (1.0 + events / _LARGE)
        usual = USUAL_RATES[lanes]
        pooled = ((bad * weight).sum(1) + 20.0) / ((events * weight).sum(1) + 20.0 / usual)
        expected = (events * pooled[:, None]).sum(0)
        level = ((bad.sum(0) + 3.0) / (expected + 3.0)).clip(*_FACTOR_RANGE)
        rates = (bad + PRIOR_BAD) / (events + PRIOR_BAD / (pooled[:, None] * level))
    return np.asarray(rates.clip(LOWEST, HIGHEST[lanes, :, 0]), np.float32)


def _learn_variance(
    variance: Floats, windows: Floats, bad: Floats, expected: Floats, chance: Floats
) -> tuple[Floats, Floats]:
    """Relative variance of a lane of a FIP beyond chance, from windows with enough events."""
    beyond, counts = _beyond_chance(bad, expected, chance)
    return (
        np.asarray(variance * _KEEP + beyond, np.float32),
        np.asarray(windows * _KEEP + counts, np.float32),
    )


def _learn_cells(
    baseline: RateBaseline, bad: Floats, expected: Floats, chance: Floats
) -> tuple[Floats, Floats]:
    """Returns by how much single cells deviate, and of how many windows that is known."""
    beyond, cells = _beyond_chance(bad, expected, chance)
    variance = baseline.cell_variance * _KEEP + beyond.sum((1, 2))
    windows = baseline.cell_windows * _KEEP + cells.sum((1, 2))
    return variance.astype(np.float32), windows.astype(np.float32)


def _beyond_chance(bad: Floats, expected: Floats, chance: Floats) -> tuple[Floats, Flags]:
    """Squared deviations less `chance`, the variance of the counts themselves, as relative ones."""
    few = expected < _FEW
    safe = np.maximum(expected, _FEW)
    beyond = bad - safe
    beyond *= beyond
    beyond -= chance
    safe *= safe
    beyond /= safe
    np.clip(beyond, -0.5, 2.0, out=beyond)
    beyond[few] = 0.0
    return beyond, ~few
