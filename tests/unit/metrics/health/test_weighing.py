"""What most AAs see of a FIP: no single one of three or more turns it."""

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.support.metrics.totals import reported_by, totals_of

from mudra.metrics.health.health import Status, Weighed
from mudra.metrics.health.judging import health_of
from mudra.metrics.health.weighing import disputed, seen_by_most
from mudra.metrics.payload.report import RequestBlock

MIN_CALLS = 100

SOON, LATE = (100, 200, 300, 400), (90_000, 90_000, 90_000, 90_000)


def calls(total: int, good: int, times: tuple[int, int, int, int] = SOON) -> RequestBlock:
    return RequestBlock("cns", times, (total, good, *[0] * 13))


def seen_by(blocks):
    return totals_of(
        reported_by(f"AA-{number}", "FIP-1", block) for number, block in enumerate(blocks)
    )


def weighed(blocks):
    calls = seen_by(blocks)
    (health,) = health_of(seen_by_most(calls))
    seen = Weighed(health.status, health.total, health.success)
    found = disputed(calls).get(("FIP-1", "cns"), seen)
    assert replace(found, outvoted=()) == seen
    return found


LIES = st.integers(0, 9 * 10**15).flatmap(
    lambda total: st.builds(
        calls,
        st.just(total),
        st.sampled_from([0, total]) | st.integers(0, total),
        st.sampled_from([SOON, LATE]),
    )
)
DEAD = st.integers(MIN_CALLS, 10**6).map(lambda total: calls(total, total // 10))
WELL = st.integers(MIN_CALLS, 10**6).map(lambda total: calls(total, total * 98 // 100))


@given(st.lists(DEAD, min_size=2, max_size=6), LIES)
def test_no_one_alone_turns_a_dead_fip_green(honest, lie):
    assert weighed([*honest, lie]).status is Status.BAD


@given(st.lists(WELL, min_size=2, max_size=6), LIES)
def test_no_one_alone_turns_a_healthy_fip_red(honest, lie):
    assert weighed([*honest, lie]).status is Status.GOOD


@given(st.lists(DEAD | WELL | LIES, min_size=1, max_size=8))
def test_what_is_left_out_is_the_smaller_part_and_says_otherwise(blocks):
    found = weighed(blocks)
    left = [one for place, one in enumerate(blocks) if f"AA-{place}" not in found.outvoted]

    assert len(found.outvoted) < len(left)
    assert found.total == sum(one.counts[0] for one in left)
    assert weighed(left).status is found.status


def test_only_what_most_aas_see_otherwise_is_disputed():
    dead, well = calls(1000, 10), calls(1000, 990)

    assert disputed(seen_by([dead, dead, well])) == {}
    assert disputed(seen_by([calls(10**6, 10), well, well]))["FIP-1", "cns"].outvoted == ("AA-0",)
