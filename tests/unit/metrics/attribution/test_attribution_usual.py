"""What becomes usual: the shape of a day, and not an outage."""

from collections.abc import Iterable

import numpy as np
import pytest
from msgspec.structs import replace
from tests.support.depth import with_every_change
from tests.unit.metrics.attribution.attribution import (
    Fault,
    evaluate,
    even_window,
    failing,
    learned,
)

from mudra.metrics.attribution.baselines.latency_baseline import usual_median
from mudra.metrics.attribution.baselines.rate_baseline import (
    RateBaseline,
    new_rate_baseline,
    usual_rates,
)
from mudra.metrics.attribution.baselines.wandering import wander
from mudra.metrics.attribution.causes.cause import CauseStatus, Kind, Locus
from mudra.metrics.attribution.engine import evaluate_window
from mudra.metrics.attribution.evidence.evidence import WINDOWS_PER_DAY, WINDOWS_PER_HOUR, Evidence
from mudra.metrics.attribution.evidence.lanes import LANES, LANES_OF, Floats, Symptom
from mudra.metrics.attribution.state import State, new_state

MIDNIGHT = WINDOWS_PER_DAY * 20_000
BAD_HOUR = 9
SHORT_DAY = range(8, 11)
"""Hours that are evaluated; the rest of the day would say the same."""


def slower(factor: float) -> Fault:
    def apply(evidence: Evidence) -> None:
        evidence.percentiles[:, :, 2] *= factor

    return apply


def days(state: State, numbers: Iterable[int], faults: dict[int, Fault]) -> tuple[State, list[int]]:
    """Evaluate days with a fault at some hours; returns on which of them a cause was found."""
    found = []
    for day in numbers:
        for hour in SHORT_DAY:
            for part in range(WINDOWS_PER_HOUR):
                window = MIDNIGHT + day * WINDOWS_PER_DAY + hour * WINDOWS_PER_HOUR + part
                evidence = even_window(window, 3, 4, 200)
                if hour in faults:
                    faults[hour](evidence)
                evaluation = evaluate_window(evidence, state)
                state = evaluation.state
                found += [day] * any(one.status is CauseStatus.NEW for one in evaluation.causes)
    return state, found


def wandering_of(rates: RateBaseline, hour: int, calls: float = 200) -> Floats:
    events = np.full((len(LANES), 3, 4), calls, np.float32)
    return wander(rates, events, hour, weekday=2).log_odds


def test_what_a_fip_does_every_day_at_the_same_hour_becomes_usual() -> None:
    state, _ = days(new_state(3, 4), range(2), {})

    _, found = days(state, range(2, 7), {BAD_HOUR: slower(1.5)})

    assert found[0] == 2
    assert max(found) <= 4, "at the latest from the fourth time on it is usual"


@pytest.mark.parametrize("share", with_every_change([0.1], [0.1, 0.8]))
def test_failures_beyond_the_rule_of_the_network_never_become_usual(share: float) -> None:
    state, _ = days(new_state(3, 4), range(2), {})

    _, found = days(state, range(2, 7), {BAD_HOUR: failing(share, fip=2)})

    assert found == [*range(2, 7)]


def test_an_outage_of_a_day_changes_nothing_that_is_usual() -> None:
    before, _ = days(new_state(3, 4), range(2), {})

    after, _ = days(before, range(2, 3), dict.fromkeys(SHORT_DAY, failing(0.8, fip=2)))

    usual = [
        usual_rates(one.rates, wandering_of(one.rates, BAD_HOUR), BAD_HOUR, 2).rates()[0, :, 2]
        for one in (before, after)
    ]
    assert usual[1] == pytest.approx(usual[0], rel=0.05)
    wandering = [wandering_of(one.rates, BAD_HOUR)[0, 2] for one in (before, after)]
    assert wandering[1] == pytest.approx(wandering[0], abs=0.05)


def test_what_is_not_known_yet_of_an_hour_leaves_more_room() -> None:
    state, _ = days(new_state(3, 4), range(2), {})
    rates = replace(state.rates, variance=np.full_like(state.rates.variance, 1.0))

    known, unknown = (wandering_of(rates, hour) for hour in (BAD_HOUR, 20))

    assert (known[0] < unknown[0]).all()


def test_all_fips_together_show_how_much_faster_the_night_is() -> None:
    state = new_state(3, 20)
    for day in range(2):
        for hour in (12, 23):
            for part in range(WINDOWS_PER_HOUR):
                window = MIDNIGHT + day * WINDOWS_PER_DAY + hour * WINDOWS_PER_HOUR + part
                evidence = even_window(window, 3, 20, 1 if hour == 23 else 20)
                evidence.percentiles[:] *= np.float32(0.75 if hour == 23 else 1.0)
                state = evaluate_window(evidence, state).state
    evidence = even_window(MIDNIGHT + 2 * WINDOWS_PER_DAY, 3, 20, 1)
    state = evaluate_window(evidence, state).state

    night, day = (float(usual_median(state.latency, hour).mean()) for hour in (23, 12))
    assert night - day < 0.5 * np.log(0.75)


def test_few_slow_calls_are_judged_by_chance_and_many_by_how_far_times_wander() -> None:
    state, _ = days(new_state(3, 4), range(2), {})
    slow = LANES_OF[Symptom.SLOW]

    few, many = (
        wander(state.rates, np.full((len(LANES), 3, 4), calls, np.float32), BAD_HOUR, 2)
        for calls in (0.1, 10_000)
    )

    assert (few.log_odds[slow] < many.log_odds[slow]).all()
    assert (few.voice[slow] > 0.8).all()
    assert (many.voice[slow] < 0.1).all()
    assert np.array_equal(few.log_odds[: slow.start], many.log_odds[: slow.start])
    assert (many.voice[: slow.start] == 1).all()


def test_a_fip_of_which_nearly_all_calls_are_slow_has_a_limit_all_the_same() -> None:
    baseline = new_rate_baseline(1, 3)
    first, second = LANES_OF[Symptom.SLOW].start, LANES_OF[Symptom.SLOW].start + 1
    baseline.fip_events[first], baseline.fip_bad[first] = 1000, 250
    baseline.fip_events[second, 0], baseline.fip_bad[second, 0] = 1000, 800
    baseline.fip_bad[first, 1] = 1000  # so its other calls are expected to be slow as well

    found = wander(baseline, np.ones((len(LANES), 1, 3), np.float32), 0, 0)

    assert np.isfinite(found.log_odds).all()
    assert ((found.voice > 0) & (found.voice <= 1)).all()


def test_a_day_does_not_become_usual_while_a_cause_lasts_on_it() -> None:
    before = learned(calls=3)
    after, _ = evaluate(before, [slower(3.0)], 9, calls=3)

    factors = [
        state.rates.weekday_bad[Symptom.SLOW, 2].sum()
        / state.rates.weekday_expected[Symptom.SLOW, 2].sum()
        for state in (before, after)
    ]
    assert factors[1] == pytest.approx(factors[0], abs=0.02)


def wandering(together: float, alone: float = 1.0) -> Fault:
    """Times of all FIPs are so many times as long, and those of one once more."""

    def apply(evidence: Evidence) -> None:
        evidence.percentiles[:] *= np.float32(together)
        evidence.percentiles[:, :, 2] *= np.float32(alone)

    return apply


@pytest.mark.parametrize(
    ("together", "alone", "found"),
    [
        (1.0, 1.6, [Locus(Kind.FIP, -1, 2)]),
        (1.28, 1.0, []),
        (1.28, 1.8, [Locus(Kind.FIP, -1, 2)]),
        (2.0, 1.0, [Locus(Kind.NETWORK)]),
    ],
)
def test_a_fip_is_slow_when_it_is_slower_than_what_all_fips_do_at_once(
    together: float, alone: float, found: list[Locus]
) -> None:
    _, causes = evaluate(learned(5, 12), [wandering(together, alone)], 6)

    assert [one.locus for one in causes] == found
