"""The days of the public status by columns are those by the health of each sum."""

from datetime import date

from hypothesis import example, given
from hypothesis import strategies as st
from tests.support.metrics.totals import reported_by, totals_of

from mudra.metrics.health.health import Status
from mudra.metrics.health.judging import health_of
from mudra.metrics.health.status_history import FLOOR, Day, DayState, days_of_fips
from mudra.metrics.payload.catalogue import Position
from mudra.metrics.payload.report import RequestBlock

DAY = date(2026, 3, 4)
SOON, LATE = (100, 200, 300, 400), (4_000, 5_000, 6_000, 90_000)


def block(good, refused, failed, unanswered, pxx):
    counts = [0] * len(Position)
    counts[Position.OK_200], counts[Position.NOT_FOUND_404] = good, refused
    counts[Position.INTERNAL_500] = failed
    counts[Position.TOTAL] = good + refused + failed + unanswered
    return RequestBlock("cns", pxx, tuple(counts))


NUMBERS = st.sampled_from([0, 1, 5, 19, 95, 99, 100, 1000, 10**6, 2**52, 10**16])
BLOCKS = st.builds(block, NUMBERS, NUMBERS, NUMBERS, NUMBERS, st.sampled_from([SOON, LATE]))


def day_of(health):
    """One day by plain numbers."""
    if health.total < FLOOR.min_calls or health.status is Status.UNSURE:
        return Day(DAY, DayState.NO_DATA, None, None)
    state = DayState.GOOD if health.status is Status.GOOD else DayState.BAD
    return Day(DAY, state, health.total, health.succeeded * 1000 // health.eligible / 10)


@given(st.lists(BLOCKS, max_size=5))
@example([block(99, 0, 1, 0, SOON), block(99, 0, 0, 0, SOON), block(0, 100, 0, 0, SOON)])
def test_a_day_of_many_fips_is_that_of_each(blocks):
    seen = totals_of(
        reported_by("AA", f"FIP-{number}", one) for number, one in enumerate(blocks)
    ).by("fip")

    found = zip(seen.fip_ids(), health_of(seen), strict=True)
    assert days_of_fips(DAY, seen) == {fip_id: day_of(health) for fip_id, health in found}
