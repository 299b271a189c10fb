"""The times of single blocks: every call has a place, near where it truly was."""

from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.metrics.random_blocks import MOST, TIMES

from mudra.metrics.sums.block_times import cell_of, first_of, times_of


def point(times: list[int], percent: int) -> int:
    """Nearest rank, by sorting."""
    return sorted(times)[-(-len(times) * percent // 100) - 1]


def points_of(times: list[int]) -> list[int]:
    return [point(times, percent) for percent in (50, 95, 99, 100)]


@given(st.lists(TIMES, min_size=1, max_size=50))
def test_a_cell_contains_its_times_and_is_an_eighth_wide(times: list[int]):
    time = np.array(times)

    first, after = first_of(cell_of(time)), first_of(cell_of(time) + 1)

    assert ((first <= time) & (time < after)).all()
    assert ((after - first - 1) * 8 <= first).all()


@given(
    st.lists(
        st.tuples(st.integers(1, MOST), st.tuples(TIMES, TIMES, TIMES, TIMES)),
        min_size=1,
        max_size=8,
    )
)
def test_every_call_has_a_place_between_the_points(blocks: list[tuple[int, tuple[int, ...]]]):
    samples = np.array([number for number, _ in blocks])
    pxx = np.array([sorted(four) for _, four in blocks]).T

    found = times_of(samples, pxx)

    placed = np.zeros(len(blocks), np.int64)
    for row, place, calls in found.placed():
        np.add.at(placed, row, calls)
        assert (calls > 0).all()
        assert (place <= cell_of(pxx[3])[row]).all()
    assert placed.tolist() == samples.tolist()
    lower, upper, estimate = found.late
    assert ((lower >= 0) & (lower <= estimate) & (estimate <= upper) & (upper <= samples)).all()


@given(st.lists(st.lists(st.integers(0, 9000), min_size=1, max_size=130), min_size=1, max_size=6))
def test_bounds_of_late_calls_contain_the_truth(blocks: list[list[int]]):
    found = times_of(
        np.array([len(times) for times in blocks]), np.array([points_of(one) for one in blocks]).T
    )

    late = [sum(time >= 5000 for time in times) for times in blocks]
    assert (found.late[0] <= late).all()
    assert (found.late[1] >= late).all()


@pytest.mark.parametrize("calls", [100, 1000, 20_000])
def test_calls_along_a_normal_curve_are_placed_where_they_were(calls: int):
    curve = NormalDist(np.log(800), 0.5)
    times = [round(np.exp(curve.inv_cdf((place + 0.5) / calls))) for place in range(calls)]
    known = [one for one in times if one >= 800 / 4]  # the curve ends at a quarter of p50

    found = times_of(np.array([calls]), np.array([points_of(times)]).T)

    true = np.bincount(cell_of(np.array(times)), minlength=500)
    estimated = np.zeros(500)
    for _, place, of_place in found.placed():
        np.add.at(estimated, place, of_place)
    assert np.abs(true - estimated).sum() <= 0.02 * calls + 12 + 2 * (calls - len(known))
    assert abs(int(found.late[2, 0]) - sum(time >= 5000 for time in times)) <= 1


@pytest.mark.parametrize(
    ("p95", "late"),
    [
        (4970 + 450 * 49, (51, 500)),  # a rank is 49 ms wide, under 1 %: the median is certain
        (4970 + 450 * 50, (51, 1000)),  # 50 ms, over 1 %: it may have taken 5020 ms
    ],
)
def test_a_point_is_trusted_to_one_rank_if_that_is_over_one_percent(
    p95: int, late: tuple[int, int]
):
    found = times_of(np.array([1000]), np.array([[4970], [p95], [p95], [p95]]))

    assert tuple(found.late[:2, 0].tolist()) == late
