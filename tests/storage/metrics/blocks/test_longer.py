"""Sums of some hours and of some days: the same cells in fewer blocks, never old ones."""

import uuid
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from tests.storage.metrics.summed_store import DAY, HOUR, Truth, deliveries, examine, summed
from tests.support.depth import examples, in_turn
from tests.support.metrics.metrics_payloads import request_metrics

from mudra.jobs.metrics_jobs import settle_sums
from mudra.metrics.payload.catalogue import WINDOW, Tag
from mudra.metrics.rollup.coverage import TimeRange
from mudra.metrics.rollup.damage import BlockDamaged
from mudra.metrics.rollup.stale import Stale

MARCH = datetime(2026, 3, 1, tzinfo=UTC)
DAYS = timedelta(days=1)
SIX = MARCH + 6 * HOUR
NINE_DAYS = TimeRange(MARCH, MARCH + 9 * DAYS)
OVER = NINE_DAYS.end + 2 * HOUR
"""When the first nine days of March are over, and a window of the last ones may still come."""
RANGES = (
    TimeRange(MARCH, OVER),
    TimeRange(DAY + 50 * timedelta(minutes=1), NINE_DAYS.end + HOUR),
)
LAST_ONES = (0, 11, 35, 36 + 35, 9 * 144 - 1)
"""The first window of nine days, and the last of its two, six and twelve hours, and of all."""
_LONGER = (
    "SELECT DISTINCT tag, aa_id, grain, at FROM metrics_block WHERE tag LIKE 'req-long%'"
    " ORDER BY 1, 2, 3, 4"
)


@in_turn(2)
@pytest.mark.deeper
def test_sums_of_nine_days_equal_a_plain_recount_whatever_came_when(in_store):
    @settings(max_examples=examples(2), deadline=None)
    @given(deliveries(windows=4 * 144))
    def recounted(case):
        async def act(store):
            store.now = OVER
            await examine(store, case, RANGES)

        in_store(act)

    recounted()


async def nine_days(store, aas=("aa-one", "aa-two")):
    """Some AAs that reported a few windows of nine days, with all sums of them."""
    await store.empty()
    payloads = []
    for place in LAST_ONES:
        at = MARCH + place * WINDOW
        store.now = at + HOUR
        for aa_id in aas:
            payloads.append(request_metrics(3, aa_id, str(uuid.uuid4()), at))
            await store.push(payloads[-1])
        await store.make_sums()
    store.now = OVER
    await store.make_sums()
    return payloads


async def longer(store):
    return [tuple(row) for row in await store.run(_LONGER)]


def test_each_series_has_longer_sums_once_their_last_window_came(in_store):
    async def act(store):
        await nine_days(store)
        return await longer(store)

    last = MARCH + 8 * DAYS
    hours = {
        "req-long": [MARCH, MARCH + 4 * HOUR, MARCH + 10 * HOUR, last + 22 * HOUR],
        "req-longest": [MARCH, MARCH + 6 * HOUR, last + 18 * HOUR],
    }
    days = {"req-long": [MARCH, MARCH + 6 * DAYS], "req-longest": [MARCH]}
    assert in_store(act) == [
        (tag, aa_id, grain, at)
        for tag in days
        for aa_id in ("", "aa-one", "aa-two")
        for grain, ats in (("day", days[tag]), ("hour", hours[tag]))
        for at in ats
    ]


def test_a_question_reads_them_in_place_of_shorter_ones(in_store):
    async def act(store):
        payloads = await nine_days(store)
        for grain, long, longest in (("hour", 2 * HOUR, 6 * HOUR), ("day", 3 * DAYS, 9 * DAYS)):
            of_grain = f"grain = '{grain}'"
            await store.run(f"DELETE FROM metrics_block WHERE tag IN ('req', 'all') AND {of_grain}")
            await store.reads_over_aas_are_true(TimeRange(MARCH, MARCH + long), payloads)
            await store.run(f"DELETE FROM metrics_block WHERE tag LIKE '%-long' AND {of_grain}")
            await store.reads_of_all_are_true(TimeRange(MARCH, MARCH + longest), payloads)

    in_store(act)


@pytest.mark.slow
def test_an_aa_without_them_is_read_by_hours(in_store):
    async def act(store):
        payloads = await nine_days(store)
        for of_one in ("aa_id = 'aa-one'", "aa_id = ''"):
            await store.run(f"DELETE FROM metrics_block WHERE tag LIKE '%-long%' AND {of_one}")
            for within in RANGES:
                await store.reads_are_true(within, payloads)

    in_store(act)


@pytest.mark.slow
def test_a_late_report_makes_them_again(in_store):
    async def act(store):
        payloads = await nine_days(store)
        late = request_metrics(3, "aa-one", str(uuid.uuid4()), MARCH + 8 * DAYS + 20 * HOUR)
        await store.push(late)
        for _ in range(2):
            for within in RANGES:
                await store.reads_are_true(within, [*payloads, late])
            await store.make_sums()
        return await longer(store)

    # One of two hours more, of the AA and over all: the other times have some windows already.
    assert len(in_store(act)) == 3 * (4 + 3 + 2 + 1) + 2


def test_those_of_a_running_time_are_made_once_it_is_settled_but_small_ones(in_store):
    async def act(store):
        await store.empty()
        payloads = []
        for hours in (0, 7):
            store.now = MARCH + (hours + 1) * HOUR
            at = MARCH + hours * HOUR
            payloads.append(request_metrics(3, "aa-one", str(uuid.uuid4()), at))
            await store.push(payloads[-1])
            await store.make_sums()
        first = await longer(store)
        store.now = MARCH + 45 * DAYS
        await settle_sums(store.maintenance)
        for within in RANGES:
            await store.reads_are_true(within, payloads)
        return first, await longer(store)

    first, later = in_store(act)

    assert ("req-longest", "aa-one") not in {(tag, of) for tag, of, _, _ in first}
    of_one = {(tag, at) for tag, of, grain, at in later if (of, grain) == ("aa-one", "hour")}
    assert of_one == {("req-longest", at) for at in (MARCH, SIX)}
    assert ("req-long", "", "hour", MARCH) in later


def test_a_damaged_one_is_named_and_made_again_with_its_time(in_store):
    async def act(store):
        payloads = await nine_days(store)
        await store.run(
            "UPDATE metrics_block SET numbers = set_byte(numbers, 8, 255 - get_byte(numbers, 8))"
            " WHERE tag = 'req-longest' AND grain = 'day' AND aa_id = 'aa-one'"
        )
        with pytest.raises(BlockDamaged) as met:
            await store.totals(NINE_DAYS, aa_id="aa-one")
        async with store.maintenance(within_s=60) as work:
            place = met.value.place
            await work.rollups.remake(Stale(place.grain, place.aa_id, Tag.REQUESTS, (place.at,)))
        of_one = [one for one in payloads if one.aa_id == "aa-one"]
        found = await store.totals(NINE_DAYS, aa_id="aa-one")
        assert summed(found) == Truth(of_one, NINE_DAYS).by("aa", "fip", "type")
        return place

    place = in_store(act)

    assert (place.grain, place.at, place.tag) == ("day", MARCH, "req-longest")
