"""The life of an incident: opening, correction, recovery, and what is no incident at all."""

import numpy as np
import pytest
from msgspec.structs import replace
from tests.unit.metrics.attribution.attribution import (
    LEARNED,
    REQUESTS,
    Fault,
    failing,
    incidents_of,
    learned,
    only_caller,
)

from mudra.metrics.attribution.causes.active import Counted, View, follow, new_active
from mudra.metrics.attribution.causes.breadth import nearly_all
from mudra.metrics.attribution.causes.cause import Kind, Locus
from mudra.metrics.attribution.evidence.evidence import Evidence
from mudra.metrics.attribution.evidence.lanes import CALL_APIS, LANES, Symptom
from mudra.metrics.attribution.incidents import Change, Incident
from mudra.metrics.payload.catalogue import RequestType

DOWN = failing(0.4, fip=2)
FIP_2 = Locus(Kind.FIP, fip=2)


def test_an_incident_opens_with_its_second_bad_window_and_closes_with_the_third_good_one() -> None:
    [incident] = incidents_of([(5, [DOWN]), (3, [])])

    assert incident.detected == LEARNED + 1
    assert incident.since == LEARNED
    assert incident.ended == LEARNED + 5
    assert [entry.change for entry in incident.history] == [Change.OPENED, Change.CLOSED]
    assert incident.history[-1].window == LEARNED + 7


def test_an_incident_keeps_the_counts_of_its_last_bad_window() -> None:
    [bad] = incidents_of([(5, [DOWN])])
    [recovering] = incidents_of([(5, [DOWN]), (1, [])])

    assert recovering.is_open
    assert recovering.cause.failures == bad.cause.failures > 5 * bad.cause.expected
    assert recovering.cause.calls == bad.cause.calls


def test_one_bad_window_is_no_incident() -> None:
    assert incidents_of([(1, [DOWN]), (10, [])]) == ()


def test_a_large_fip_that_falls_is_an_incident_at_once() -> None:
    [incident] = incidents_of([(1, [failing(1.0, fip=2)])])

    assert incident.detected == LEARNED


def test_a_large_fip_that_falls_at_some_aas_more_than_at_others_is_an_incident_at_once() -> None:
    hit = [failing(1.0 if aa < 2 else 0.55, aa=aa, fip=2) for aa in range(5)]

    [incident] = incidents_of([(1, hit)])

    assert incident.detected == LEARNED


def test_an_aa_that_loses_most_of_many_calls_is_an_incident_at_once() -> None:
    [incident] = incidents_of([(1, [failing(0.9, aa=1)])], calls=400)

    assert incident.cause.locus == Locus(Kind.AA, aa=1)
    assert incident.detected == incident.since


def test_many_fips_that_fall_at_once_are_no_outage_of_the_aas() -> None:
    down = [failing(0.9, fip=fip) for fip in range(6)]

    found = incidents_of([(3, down)], learned(aas=3, fips=10, calls=100), calls=100)

    assert {one.cause.locus for one in found} == {Locus(Kind.FIP, fip=fip) for fip in range(6)}


def test_flapping_is_one_incident() -> None:
    flaps = [(2, [DOWN]), (2, [])] * 4

    [incident] = incidents_of([*flaps, (4, [])])

    assert incident.cause.locus == FIP_2
    assert sum(entry.change is Change.OPENED for entry in incident.history) == 1


def test_trouble_that_comes_back_within_three_hours_is_the_same_incident() -> None:
    [incident] = incidents_of([(3, [DOWN]), (6, []), (3, [DOWN]), (4, [])])

    assert [entry.change for entry in incident.history] == [
        Change.OPENED,
        Change.CLOSED,
        Change.REOPENED,
        Change.CLOSED,
    ]


def test_a_path_that_turns_out_to_be_the_fip_stays_one_incident() -> None:
    path = failing(0.6, aa=1, fip=2)

    [incident] = incidents_of([(3, [path]), (4, [DOWN])])

    assert incident.history[0].locus == Locus(Kind.PATH, 1, 2)
    assert incident.cause.locus == FIP_2
    assert Change.MOVED in {entry.change for entry in incident.history}


def test_a_fip_that_turns_out_to_be_a_path_stays_one_incident() -> None:
    alone = only_caller(1, 2)

    [incident] = incidents_of([(3, [alone, failing(0.6, aa=1, fip=2)]),
                               (4, [failing(0.6, aa=1, fip=2)])])  # fmt: skip

    assert incident.history[0].locus.fip == 2
    assert incident.cause.locus == Locus(Kind.PATH, 1, 2)


def test_overlapping_causes_are_separate_incidents() -> None:
    found = incidents_of([(3, [DOWN]), (3, [DOWN, failing(0.7, aa=1)])])

    assert {incident.cause.locus for incident in found} == {FIP_2, Locus(Kind.AA, aa=1)}
    assert all(incident.is_open for incident in found)


def test_new_trouble_with_another_symptom_is_another_incident() -> None:
    def late(evidence: Evidence) -> None:
        evidence.percentiles[REQUESTS, :, 2] *= 6

    first, second = incidents_of([(4, [failing(0.6, fip=2)]), (5, []), (3, [late])])

    assert not first.is_open
    assert second.is_open


@pytest.mark.slow
def test_an_incident_without_calls_stays_open_for_a_day() -> None:
    def no_calls(evidence: object) -> None:
        for part in ("total", "failed", "client_errors", "samples", "statuses", "percentiles"):
            getattr(evidence, part)[:, :, 2] = 0

    [waiting] = incidents_of([(3, [DOWN]), (140, [no_calls])])
    [given_up] = incidents_of([(3, [DOWN]), (150, [no_calls])])

    assert waiting.is_open
    assert given_up.history[-1].change is Change.NO_DATA


def places(incident: Incident) -> list[Locus]:
    return [entry.locus for entry in incident.history if entry.change is not Change.CLOSED]


MANY = 12
"""FIPs; with a few, two of them are a good part of an AA's."""


def test_two_paths_of_an_aa_that_fail_are_not_the_aa() -> None:
    paths = [failing(0.9, aa=0, fip=fip) for fip in (0, 1)]

    found = incidents_of([(4, paths), (3, [])], learned(fips=MANY))

    assert [places(one) for one in found] == [[Locus(Kind.PATH, 0, fip)] for fip in (0, 1)]


def test_a_network_of_which_one_fip_stays_down_ends_and_this_fip_has_a_cause_of_its_own() -> None:
    network, fip = incidents_of([(4, [failing(0.9)]), (8, [failing(0.9, fip=0)]), (3, [])])

    assert (places(network), places(fip)) == ([Locus(Kind.NETWORK)], [Locus(Kind.FIP, fip=0)])
    assert not network.is_open
    assert not fip.is_open


def test_an_aa_or_a_fip_of_which_one_path_stays_down_becomes_this_path() -> None:
    left = failing(0.9, aa=1, fip=2)
    for whole, wide in ((failing(0.9, aa=1), Locus(Kind.AA, aa=1)), (DOWN, FIP_2)):
        [incident] = incidents_of([(4, [whole]), (6, [left]), (3, [])])

        assert places(incident) == [wide, Locus(Kind.PATH, 1, 2)]
        assert incident.last_bad == LEARNED + 9
        assert not incident.is_open


def test_an_aa_recovers_while_two_fips_are_down_for_all() -> None:
    fips = [failing(0.9, fip=fip) for fip in (2, 3)]

    found = incidents_of([(4, [failing(0.9, aa=1), *fips]), (3, fips)], learned(fips=MANY))

    assert [one.cause.locus for one in found if not one.is_open] == [Locus(Kind.AA, aa=1)]
    assert sum(one.is_open for one in found) == 2


def test_a_path_with_one_api_that_turns_out_to_be_the_api_of_the_fip_stays_one_incident() -> None:
    path, api = (failing(0.9, aa=aa, fip=2, api=RequestType.CONSENT) for aa in (1, None))

    [incident] = incidents_of([(3, [path]), (4, [api])])

    assert places(incident) == [
        Locus(Kind.PATH, 1, 2),
        Locus(Kind.FIP_API, fip=2, apis=(RequestType.CONSENT,)),
    ]


def test_the_incident_of_an_aa_that_is_suspended_ends_for_want_of_data() -> None:
    def suspended(evidence: Evidence) -> None:
        evidence.expected[1] = evidence.reported[1] = False

    for what in (failing(0.9, aa=1), failing(0.9, aa=1, fip=2)):
        [incident] = incidents_of([(3, [what]), (1, [suspended])])

        assert incident.history[-1].change is Change.NO_DATA
    [other] = incidents_of([(3, [DOWN]), (1, [suspended, DOWN])])
    assert other.is_open


def test_failures_of_a_whole_fip_are_counted_among_the_calls_to_it() -> None:
    """Its notifications, which still come, would make half of the calls look like less."""
    [incident] = incidents_of([(5, [failing(0.6, fip=2)])])

    assert incident.cause.locus == FIP_2
    assert incident.cause.failures > 0.55 * incident.cause.calls


def seldom_called(fip: int) -> Fault:
    """No customer calls this FIP: heartbeats are all there is."""

    def apply(evidence: Evidence) -> None:
        for api in range(len(CALL_APIS)):
            if CALL_APIS[api] != RequestType.HEARTBEAT:
                for part in (evidence.total, evidence.failed, evidence.client_errors):
                    part[api, :, fip] = 0

    return apply


def test_a_fip_whose_heartbeats_alone_are_seen_to_fail_is_down_and_not_its_heartbeat() -> None:
    heartbeats = failing(1.0, fip=2, api=RequestType.HEARTBEAT)

    [dead] = incidents_of([(4, [seldom_called(2), heartbeats])])
    [odd] = incidents_of([(4, [heartbeats])])

    assert (dead.cause.locus, dead.cause.ambiguous_with) == (FIP_2, ())
    assert dead.cause.failures == dead.cause.calls > 0
    assert odd.cause.locus == Locus(Kind.FIP_API, fip=2, apis=(RequestType.HEARTBEAT,))


def one_call(fip: int) -> Fault:
    """A customer makes one call to this FIP, and it succeeds."""

    def apply(evidence: Evidence) -> None:
        seldom_called(fip)(evidence)
        evidence.total[CALL_APIS.index(RequestType.CONSENT), 0, fip] = 1

    return apply


def test_heartbeats_that_fail_while_a_call_succeeds_are_heartbeats() -> None:
    heartbeats = failing(1.0, fip=2, api=RequestType.HEARTBEAT)

    [odd] = incidents_of([(4, [one_call(2), heartbeats])])

    assert odd.cause.locus == Locus(Kind.FIP_API, fip=2, apis=(RequestType.HEARTBEAT,))


def slower(factor: float) -> Fault:
    """All calls of all pairs take so many times as long."""

    def apply(evidence: Evidence) -> None:
        evidence.percentiles[:] *= np.float32(factor)

    return apply


@pytest.mark.slow
def test_what_all_do_at_once_for_a_day_is_one_incident_of_the_network_and_ends_with_it() -> None:
    [incident] = incidents_of([(110, [slower(2.0)]), (4, [])], learned(aas=4, fips=12))

    assert places(incident) == [Locus(Kind.NETWORK)]
    assert (incident.last_bad, incident.is_open) == (LEARNED + 109, False)


@pytest.mark.parametrize(("failures", "status"), [(253, "bad"), (165, "recovered")])
def test_half_of_the_trouble_is_no_recovery_though_alone_it_would_open_nothing(
    failures: float, status: str
) -> None:
    slow = new_active(1, Locus(Kind.NETWORK), Symptom.SLOW, 0, 0, aas=4, fips=12)
    active = replace(slow, level=np.array([34.0, 9.0, -44.0, -44.0], np.float32), excess=0.29)
    total = np.array([-8.0, -31.0, -84.0, -118.0], np.float32)
    of_each = np.zeros((4, 4)), np.zeros((4, 12)), np.zeros((4, len(LANES)))
    view = View(total, total, *of_each, 477, failures, 159, Counted(477, failures, 159))

    for window in (1, 2, 3):
        active, found = follow(active, view, window)

    assert found == status


def test_a_small_rate_of_failures_that_lasts_is_the_usual_one_from_then_on() -> None:
    deployed, worse = failing(0.08, fip=2), failing(0.5, fip=2)
    [changed, outage] = incidents_of([(100, [deployed]), (3, [worse])])

    assert [one.change for one in changed.history] == [Change.OPENED, Change.CHANGED]
    assert changed.ended - changed.since <= 60
    assert outage.since == LEARNED + 100
    assert outage.cause.expected > 3 * changed.cause.expected


def slow_at(fip: int, factor: float) -> Fault:
    def apply(evidence: Evidence) -> None:
        evidence.percentiles[:, :, fip] *= np.float32(factor)

    return apply


def test_slow_calls_of_a_fip_that_last_are_its_usual_times_from_then_on() -> None:
    deployed, worse = slow_at(2, 2.5), slow_at(2, 7.5)
    [changed, slower_still] = incidents_of(
        [(140, [deployed]), (3, [worse])], learned(calls=3), calls=3
    )

    assert [one.change for one in changed.history] == [Change.OPENED, Change.CHANGED]
    assert 100 < changed.ended - changed.since < 144
    assert slower_still.since == LEARNED + 140


@pytest.mark.parametrize(("failures", "status"), [(9, "unknown"), (4, "recovered")])
def test_few_calls_of_which_as_many_are_slow_as_before_are_no_recovery(
    failures: float, status: str
) -> None:
    slow = new_active(1, Locus(Kind.FIP, -1, 2), Symptom.SLOW, 0, 0, aas=3, fips=8)
    active = replace(slow, level=np.array([9.0, 3.0, -4.0, -4.0], np.float32), excess=0.5)
    total = np.array([-1.5, -3.0, -8.0, -12.0], np.float32)
    of_each = np.zeros((4, 3)), np.zeros((4, 8)), np.zeros((4, len(LANES)))
    view = View(total, total, *of_each, 12, failures, 4, Counted(12, failures, 4))

    for window in (1, 2, 3):
        active, found = follow(active, view, window)

    assert found == status


@pytest.mark.parametrize("hit", [failing(0.3, fip=2), failing(0.08, aa=2)])
def test_a_larger_part_or_that_of_an_aa_is_an_outage_however_long_it_lasts(hit: Fault) -> None:
    [outage] = incidents_of([(100, [hit])])

    assert outage.is_open


@pytest.mark.parametrize("fault", [failing(0.9, aa=0), failing(0.9)])
def test_where_one_aa_alone_calls_the_aa_and_the_network_are_in_doubt(fault: Fault) -> None:
    [alone] = incidents_of([(4, [fault])], learned(aas=1, fips=6))
    [known] = incidents_of([(4, [fault])], learned(aas=4, fips=6))

    places = {alone.cause.locus.kind, *(one.kind for one in alone.cause.ambiguous_with)}
    assert {Kind.AA, Kind.NETWORK} <= places
    assert known.cause.ambiguous_with == ()


def test_of_places_with_few_calls_fewer_show_by_chance_what_all_have() -> None:
    beyond = np.where(np.arange(40) < 28, 1.0, -1.0).astype(np.float32)

    assert nearly_all(beyond, np.full(40, 6, np.float32))
    assert not nearly_all(beyond, np.full(40, 60, np.float32))
    assert not nearly_all(-beyond, np.full(40, 6, np.float32))


def test_five_fips_that_fall_together_are_five_fips_and_neither_aas_nor_the_network() -> None:
    down = [failing(0.95, fip=fip) for fip in (1, 3, 5, 7, 9)]

    found = incidents_of([(4, down)], learned(aas=4, fips=MANY))

    assert sorted(one.cause.locus for one in found) == [
        Locus(Kind.FIP, fip=fip) for fip in (1, 3, 5, 7, 9)
    ]
