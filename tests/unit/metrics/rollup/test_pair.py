"""What is added up for the matrix, or for the watch, says the same as the whole health."""

from functools import reduce

from hypothesis import given
from hypothesis import strategies as st

from mudra.metrics.health.health import Status, health_of_calls
from mudra.metrics.health.weighing import weigh
from mudra.metrics.payload.report import RequestBlock
from mudra.metrics.rollup.latency_distribution import (
    coarsen,
    dense,
    merge_dense,
    merge_distributions,
)
from mudra.metrics.rollup.pair import (
    SOON_BEFORE_MS,
    add_pairs,
    is_good_in_sums,
    pair_sums,
    pair_sums_of,
    status_of_pair,
)
from mudra.metrics.rollup.rollup import coarse, merge_all, rollup

_AROUND_THE_LIMIT = st.one_of(st.integers(0, 40), st.integers(4500, 5600), st.integers(0, 60_000))


@st.composite
def blocks(draw):
    answers = draw(st.lists(st.integers(0, 30), min_size=14, max_size=14))
    if draw(st.booleans()):
        answers = [draw(st.integers(0, 200)), *([0] * 13)]
    total = sum(answers) + draw(st.integers(0, 5))
    pxx = tuple(sorted(draw(st.lists(_AROUND_THE_LIMIT, min_size=4, max_size=4))))
    return RequestBlock("fif", pxx, (total, *answers))


@given(st.lists(blocks(), min_size=1, max_size=6))
def test_the_verdict_of_the_few_sums_is_that_of_all_figures(found):
    rows = [coarse(rollup([block])) for block in found]
    added = pair_sums(rows[0])
    for row in rows[1:]:
        added = add_pairs(added, pair_sums(row))

    assert added == pair_sums(merge_all(rows)) == pair_sums_of(found)
    assert status_of_pair(added) is health_of_calls(merge_all(rows)).status


@given(st.lists(blocks(), min_size=1, max_size=6))
def test_spreads_without_holes_add_up_like_those_by_cell(found):
    distributions = [coarsen(rollup([block]).times) for block in found]

    together = merge_dense(
        [dense(one) for one in distributions], max(one.longest for one in distributions)
    )

    assert together == merge_distributions(distributions)


@st.composite
def good_blocks(draw):
    """Draw a GOOD block: over 95 % succeeded, the median ended soon by each of its bounds."""
    good = draw(st.integers(100, 300))
    other = draw(st.integers(0, (good - 1) // 19))
    # Of so many calls, the one of the next rank is at most 120 ms later.
    median = draw(st.sampled_from([40, SOON_BEFORE_MS - 130]))
    pxx = (median, *sorted(draw(st.lists(st.integers(median, 10_000), min_size=3, max_size=3))))
    return RequestBlock("fif", pxx, (good + other, good, *([0] * 8), other, *([0] * 4)))


@given(st.lists(st.lists(good_blocks(), min_size=1, max_size=3), min_size=3, max_size=8))
def test_where_every_aa_sees_good_calls_no_one_is_outvoted(by_aa):
    seen = {f"AA-{at}": pair_sums_of(found) for at, found in enumerate(by_aa)}
    whole = reduce(add_pairs, seen.values())

    assert all(is_good_in_sums(sums) for sums in seen.values())
    assert is_good_in_sums(whole)
    assert status_of_pair(whole) is Status.GOOD
    assert not weigh(seen).outvoted
