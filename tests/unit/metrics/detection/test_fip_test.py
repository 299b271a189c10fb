"""The state of a FIP in the feed: by few windows, never by chance, never by one AA of several."""

from datetime import UTC, datetime

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from mudra.metrics.attribution.causes.cause import Cause, CauseStatus, Kind, Locus
from mudra.metrics.attribution.evidence.evidence import Evidence, empty_evidence
from mudra.metrics.attribution.evidence.lanes import CALL_APIS, TIMED_APIS, Symptom
from mudra.metrics.detection.fip_counts import (
    FipCounts,
    counts_from_bytes,
    counts_to_bytes,
    fip_counts,
)
from mudra.metrics.detection.fip_test import fip_states
from mudra.metrics.health.fip_state import ApiState, FipStates, Reason
from mudra.metrics.health.health import Status
from mudra.metrics.payload.catalogue import RequestType

AT = datetime(2026, 3, 4, 12, tzinfo=UTC)
FIPS = ("", "BANK-1")
CONSENT, TIMED = CALL_APIS.index(RequestType.CONSENT), TIMED_APIS.index(RequestType.CONSENT)


def window(*by_aa: tuple[int, int], ms: int = 300) -> Evidence:
    """Calls and failures of each AA."""
    evidence = empty_evidence(100, len(by_aa), len(FIPS))
    for aa, (calls, failed) in enumerate(by_aa):
        evidence.total[CONSENT, aa, 1] = calls
        evidence.failed[CONSENT, aa, 1] = failed
        evidence.samples[TIMED, aa, 1] = calls
        evidence.percentiles[TIMED, aa, 1] = ms, ms + 1, ms + 2, ms + 3
    return evidence


def counted(evidence: Evidence, *causes: Cause) -> FipCounts:
    return fip_counts(evidence, FIPS, causes, ())


def state(*windows: Evidence, causes: tuple[Cause, ...] = ()) -> ApiState:
    """After the last of these windows."""
    counts = [counted(one) for one in windows]
    return fip_states(AT, counts, causes, None).of("BANK-1", "consent")


def cause(kind: Kind, aa: int, fip: int, *symptoms: Symptom, apis: tuple[str, ...] = ()) -> Cause:
    return Cause(
        1, Locus(kind, aa, fip, apis), symptoms or (Symptom.FAILURES,), 99, CauseStatus.BAD, 100, 50, 1, 50, (0,), (1,), ()
    )  # fmt: skip


GOOD, DOWN = window((60, 0), (60, 1), (60, 0)), window((60, 58), (60, 60), (60, 59))


def test_enough_good_calls_are_good_in_one_window_with_the_calls_and_reporters_behind() -> None:
    found = state(GOOD)

    assert (found.status, found.calls, found.failed, found.reporters) == (Status.GOOD, 180, 1, 3)
    assert found.windows == 1
    assert 0.95 <= found.confidence <= 0.9999


def test_few_calls_are_unsure_until_they_add_up() -> None:
    few = window((2, 0), (2, 0))

    assert state(few).status is Status.UNSURE
    assert state(*[few] * 12).status is Status.GOOD
    assert state(window((0, 0))).status is Status.UNSURE


def test_two_bad_windows_are_bad_and_one_is_not_yet() -> None:
    assert state(GOOD, DOWN).status is Status.UNSURE
    assert state(GOOD, DOWN, DOWN).status is Status.BAD


def test_a_fip_that_recovers_is_good_within_two_windows_and_never_bad_by_the_past() -> None:
    small = window((10, 0), (10, 0), (10, 0))

    assert state(*[DOWN] * 6, GOOD).status is Status.GOOD
    assert state(*[window((10, 10), (10, 10))] * 6, small, small).status is not Status.BAD


def test_slow_calls_are_bad_and_half_of_them_is_the_limit() -> None:
    assert state(*[window((60, 0), (60, 0), ms=9_000)] * 2).status is Status.BAD
    assert state(*[window((60, 0), (60, 0), ms=4_900)] * 2).status is Status.GOOD


def test_no_single_aa_of_three_turns_a_state() -> None:
    liar_up = window((60, 60), (60, 60), (9_000, 0))
    liar_down = window((60, 0), (60, 0), (9_000, 9_000))

    assert state(*[liar_up] * 3).status is not Status.GOOD
    assert state(*[liar_down] * 3).status is not Status.BAD


def test_what_a_path_or_an_aa_explains_is_left_out() -> None:
    one_path = window((60, 60), (60, 0), (60, 0))
    counts = [counted(one_path, cause(Kind.PATH, 0, 1))]

    found = fip_states(AT, counts, (), None).of("BANK-1", "consent")

    assert (found.status, found.calls, found.reporters) == (Status.GOOD, 120, 2)


def test_a_cause_at_the_fip_is_bad_at_once() -> None:
    assert state(window((3, 3)), causes=(cause(Kind.FIP, -1, 1),)).status is Status.BAD


def test_a_cause_by_which_few_calls_fail_is_degraded_until_the_rule_is_broken() -> None:
    few = replace(cause(Kind.FIP, -1, 1), few_fail=True)
    some, many = window((60, 5), (60, 4), (60, 4)), window((900, 70), (900, 75), (900, 72))

    found = state(GOOD, some, some, causes=(few,))
    assert (found.status, found.reasons) == (Status.DEGRADED, (Reason.FAILING,))
    assert state(*[many] * 4, causes=(few,)).status is Status.BAD


def test_a_cause_that_the_rule_allows_is_degraded_with_its_reason_while_the_rule_is_kept() -> None:
    for symptom, reason in ((Symptom.SLOW, Reason.SLOW), (Symptom.TAIL, Reason.TAIL),
                            (Symptom.CLIENT_ERRORS, Reason.REFUSING)):  # fmt: skip
        found = state(GOOD, GOOD, causes=(cause(Kind.FIP, -1, 1, symptom),))
        assert (found.status, found.reasons) == (Status.DEGRADED, (reason,))

    slow = [window((60, 0), (60, 0), (60, 0), ms=9_000)] * 2
    broken = state(*slow, causes=(cause(Kind.FIP, -1, 1, Symptom.SLOW),))
    assert (broken.status, broken.reasons) == (Status.BAD, (Reason.SLOW,))
    assert state(*slow).reasons == (Reason.SLOW,)
    assert state(GOOD, DOWN, DOWN).reasons == (Reason.FAILING,)
    assert state(GOOD, GOOD).reasons == ()


def test_a_fip_that_is_down_is_bad_in_apis_that_are_called_seldom_but_not_in_those_that_work() -> (
    None
):
    down = (cause(Kind.FIP, -1, 1, apis=()),)
    of_heartbeats = replace(down[0], affected_apis=("hbt",))

    assert state(window((1, 0)), causes=(of_heartbeats,)).status is Status.BAD
    assert state(GOOD, GOOD, causes=(of_heartbeats,)).status is Status.GOOD


def test_a_fip_that_is_down_is_not_good_by_what_was_before() -> None:
    down = replace(cause(Kind.FIP, -1, 1), affected_apis=("hbt",))
    no_calls = window((0, 0), (0, 0), (0, 0))

    assert state(GOOD, GOOD, no_calls).status is Status.GOOD
    assert state(GOOD, GOOD, no_calls, causes=(down,)).status is Status.BAD


def test_what_heartbeats_alone_show_is_unsure_and_says_so() -> None:
    down = replace(cause(Kind.FIP, -1, 1), affected_apis=("hbt",), of_heartbeats=True)
    no_calls = window((0, 0), (0, 0), (0, 0))

    for windows in ([no_calls], [GOOD, GOOD, no_calls], [window((1, 0))]):
        found = state(*windows, causes=(down,))
        assert (found.status, found.reasons) == (Status.UNSURE, (Reason.HEARTBEATS,))
    assert state(GOOD, GOOD, causes=(down,)).status is Status.GOOD
    slow = replace(down, symptoms=(Symptom.FAILURES, Symptom.SLOW), affected_apis=("cns",))
    found = state(GOOD, causes=(slow,))
    assert (found.status, found.reasons) == (Status.DEGRADED, (Reason.SLOW,))


def test_a_slow_or_refusing_fip_is_degraded_where_calls_are_few_and_not_by_outcomes_alone() -> None:
    few = window((1, 0))
    for symptom, status in (
        (Symptom.SLOW, Status.DEGRADED),
        (Symptom.CLIENT_ERRORS, Status.DEGRADED),
        (Symptom.OUTCOMES, Status.UNSURE),
    ):
        shown = replace(cause(Kind.FIP, -1, 1, symptom), affected_apis=("hbt",))
        assert state(few, causes=(shown,)).status is status


def test_in_a_maintenance_and_after_it_nothing_of_before_is_known() -> None:
    during = window((60, 60), (60, 60))
    during.maintained_fips[1] = True

    found = state(GOOD, GOOD, during)
    assert (found.status, found.reasons) == (Status.UNSURE, (Reason.MAINTENANCE,))
    after = state(GOOD, GOOD, during, window((5, 0), (5, 0)))
    assert (after.status, after.calls, after.reasons) == (Status.UNSURE, 10, ())


def test_since_is_the_first_window_of_a_status() -> None:
    first = fip_states(AT, [counted(GOOD)], (), None)
    earlier = FipStates(AT, {"BANK-1": tuple(
        ApiState(one.status, 0.9, 1, 0, 1, 1, 7) for one in first.fips["BANK-1"]
    )})  # fmt: skip

    found = fip_states(AT, [counted(GOOD)], (), earlier)

    assert first.of("BANK-1", "consent").since == int(AT.timestamp())
    assert found.of("BANK-1", "consent").since == 7


@given(st.integers(0, 400), st.integers(1, 400), st.integers(1, 6))
def test_one_failure_more_is_never_a_better_state(failed: int, more: int, windows: int) -> None:
    calls, order = 801, [Status.GOOD, Status.UNSURE, Status.BAD]
    few = state(*[window((calls, failed), (calls, failed))] * windows)
    many = state(*[window((calls, failed + more), (calls, failed + more))] * windows)

    assert order.index(few.status) <= order.index(many.status)


def test_counts_survive_storage_and_another_order_of_fips() -> None:
    counts = counted(GOOD)
    read = counts_from_bytes(counts_to_bytes(counts))

    assert np.array_equal(read.sums, counts.sums)
    swapped = FipCounts(("BANK-1", "NEW"), np.zeros_like(counts.sums))
    found = fip_states(AT, [read, swapped], (), None).of("BANK-1", "consent")
    assert found.calls == 180
