"""A rate that changed for good is reported as such: within a day, and neither an outage nor chance."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from tests.support.depth import with_every_change
from tests.support.metrics.incidents import an_incident

from mudra.metrics.attribution.evidence.evidence import empty_evidence
from mudra.metrics.attribution.evidence.lanes import CALL_APIS
from mudra.metrics.detection.fip_counts import own_calls
from mudra.metrics.health.level_change import changes_from_bytes, changes_to_bytes, level_changes
from mudra.metrics.health.own_calls import ALL, Field, OwnCalls
from mudra.metrics.incidents.incident import Fip
from mudra.metrics.payload.catalogue import RequestType

Rate = Callable[[int, int], float]
START, HOUR = datetime(2026, 3, 1, tzinfo=UTC), timedelta(hours=1)
CONSENT, FETCH = (CALL_APIS.index(one) for one in (RequestType.CONSENT, RequestType.FI_FETCH))


def hours_of(days: int, rate: Rate, calls: int = 42, seed: int = 1) -> dict[datetime, OwnCalls]:
    """So many calls an hour of each of two APIs, a thousand a day, fail by chance at a rate."""
    dice = np.random.default_rng(seed)
    found = {}
    for hour in range(24 * days):
        evidence = empty_evidence(100, 1, 1)
        for api in (CONSENT, FETCH):
            evidence.total[api, 0, 0] = calls // 2
            evidence.failed[api, 0, 0] = dice.binomial(calls // 2, rate(hour, api))
        found[START + hour * HOUR] = own_calls(evidence, ("BANK",), (), ())
    return found


@pytest.mark.parametrize("seed", range(5))
def test_six_per_cent_in_place_of_one_and_a_half_are_found_within_a_day(seed: int) -> None:
    deployed = 5 * 24
    hours = hours_of(6, lambda hour, _: 0.015 if hour < deployed else 0.065, seed=seed)

    (found,) = level_changes(hours.items(), ())

    assert (found.fip_id, found.before < 0.03, 0.04 < found.now < 0.1) == ("BANK", True, True)
    assert abs(found.since - (START + deployed * HOUR)) <= 12 * HOUR


def test_nothing_is_reported_of_a_steady_rate_or_of_less_than_the_rule_allows() -> None:
    for rate in (0.015, 0.06):
        assert level_changes(hours_of(9, lambda *_, rate=rate: rate, calls=400).items(), ()) == []
    small = hours_of(9, lambda hour, _: 0.01 if hour < 180 else 0.03, calls=400)
    assert level_changes(small.items(), ()) == []
    assert level_changes((), ()) == []


def test_an_outage_is_no_changed_rate_while_and_after_it_is_an_incident() -> None:
    began, ended = START + 180 * HOUR, START + 211 * HOUR
    hours = hours_of(9, lambda hour, _: 0.9 if 180 <= hour < 211 else 0.015, calls=400)

    assert level_changes(hours.items(), ()) != []
    assert level_changes(hours.items(), [an_incident(Fip("BANK"), began, ended)]) == []


def test_a_changed_rate_that_opened_an_incident_is_one_all_the_same() -> None:
    hours = hours_of(9, lambda hour, _: 0.07 if hour >= 190 else 0.015, calls=400)
    mild = an_incident(Fip("BANK"), START + 190 * HOUR, eligible=1000, succeeded=930)

    assert [one.fip_id for one in level_changes(hours.items(), [mild])] == ["BANK"]


def test_a_few_bad_hours_are_no_changed_rate() -> None:
    bad = {203, 206, 209, 212}
    hours = hours_of(9, lambda hour, _: 0.15 if hour in bad else 0.015, calls=400)
    until = {at: own for at, own in hours.items() if at < START + 213 * HOUR}

    assert level_changes(until.items(), ()) == []


@pytest.mark.parametrize("lasted", [8, 10, 12, 14, 20])
def test_more_failures_from_morning_to_evening_are_no_changed_rate(lasted: int) -> None:
    morning = 8 * 24 + 1
    hours = hours_of(
        9, lambda hour, _: 0.06 if morning <= hour < morning + 12 else 0.015, calls=400
    )
    until = {at: own for at, own in hours.items() if at < START + (morning + lasted) * HOUR}

    assert level_changes(until.items(), ()) == []


@pytest.mark.parametrize("seed", with_every_change([0], range(3)))
def test_rates_that_wander_for_hours_are_no_changed_rates(seed: int) -> None:
    hours = list(wandering(30, 12, seed))

    for now in range(60, len(hours), 4):
        assert level_changes(hours[max(0, now - 9 * 24) : now], ()) == []


def wandering(fips: int, days: int, seed: int) -> Iterator[tuple[datetime, OwnCalls]]:
    """Returns hours by day and night of rates around 1.5 %, that go up and down for some hours."""
    dice = np.random.default_rng(seed)
    keep = np.exp(-1 / 4)
    log = dice.normal(0, 0.38, fips)
    names = tuple(f"BANK-{fip}" for fip in range(fips))
    for hour in range(24 * days):
        log = keep * log + np.sqrt(1 - keep**2) * dice.normal(0, 0.38, fips)
        load = 0.1 + np.exp(-((hour % 24 - 12) ** 2) / 20)
        counts = np.zeros((len(Field), ALL + 1, fips), np.int64)
        counts[Field.ELIGIBLE, 1] = dice.poisson(300 * load, fips)
        counts[Field.FAILED, 1] = dice.binomial(counts[Field.ELIGIBLE, 1], 0.015 * np.exp(log))
        counts[:, ALL] = counts[:, 1]
        yield START + hour * HOUR, OwnCalls(names, counts)


def test_an_api_that_alone_has_changed_is_named() -> None:
    def rate(hour: int, api: int) -> float:
        return 0.09 if hour >= 170 and api == FETCH else 0.02

    changes = level_changes(hours_of(9, rate, calls=400).items(), ())

    assert [one.code for one in changes] in (["fif"], [""])
    assert changes_from_bytes(changes_to_bytes(changes)) == changes
