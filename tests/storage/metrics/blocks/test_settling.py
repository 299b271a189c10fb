"""Sums that can change no more are laid out by FIP, and a late change finds them again."""

import uuid
from datetime import UTC, datetime, timedelta

import pytest
from tests.storage.metrics.summed_store import HOUR, Truth, summed
from tests.support.depth import with_every_change
from tests.support.metrics.metrics_payloads import request_metrics

from mudra.jobs.metrics_jobs import settle_sums
from mudra.metrics.payload.catalogue import WINDOW
from mudra.metrics.rollup.coverage import TimeRange
from mudra.metrics.rollup.damage import BlockDamaged
from mudra.metrics.sums import buckets
from mudra.metrics.sums.buckets import fan_with

FIRST = datetime(2026, 3, 1, tzinfo=UTC)
DAY = timedelta(days=1)
SETTLED = datetime(2026, 4, 12, tzinfo=UTC)
"""When all of March can change no more."""
RANGES = (
    TimeRange(FIRST, FIRST + 31 * DAY),
    TimeRange(FIRST + DAY + 2 * HOUR, FIRST + 3 * DAY - 20 * WINDOW),
    TimeRange(FIRST + DAY, FIRST + 2 * DAY),
)
LAYOUT = (
    "SELECT grain, until - at AS length, count(*) AS blocks FROM metrics_block"
    " WHERE grain <> 'window' AND tag IN ('req', 'not') GROUP BY 1, 2 ORDER BY 1, 2"
)


async def march(store, fips=3, windows=(0, 7, 150, 151, 300, 4000)):
    """Two AAs that reported some windows of March."""
    await store.empty()
    payloads = {}
    for place, window in enumerate(windows):
        at = FIRST + window * WINDOW
        store.now = at + HOUR
        for aa_id in ("aa-one", "aa-two"):
            payload = request_metrics(fips, aa_id, str(uuid.uuid4()), at, place % 4 + 1)
            await store.push(payload)
            payloads[aa_id, at] = payload
    store.now = SETTLED
    await store.make_sums()
    return payloads


async def lengths(store):
    return {(row.grain, row.length) for row in await store.run(LAYOUT)}


@pytest.mark.parametrize("fips", with_every_change([30], [3, 30]), ids=["one bucket", "several"])
def test_settled_sums_are_the_same_in_no_more_blocks(in_store, fips):
    async def act(store):
        payloads = await march(store, fips)
        before = sum(row.blocks for row in await store.run(LAYOUT))
        await settle_sums(store.maintenance)
        after = sum(row.blocks for row in await store.run(LAYOUT))
        for within in RANGES:
            await store.reads_are_true(within, payloads.values())
        fip_id = "BANK-001"
        found = await store.totals(RANGES[0], fip_id=fip_id)
        truth = Truth(payloads.values(), RANGES[0]).of_fip(fip_id)
        assert summed(found) == truth.by("aa", "fip", "type")
        return await lengths(store), before, after

    layout, before, after = in_store(act)

    assert layout == {("hour", DAY), ("day", 31 * DAY)}
    assert after <= before


LONGER = (
    "SELECT aa_id, tag, at, max(bucket) AS largest FROM metrics_block"
    " WHERE grain = 'day' AND tag LIKE 'req-long%' AND aa_id <> '' GROUP BY 1, 2, 3"
)
BREAK_LONGER = (
    "UPDATE metrics_block SET numbers = '\\x00' WHERE grain = 'day' AND tag LIKE '%-long%'"
)


def test_one_fip_is_read_of_settled_days_and_longer_sums_stay_in_as_few_buckets(
    in_store, monkeypatch
):
    async def act(store):
        payloads = await march(store, 8, windows=(0, 150, 151, 4000))
        before = {row[:3]: fan_with(row.largest) for row in await store.run(LONGER)}
        await settle_sums(store.maintenance)
        after = {row[:3]: fan_with(row.largest) for row in await store.run(LONGER)}
        await store.run(BREAK_LONGER)
        for within in (RANGES[0], TimeRange(FIRST + 8 * DAY, FIRST + 29 * DAY)):
            found = await store.totals(within, fip_id="BANK-001")
            truth = Truth(payloads.values(), within).of_fip("BANK-001")
            assert summed(found) == truth.by("aa", "fip", "type")
        with pytest.raises(BlockDamaged):
            await store.totals(RANGES[0])
        return before, after

    monkeypatch.setattr(buckets, "CELLS_A_BUCKET", 16)  # several, as in a nation
    before, after = in_store(act)

    assert before.keys() == after.keys()
    assert all(1 < after[key] <= fan for key, fan in before.items())


def test_sums_that_a_report_may_change_are_not_settled(in_store):
    async def act(store):
        await march(store, windows=(0, 150))  # of two days
        store.now = FIRST + DAY + timedelta(days=8) - HOUR
        await settle_sums(store.maintenance)
        first = await lengths(store)
        store.now = FIRST + DAY + timedelta(days=8)
        await settle_sums(store.maintenance)
        return first, await lengths(store)

    first, later = in_store(act)

    assert first == {("hour", HOUR), ("day", DAY)}
    assert later == {("hour", HOUR), ("hour", DAY), ("day", DAY)}


@pytest.mark.slow
def test_a_change_of_settled_sums_is_counted_and_they_are_settled_again(in_store):
    async def act(store):
        payloads = await march(store, 30)
        await settle_sums(store.maintenance)
        at = FIRST + 150 * WINDOW
        store.now = at + HOUR  # as a held report that is admitted late
        again = request_metrics(5, "aa-one", str(uuid.uuid4()), at, 5)
        await store.push(again)
        payloads["aa-one", at] = again
        store.now = SETTLED
        for within in RANGES:
            await store.reads_are_true(within, payloads.values())
        await store.make_sums()
        for within in RANGES:
            await store.reads_are_true(within, payloads.values())
        between = await lengths(store)
        await settle_sums(store.maintenance)
        for within in RANGES:
            await store.reads_are_true(within, payloads.values())
        return between, await lengths(store)

    between, after = in_store(act)

    assert ("hour", HOUR) in between
    assert after == {("hour", DAY), ("day", 31 * DAY)}
