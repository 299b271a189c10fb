"""Bounds against the raw samples that no one has in real life."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.metrics.metrics_payloads import request_block

from mudra.metrics.payload.catalogue import RequestType
from mudra.metrics.payload.report import RequestBlock
from mudra.metrics.rollup.block_times import coarse_cell, coarse_cell_edges, rank
from mudra.metrics.rollup.latency_distribution import (
    NOTHING,
    coarsen,
    distribution_of_blocks,
    merge_distributions,
)
from mudra.metrics.rollup.percentile import Percentile, percentile, response_time
from mudra.metrics.rollup.rollup import EMPTY, coarse, merge_all, rollup

PERCENTS = (50, 95, 99)
TIMES = st.one_of(st.integers(0, 40), st.integers(0, 60_000), st.integers(0, 2**53 - 1))
SAMPLES = st.lists(st.lists(TIMES, min_size=1, max_size=130), min_size=1, max_size=12)


def true_percentile(samples: list[int], percent: int) -> int:
    """By sorting all samples: nearest rank, written as its definition reads."""
    ordered = sorted(samples)
    return next(
        value
        for place, value in enumerate(ordered, start=1)
        if place * 100 >= percent * len(ordered)
    )


def block_of(samples: list[int]) -> tuple[int, tuple[int, int, int, int]]:
    p50, p95, p99, p100 = (true_percentile(samples, percent) for percent in (50, 95, 99, 100))
    return len(samples), (p50, p95, p99, p100)


def skewed(dice: random.Random, size: int, middle: float, width: float) -> list[int]:
    return [int(dice.lognormvariate(middle, width)) for _ in range(size)]


@settings(max_examples=400)
@given(SAMPLES)
def test_the_true_percentile_of_the_union_lies_within_the_bounds(parts):
    union = [sample for part in parts for sample in part]
    exact = distribution_of_blocks(block_of(part) for part in parts)

    for distribution in (exact, coarsen(exact)):
        assert distribution.samples == len(union)
        assert distribution.longest == max(union)
        for percent in PERCENTS:
            found = percentile(distribution, percent)
            assert found.low <= true_percentile(union, percent) <= found.high
            assert found.low <= found.estimate <= found.high


@given(st.integers(0, 10**9), st.integers(1, 20))
@settings(max_examples=60)
def test_the_bounds_hold_for_uneven_reporters_over_many_windows(seed, reporters):
    dice = random.Random(seed)
    parts = [
        skewed(dice, dice.randint(1, 400), dice.uniform(3, 9), dice.uniform(0.1, 1.5))
        for _ in range(reporters)
        for _ in range(dice.randint(1, 6))
    ]
    union = [sample for part in parts for sample in part]
    stored = merge_distributions(
        coarsen(distribution_of_blocks([block_of(part)])) for part in parts
    )

    for percent in PERCENTS:
        found = percentile(stored, percent)
        assert found.low <= true_percentile(union, percent) <= found.high


def test_one_block_gives_back_its_own_figures():
    time = response_time(distribution_of_blocks([(1000, (120, 800, 1500, 4100))]))

    assert time is not None
    assert [one.estimate for one in (time.p50, time.p95, time.p99)] == [120, 800, 1500]
    assert (time.p100, time.samples) == (4100, 1000)


def test_no_report_is_taken_for_exact():
    time = response_time(distribution_of_blocks([(1000, (120, 120, 120, 300))]))

    assert time is not None
    assert time.p50 == Percentile(118, 122, 120)
    assert not time.p50.exact


def test_blocks_that_agree_give_back_their_common_figures():
    distribution = distribution_of_blocks([(1000, (120, 800, 1500, 4100))] * 144)

    assert percentile(distribution, 95).estimate == 800


def test_the_bounds_of_stored_rows_are_wider_by_one_cell_at_most():
    blocks = [(400 + n, (200 + n, 900 + 3 * n, 1500 + 5 * n, 4000 + 9 * n)) for n in range(50)]
    exact = distribution_of_blocks(blocks)

    for percent in PERCENTS:
        fine, stored = percentile(exact, percent), percentile(coarsen(exact), percent)
        assert fine.low * 15 / 16 - 2 <= stored.low <= fine.low
        assert fine.high <= stored.high <= fine.high * 17 / 16 + 2


def test_the_estimate_is_near_where_the_median_of_percentiles_is_far_off():
    dice = random.Random(7)
    busy_and_slow = [skewed(dice, 6000, 7.5, 0.5) for _ in range(6)]
    small_and_fast = [skewed(dice, 150, 4.5, 0.3) for _ in range(9 * 6)]
    parts = busy_and_slow + small_and_fast
    union = [sample for part in parts for sample in part]
    stored = merge_distributions(
        coarsen(distribution_of_blocks([block_of(part)])) for part in parts
    )

    for percent in PERCENTS:
        truth = true_percentile(union, percent)
        today = sorted(true_percentile(part, percent) for part in parts)[len(parts) // 2]
        assert percentile(stored, percent).estimate == pytest.approx(truth, rel=0.2)
        assert today < truth * 0.3


def test_no_answered_call_means_no_response_time():
    assert response_time(NOTHING) is None
    assert response_time(distribution_of_blocks([(0, (5, 5, 5, 5))])) is None


def test_figures_that_no_calls_can_have_still_give_ordered_bounds():
    found = percentile(distribution_of_blocks([(1, (10, 20, 30, 40))]), 50)

    assert found.low <= found.estimate <= found.high


@given(st.integers(0, 2**53 - 1))
def test_a_time_lies_in_its_cell_and_the_cell_is_narrow(milliseconds):
    first, end = coarse_cell_edges(coarse_cell(milliseconds))

    assert first <= milliseconds <= end
    assert end - first <= first / 16
    assert coarse_cell(end + 1) == coarse_cell(milliseconds) + 1
    assert coarse_cell(2**53 - 1) < 2**15


@given(st.integers(1, 10**6), st.sampled_from([50, 95, 99, 100]))
def test_the_rank_is_the_first_that_reaches_the_share(samples, percent):
    found = rank(samples, percent)

    assert found * 100 >= percent * samples > (found - 1) * 100


BLOCKS = st.builds(
    lambda seed, calls: request_block(RequestType.FI_FETCH, seed, calls),
    st.integers(0, 1000),
    st.integers(0, 900),
)
ROWS = st.builds(
    lambda blocks, stored: coarse(rollup(blocks)) if stored else rollup(blocks),
    st.lists(BLOCKS, max_size=4),
    st.booleans(),
)


@given(ROWS, ROWS, ROWS)
def test_merging_is_associative_and_commutative_and_has_a_neutral_row(a, b, c):
    assert (
        merge_all([merge_all([a, b]), c])
        == merge_all([a, merge_all([b, c])])
        == merge_all([c, a, b])
    )
    assert merge_all([a, b]) == merge_all([b, a])
    assert merge_all([a, EMPTY]) == a


@given(st.lists(BLOCKS, min_size=1, max_size=12), st.randoms())
def test_rows_by_hour_merged_by_day_equal_the_day_made_from_raw_blocks(blocks, dice):
    shuffled = blocks[:]
    dice.shuffle(shuffled)
    cut = dice.randint(0, len(blocks))

    hours = [coarse(rollup(shuffled[:cut])), coarse(rollup(shuffled[cut:]))]

    assert merge_all(hours) == coarse(rollup(blocks))


def test_a_row_adds_counts_statuses_and_data_of_any_size():
    big = RequestBlock("fif", (1, 2, 3, 4), (5, 4, 1, *[0] * 12), "9" * 60)

    row = rollup([big, big])

    assert row.blocks == 2
    assert row.counts == (10, 8, 2, *[0] * 12)
    assert row.data_bytes == 2 * int("9" * 60)
    assert row.times.samples == 10
