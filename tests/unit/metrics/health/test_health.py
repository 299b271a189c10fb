"""Success, status and proof: nothing is healthy for want of data."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.metrics.totals import together

from mudra.metrics.health.health import NO_CALLS, NO_OUTCOMES, ErrorDetails, Status
from mudra.metrics.health.judging import certainly_good, health_of, outcomes_of
from mudra.metrics.payload.report import NotificationBlock, RequestBlock
from mudra.metrics.rollup.coverage import Proof
from mudra.metrics.rollup.percentage import failing_text, percentage
from mudra.metrics.sums.cells import KEYS, Cells
from mudra.metrics.sums.totals import Totals

FAST = (100, 200, 300, 400)
ZERO = np.zeros(1, np.int64)
NOTHING = Cells(dict.fromkeys(KEYS, ZERO), {}, ZERO, None, None)
"""A row of sums without any call."""
COUNT = st.integers(0, 40) | st.integers(0, 2**53) | st.integers(2**60, 2**70)


def health_of_one(*blocks):
    (health,) = health_of(together(*blocks))
    return health


def calls(total, ok, pxx=FAST, **by_place):
    counts = [total, ok, *[0] * 13]
    for place, count in by_place.items():
        counts[int(place.removeprefix("at"))] = count
    return health_of_one(RequestBlock("cns", pxx, tuple(counts)))


def test_no_data_is_unsure_and_has_no_success_rate():
    assert health_of(Totals(NOTHING, [""])) == [NO_CALLS]
    assert (NO_CALLS.status, NO_CALLS.success, NO_CALLS.time) == (Status.UNSURE, None, None)


def test_only_4xx_answers_say_nothing_of_success():
    health = calls(10, 0, at5=10)

    assert (health.status, health.success, health.eligible) == (Status.UNSURE, None, 0)


@pytest.mark.parametrize(
    ("ok", "status"), [(9500, Status.BAD), (9501, Status.GOOD), (0, Status.BAD)]
)
def test_success_must_be_above_95_percent(ok, status):
    assert calls(10_000, ok, at10=10_000 - ok).status is status


@pytest.mark.parametrize(
    ("p50", "status", "certain"),
    [
        (4900, Status.GOOD, True),
        (4999, Status.GOOD, True),
        (5000, Status.BAD, True),
        (5100, Status.BAD, True),
    ],
)
def test_p50_must_be_below_5000_ms(p50, status, certain):
    health = calls(100, 100, (p50, 6000, 7000, 8000))

    assert (health.status, health.certain) == (status, certain)


@pytest.mark.parametrize("size", [10**5, 2**52, 9 * 10**15])
def test_one_failure_among_any_number_is_below_100_percent(size):
    health = calls(size, size - 1, at10=1)

    assert health.success is not None
    assert percentage(health.success) < 100
    assert failing_text(size - 1, size) != "0 %"
    assert failing_text(1, size) != "100 %"


def test_4xx_answers_are_left_out_of_the_denominator():
    health = calls(200, 97, at5=60, at2=40, at10=3)

    assert (health.eligible, health.success) == (100, 0.97)
    assert health.errors == ErrorDetails(not_found_404=60, other_4xx=40, server_5xx=3, no_answer=0)


def test_calls_without_an_answer_are_failures():
    health = calls(100, 90)

    assert (health.errors.no_answer, health.success, health.status) == (10, 0.9, Status.BAD)


def test_when_nothing_was_answered_the_api_is_bad_and_has_no_time():
    health = calls(50, 0)

    assert (health.status, health.success, health.time) == (Status.BAD, 0.0, None)


def test_a_status_is_not_certain_when_the_bounds_of_p50_lie_on_both_sides_of_the_limit():
    mixed = together(
        RequestBlock("cns", (100, 9000, 9000, 9000), (100, 100, *[0] * 13)),
        RequestBlock("cns", (8000, 9000, 9000, 9000), (120, 120, *[0] * 13)),
    )

    (sums,), (health,) = mixed.rows(), health_of(mixed)
    assert sums.late.lower <= 110 < sums.late.upper
    assert not health.certain


@pytest.mark.parametrize(
    ("counts", "status"),
    [
        ((100, 96, *[0] * 8, 4, 0, 0, 0, 0), Status.GOOD),
        ((100, 95, *[0] * 8, 5, 0, 0, 0, 0), Status.BAD),
        ((5, 0, 5, *[0] * 12), Status.UNSURE),
    ],
)
def test_notifications_are_judged_without_a_time(counts, status):
    health = health_of_one(NotificationBlock("cnot", counts))

    assert (health.status, health.time) == (status, None)


def test_fi_outcomes_come_from_the_status_array():
    block = NotificationBlock("finot", (50, 50, *[0] * 13), (30, 10, 28, 6, 2, 4, 7))
    (outcomes,) = outcomes_of(together(block, block).cells)

    assert (outcomes.ready, outcomes.denied, outcomes.delivered) == (56, 12, 4)
    assert (outcomes.timeout, outcomes.pending, outcomes.success) == (8, 14, 0.75)
    assert outcomes_of(NOTHING) == [NO_OUTCOMES]


@given(st.lists(st.tuples(COUNT, COUNT, COUNT, COUNT, COUNT, COUNT, COUNT), min_size=1))
def test_each_row_is_judged_alone_and_exactly(rows):
    """Rows of any size, next to each other: good, refused, failed and unanswered calls, late."""
    drawn = [
        (good, refused, failed, unanswered, *sorted(late % (good + 1) for late in bounds))
        for good, refused, failed, unanswered, *bounds in rows
    ]
    columns = [column_of([row[place] for row in drawn]) for place in range(7)]
    good, refused, failed, _, lower, estimate, upper = columns
    sums = {"c0": column_of([sum(row[:4]) for row in drawn]), "c1": good, "c3": refused,
            "c12": failed, "late_lower": lower, "late_estimate": estimate,
            "late_upper": upper}  # fmt: skip
    none = np.zeros(len(rows), np.int64)
    cells = Cells(dict.fromkeys(KEYS, none), sums, none, None, None)

    found = health_of(Totals(cells, [""]))

    assert [(one.status, one.certain, one.eligible) for one in found] == [*map(said, drawn)]
    assert certainly_good(cells).tolist() == [
        one.status is Status.GOOD and one.certain for one in found
    ]
    assert [one.errors for one in found] == [
        ErrorDetails(0, refused, failed, unanswered) for _, refused, failed, unanswered, *_ in drawn
    ]


def column_of(numbers):
    """A column as sums have it: Python's own numbers where 64 bits are too few."""
    return np.array(numbers, np.int64 if max(numbers) < 2**62 else object)


def said(row):
    """The rule for one row, in plain Python."""
    good, refused, failed, unanswered, lower, estimate, upper = row
    denominator, answered = good + failed + unanswered, good + refused + failed
    if not denominator:
        return Status.UNSURE, True, 0
    if Fraction(good, denominator) <= Fraction(95, 100):
        return Status.BAD, True, denominator
    possible = {Fraction(late, answered) <= Fraction(1, 2) for late in (lower, upper)}
    in_time = Fraction(estimate, answered) <= Fraction(1, 2)
    return (Status.GOOD if in_time else Status.BAD), len(possible) == 1, denominator


def test_a_proof_is_complete_with_every_window_that_was_expected():
    assert Proof(2, 3, 18, 18).complete
    assert not Proof(2, 3, 8, 18).complete
    assert not Proof(0, 0, 0, 0).complete
