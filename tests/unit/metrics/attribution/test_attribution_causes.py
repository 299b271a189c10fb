"""Which cause is named, from a network with even traffic and something wrong in it."""

import numpy as np
import pytest
from tests.unit.metrics.attribution.attribution import (
    FINOT,
    REQUESTS,
    Fault,
    evaluate,
    even_window,
    failing,
    learned,
    named,
)

from mudra.metrics.attribution.baselines.reporters import Doubt
from mudra.metrics.attribution.causes.cause import Kind, Locus
from mudra.metrics.attribution.engine import evaluate_window
from mudra.metrics.attribution.evidence.evidence import Evidence
from mudra.metrics.attribution.evidence.lanes import CALL_APIS, Symptom
from mudra.metrics.attribution.state import grown
from mudra.metrics.payload.catalogue import RequestType

FIP_2 = Locus(Kind.FIP, fip=2)


@pytest.mark.parametrize(
    ("fault", "locus"),
    [
        (failing(0.8, fip=2), FIP_2),
        (failing(0.8, aa=1), Locus(Kind.AA, aa=1)),
        (failing(0.8, aa=1, fip=2), Locus(Kind.PATH, 1, 2)),
        (
            failing(0.8, fip=2, api=RequestType.FI_FETCH),
            Locus(Kind.FIP_API, fip=2, apis=(RequestType.FI_FETCH,)),
        ),
        (
            failing(0.8, aa=1, api=RequestType.CONSENT),
            Locus(Kind.AA_API, aa=1, apis=(RequestType.CONSENT,)),
        ),
        (failing(0.8), Locus(Kind.NETWORK)),
    ],
    ids=["fip", "aa", "path", "fip-api", "aa-api", "network"],
)
def test_the_place_of_failures_is_named(fault: Fault, locus: Locus) -> None:
    _, causes = evaluate(learned(), [fault], 2)

    [cause] = causes
    assert cause.locus == locus
    assert cause.symptoms[0] is Symptom.FAILURES
    assert cause.failures > 10 * cause.expected > 0


def test_two_of_three_fips_that_one_aa_alone_calls_are_two_causes_and_not_the_aa() -> None:
    down = [failing(0.9, fip=0), failing(0.8, fip=1)]

    _, causes = evaluate(learned(aas=1, fips=3), down, 3)

    assert {cause.locus.fip for cause in causes} == {0, 1}
    assert Kind.AA not in {cause.locus.kind for cause in causes}
    _, [cause] = evaluate(learned(aas=1, fips=3), [failing(0.9)], 3)
    assert cause.locus.kind in {Kind.AA, Kind.NETWORK}


def test_two_faults_that_cross_are_two_causes() -> None:
    _, causes = evaluate(learned(), [failing(0.9, fip=2), failing(0.7, aa=1)], 3)

    assert named(causes) == {FIP_2, Locus(Kind.AA, aa=1)}


def test_a_cause_says_what_it_affects() -> None:
    _, [cause] = evaluate(learned(), [failing(0.9, fip=2)], 4)

    assert cause.affected_aas == (0, 1, 2, 3, 4)
    assert cause.affected_fips == (2,)
    assert set(cause.affected_apis) == set(CALL_APIS[REQUESTS])


def slower(factor: float, first_point: int) -> Fault:
    def apply(evidence: Evidence) -> None:
        evidence.percentiles[:9, :, 2, first_point:] *= factor

    return apply


def test_a_slow_fip_is_named_with_its_symptom() -> None:
    _, [cause] = evaluate(learned(), [slower(6, 0)], 2)

    assert cause.locus == FIP_2
    assert Symptom.SLOW in cause.symptoms


def test_a_tail_ten_times_as_slow_is_found() -> None:
    _, [cause] = evaluate(learned(calls=200), [slower(10, 1)], 2, calls=200)

    assert cause.locus == FIP_2
    assert cause.symptoms == (Symptom.TAIL,)


def test_refused_requests_of_one_aa_stay_its_own() -> None:
    def storm(evidence: Evidence) -> None:
        evidence.client_errors[REQUESTS, 1] = evidence.total[REQUESTS, 1] * 0.7
        evidence.failed[REQUESTS, 1] = 0

    _, [cause] = evaluate(learned(), [storm], 2)

    assert cause.locus == Locus(Kind.AA, aa=1)
    assert cause.symptoms == (Symptom.CLIENT_ERRORS,)


def test_requests_that_end_without_data_are_found() -> None:
    def denied(evidence: Evidence) -> None:
        evidence.statuses[:2, :, 2] = evidence.statuses[1::-1, :, 2]

    _, [cause] = evaluate(learned(), [denied], 2)

    assert (cause.locus.kind, cause.locus.fip) in {(Kind.FIP, 2), (Kind.FIP_API, 2)}
    assert cause.symptoms == (Symptom.OUTCOMES,)


def test_notifications_that_never_come_are_found() -> None:
    def lost(evidence: Evidence) -> None:
        evidence.total[FINOT, :, 2] = evidence.client_errors[FINOT, :, 2] = 0
        evidence.statuses[:, :, 2] = 0

    _, [cause] = evaluate(learned(), [lost], 2)

    assert (cause.locus.kind, cause.locus.fip) in {(Kind.FIP, 2), (Kind.FIP_API, 2)}
    assert cause.symptoms == (Symptom.MISSING,)


def test_an_agent_that_misses_two_windows_is_silent() -> None:
    def silent(evidence: Evidence) -> None:
        evidence.reported[3] = False
        evidence.total[:, 3] = 0

    state, once = evaluate(learned(), [silent], 1)
    _, [twice] = evaluate(state, [silent], 1)

    assert once == ()
    assert twice.locus == Locus(Kind.AGENT, aa=3)


def test_an_idle_aa_is_not_silent_and_nothing_is_wrong_with_it() -> None:
    def idle(evidence: Evidence) -> None:
        for part in (evidence.total, evidence.failed, evidence.client_errors, evidence.samples,
                     evidence.statuses, evidence.percentiles):  # fmt: skip
            part[:, 3] = 0

    _, causes = evaluate(learned(), [idle], 4)

    assert causes == ()


def test_planned_maintenance_is_no_cause() -> None:
    def maintained(evidence: Evidence) -> None:
        evidence.maintained_fips[2] = True

    _, causes = evaluate(learned(), [failing(1.0, fip=2), maintained], 4)

    assert causes == ()


def test_a_fip_that_always_fails_3_percent_is_not_failing() -> None:
    state, _ = evaluate(learned(), [failing(0.03, fip=2)], 100, calls=1000)

    _, causes = evaluate(state, [failing(0.033, fip=2)], 10, calls=1000)

    assert causes == ()


def test_two_calls_in_a_window_are_enough_in_the_end() -> None:
    def quiet(evidence: Evidence) -> None:
        for part in (evidence.total, evidence.failed, evidence.client_errors, evidence.samples,
                     evidence.statuses, evidence.percentiles):  # fmt: skip
            part[:, :, 2] = 0
        evidence.total[0, :2, 2] = 1

    def unanswered(evidence: Evidence) -> None:
        evidence.failed[0, :2, 2] = 1

    state, _ = evaluate(learned(), [quiet], 20)
    _, causes = evaluate(state, [quiet, unanswered], 12)

    [cause] = causes
    assert cause.locus.fip == 2
    assert cause.locus.kind in {Kind.FIP, Kind.FIP_API}


def test_an_implausible_volume_is_left_out_and_said() -> None:
    state = learned()
    evidence = even_window(state.window + 1, 5, 6, 40)
    evidence.total[0, 4, 1] = 9e15

    evaluation = evaluate_window(evidence, state)

    [doubt] = evaluation.implausible
    assert (doubt.aa, doubt.doubt) == (4, Doubt.VOLUME)
    assert doubt.claimed > doubt.limit
    assert evaluation.causes == ()
    assert evaluation.state.history.peak[4] <= state.history.peak[4]


def test_members_that_join_leave_what_is_known_as_it_is() -> None:
    state, before = evaluate(learned(), [failing(0.9, fip=2)], 3)

    larger = grown(state, 7, 9)

    _, after = evaluate(larger, [failing(0.9, fip=2)], 1)
    assert named(before) == named(after) == {FIP_2}
    assert np.array_equal(larger.rates.fip_bad[:, :6], state.rates.fip_bad)
