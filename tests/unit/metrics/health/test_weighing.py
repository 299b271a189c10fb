"""What most AAs see of a FIP: no single one of three or more turns it."""

from hypothesis import given
from hypothesis import strategies as st

from mudra.metrics.health.health import Status
from mudra.metrics.health.weighing import MIN_CALLS, weigh
from mudra.metrics.rollup.pair import PairSums


def calls(total: int, good: int, soon: int | None = None) -> PairSums:
    ended = good if soon is None else soon
    return PairSums(total, good, 0, good, ended, ended, 32 * ended, 400 if soon is None else 90_000)


LIES = st.integers(0, 9 * 10**15).flatmap(
    lambda total: st.builds(
        calls,
        st.just(total),
        st.sampled_from([0, total]) | st.integers(0, total),
        st.none() | st.just(0),
    )
)
DEAD = st.integers(MIN_CALLS, 10**6).map(lambda total: calls(total, total // 10))
WELL = st.integers(MIN_CALLS, 10**6).map(lambda total: calls(total, total * 98 // 100))


@given(st.lists(DEAD, min_size=2, max_size=6), LIES)
def test_no_one_alone_turns_a_dead_fip_green(honest, lie):
    by_aa = {str(number): sums for number, sums in enumerate([*honest, lie])}

    assert weigh(by_aa).status is Status.BAD


@given(st.lists(WELL, min_size=2, max_size=6), LIES)
def test_no_one_alone_turns_a_healthy_fip_red(honest, lie):
    by_aa = {str(number): sums for number, sums in enumerate([*honest, lie])}

    assert weigh(by_aa).status is Status.GOOD


@given(st.lists(DEAD | WELL | LIES, min_size=1, max_size=8))
def test_what_is_left_out_is_the_smaller_part_and_says_otherwise(sums):
    by_aa = {str(number): one for number, one in enumerate(sums)}
    weighed = weigh(by_aa)
    without = {aa: one for aa, one in by_aa.items() if aa not in weighed.outvoted}

    assert len(weighed.outvoted) < len(without)
    assert weighed.sums.total == sum(one.total for one in without.values())
    assert weigh(without).status is weighed.status
