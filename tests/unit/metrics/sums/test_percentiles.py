"""Percentiles of sums: in the cell of time in which the call of their rank is."""

from itertools import accumulate

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.depth import examples, with_every_change
from tests.support.metrics.random_blocks import Reported, reported_once, reports_of

from mudra.metrics.payload.catalogue import Tag
from mudra.metrics.payload.report import RequestBlock
from mudra.metrics.sums.adding import added
from mudra.metrics.sums.block_times import first_of
from mudra.metrics.sums.cells import KEYS, POINTS, Cells, Names
from mudra.metrics.sums.percentiles import percentile, percentiles_of
from mudra.metrics.sums.plain_percentile import plain_percentile
from mudra.metrics.sums.report_cells import report_cells


@settings(max_examples=examples(12))
@given(reported_once(), st.sampled_from([(), ("fip",), ("at", "type")]), st.integers(0, 70))
def test_a_percentile_is_in_the_cell_of_its_rank(
    blocks: list[Reported], by: tuple[str, ...], doublings: int
):
    names = Names()
    total = added([report_cells(one, names) for one in reports_of(blocks)], by)
    for _ in range(doublings):  # far beyond 64 bits
        total = added([total, total])

    assert total.rises is not None
    rows = np.repeat(np.arange(len(total)), total.rises.width)
    of_rises = (rows, total.rises.place, total.rises.calls)
    rises = [*zip(*(column.tolist() for column in of_rises), strict=True)]
    for percent in (1, 50, 95, 99, 100):
        found = percentile(total, percent)
        assert found.dtype == np.int64
        for row, longest in enumerate(total.longest.tolist()):
            mine = [(place, calls) for at, place, calls in rises if at == row]
            samples = sum(calls for _, calls in mine)
            (of_one,) = percentiles_of([(dict(mine), percent, longest)])
            assert of_one == plain_percentile(dict(mine), percent, longest)
            if not samples:
                assert found[row] == -1
                assert of_one is None
                continue
            assert found[row] == of_one
            wanted = -(-samples * percent // 100)
            until = accumulate(calls for _, calls in mine)
            place = next(
                place for (place, _), calls in zip(mine, until, strict=True) if calls >= wanted
            )
            first, after = first_of(np.array([place, place + 1])).tolist()
            assert min(first, longest) <= found[row] <= min(after, longest)


_TIMES = st.dictionaries(st.integers(0, 400), st.integers(1, 2**60), max_size=40)


_ASKED = st.tuples(_TIMES, st.sampled_from([1, 50, 95, 99, 100]), st.integers(0, 2**53 - 1))


@given(st.lists(_ASKED, max_size=5))
def test_columns_and_plain_numbers_have_the_same_percentiles(
    asked: list[tuple[dict[int, int], int, int]],
):
    assert percentiles_of(asked) == [plain_percentile(*one) for one in asked]


def reported_of(at: int, times: np.typing.NDArray[np.float64]) -> Reported:
    ordered = np.sort(times).astype(int)
    pxx = tuple(int(ordered[-(-len(ordered) * one // 100) - 1]) for one in (50, 95, 99, 100))
    counts = (len(times), len(times), *[0] * 13)
    return Reported(at, "AA-1", Tag.REQUESTS, "FIP-A", RequestBlock("cns", pxx, counts))


@pytest.mark.parametrize("percent", [50, 95, 99])
def test_percentiles_of_many_blocks_are_near_the_truth(percent: int):
    dice = np.random.default_rng(3)
    names = Names()
    times = [np.rint(dice.lognormal(6.2, 0.6, 500)) for _ in range(40)]
    blocks = [reported_of(at, one) for at, one in enumerate(times)]

    total = added([report_cells(one, names) for one in reports_of(blocks)], ())

    every = np.sort(np.concatenate(times))
    true = every[-(-len(every) * percent // 100) - 1]
    assert int(percentile(total, percent)[0]) == pytest.approx(true, rel=0.05)


def _points(times: np.ndarray, interpolates: bool) -> list[int]:
    """The four points as an agent finds them."""
    ordered = np.sort(times)
    if interpolates:
        return [round(float(np.quantile(ordered, share))) for share in (0.5, 0.95, 0.99, 1.0)]
    ranks = (-(-len(ordered) * percent // 100) for percent in (50, 95, 99, 100))
    return [round(float(ordered[rank - 1])) for rank in ranks]


@pytest.mark.parametrize("calls", with_every_change([2, 20], [2, 4, 8, 20]))
@pytest.mark.parametrize("interpolates", [False, True])
def test_the_median_of_many_small_reports_has_no_bias(calls: int, interpolates: bool):
    dice, errors = np.random.default_rng(7), []
    for _ in range(12):
        reports = [dice.lognormal(5.6, 0.55, max(1, dice.poisson(calls))) for _ in range(150)]
        pxx = np.array([_points(one, interpolates) for one in reports])
        counts = np.array([len(one) for one in reports])
        keys = dict.fromkeys(KEYS, np.ones(len(reports), np.int64))
        points = {name: pxx[:, place] for place, name in enumerate(POINTS)}
        total = added([Cells(keys, {"c0": counts, "c1": counts}, pxx[:, 3], points, None)], ())
        errors.append(percentile(total, 50)[0] / np.median(np.concatenate(reports)) - 1)

    assert abs(float(np.mean(errors))) < 0.015
