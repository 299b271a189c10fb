"""Whatever comes when, sums equal a plain recount of what was acknowledged last."""

import uuid
from collections import defaultdict
from datetime import UTC, datetime, timedelta

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.storage.metrics.summed_store import (
    AFTER,
    DAY,
    HOUR,
    LAST_HOURS,
    Truth,
    deliveries,
    examine,
    summed,
)
from tests.support.depth import examples, in_turn
from tests.support.metrics.metrics_payloads import notification_metrics, request_metrics

from mudra.metrics.payload.catalogue import WINDOW
from mudra.metrics.payload.ingest_rule import TxnIdReused
from mudra.metrics.rollup.coverage import TimeRange
from mudra.storage.metrics.partitions import (
    BLOCK_HOURS,
    BLOCK_PREVIOUS,
    BLOCK_WINDOWS,
    drop_oldest,
    make_ahead,
)


@pytest.mark.deeper
def test_sums_equal_a_plain_recount_whatever_came_when(in_store):
    @settings(max_examples=examples(2), deadline=None)
    @given(deliveries())
    def recounted(case):
        in_store(lambda store: examine(store, case))

    recounted()


@in_turn(1)
@pytest.mark.deeper
def test_windows_of_the_last_hours_equal_a_plain_recount_whatever_came_when(in_store):
    @settings(max_examples=examples(2), deadline=None)
    @given(
        deliveries(windows=18, aas=("aa-one", "aa-two", "aa-three")),
        st.sampled_from([3, 5, 8]),
    )
    def recounted(case, age):
        async def act(store):
            store.now = DAY + timedelta(hours=age)
            await examine(store, case, LAST_HOURS)

        in_store(act)

    recounted()


def test_a_txn_id_used_for_other_content_changes_nothing(in_store):
    async def act(store):
        first = request_metrics(1, "aa-reuse", "one-id", DAY)
        await store.push(first)
        assert isinstance(
            await store.push(notification_metrics(1, "aa-reuse", "one-id", DAY)), TxnIdReused
        )
        within = TimeRange(DAY, DAY + WINDOW)
        found = await store.totals(within, aa_id="aa-reuse")
        assert summed(found) == Truth([first], within).by("aa", "fip", "type")

    in_store(act)


def test_a_held_report_of_a_finished_day_counts_as_reported(in_store):
    async def act(store):
        day = DAY + timedelta(days=2)  # of which nothing else is reported
        store.now = AFTER + HOUR
        within = TimeRange(day, day + timedelta(days=1))
        payload = request_metrics(1, "aa-held", start=day)
        await store.push(with_calls(payload, 9 * 10**15))
        await store.reads_are_true(within, [])
        await store.make_sums()
        await store.reads_are_true(within, [])
        held = await store.run("SELECT 1 FROM metrics_held WHERE aa_id = 'aa-held'")
        summed = await store.run("SELECT windows FROM metrics_received WHERE aa_id = 'aa-held'")
        assert (len(held.all()), summed.scalars().all()) == (1, [1])
        assert len(await store.totals(within, aa_id="aa-held")) == 0

    in_store(act)


def with_calls(payload, calls):
    (block, *_), (fip, *_) = payload.fips[0].metrics, payload.fips
    counts = (calls, calls, *[0] * 13)
    block = msgspec.structs.replace(block, counts=counts)
    return msgspec.structs.replace(payload, fips=(msgspec.structs.replace(fip, metrics=(block,)),))


def test_sizes_beyond_2_to_the_63_are_kept_exactly(in_store):
    async def act(store):
        size = 10**60 + 7
        payload = request_metrics(1, "aa-huge", start=DAY)
        blocks = tuple(
            replace_size(block, size) if block.type == "fif" else block
            for block in payload.fips[0].metrics
        )
        fip = msgspec.structs.replace(payload.fips[0], metrics=blocks)
        for place in range(2):
            start = DAY + place * WINDOW
            await store.push(
                msgspec.structs.replace(
                    payload,
                    fips=(fip,),
                    txn_id=f"huge-{place}",
                    from_date_time=start.strftime("%Y-%m-%dT%H:%M:%SZ"),
                    to_date_time=(start + WINDOW).strftime("%Y-%m-%dT%H:%M:%SZ"),
                )
            )
        within = TimeRange(DAY, DAY + timedelta(days=1))
        for _ in range(2):
            totals = await store.totals(within, aa_id="aa-huge")
            (row,) = [sums for cell, sums in totals.items() if cell.type == "fif"]
            assert row.data_bytes == 2 * size
            await store.make_sums()

    in_store(act)


def replace_size(block, size):
    return msgspec.structs.replace(block, sum_of_size_of_data_packets=str(size))


def test_the_former_version_of_a_replaced_window_is_kept(in_store):
    async def act(store):
        for seed in (1, 2, 3):
            await store.push(request_metrics(2, "aa-former", str(uuid.uuid4()), DAY, seed))
        rows = await store.run(
            "SELECT report_version FROM metrics_block_previous WHERE aa_id = 'aa-former' ORDER BY 1"
        )
        assert rows.scalars().all() == [1, 2]

    in_store(act)


def test_old_partitions_are_dropped_and_sums_by_day_stay(in_store):
    async def act(store):
        await store.push(request_metrics(1, "aa-old", str(uuid.uuid4()), DAY))
        await store.make_sums()
        within = TimeRange(DAY, DAY + timedelta(days=1))
        before = await store.totals(within, aa_id="aa-old")
        async with store.database.transaction() as tx:
            assert await drop_oldest(tx, BLOCK_WINDOWS, DAY) is None
            next_day = DAY + timedelta(days=1)
            dropped = await drop_oldest(tx, BLOCK_WINDOWS, next_day)
            assert dropped == "metrics_block_window_20260304"
            assert await drop_oldest(tx, BLOCK_WINDOWS, next_day) is None
            await drop_oldest(tx, BLOCK_PREVIOUS, next_day)
            april = datetime(2026, 4, 1, tzinfo=UTC)
            assert await drop_oldest(tx, BLOCK_HOURS, april) == "metrics_block_hour_202603"
        assert len(before)
        assert summed(await store.totals(within, aa_id="aa-old")) == summed(before)

    in_store(act)


def test_partitions_are_made_ahead_once(in_store):
    async def act(store):
        for _ in range(2):
            async with store.database.transaction() as tx:
                await make_ahead(tx)
        rows = await store.run("SELECT to_regclass('metrics_block_window_20260310')")
        assert rows.scalar() is not None

    in_store(act)


async def half_a_day(store):
    """Three windows of one AA, hours apart, each with all sums before the next."""
    await store.empty()
    for hours in (0, 5, 11):
        store.now = DAY + hours * HOUR + WINDOW
        await store.push(request_metrics(1, "aa-one", str(uuid.uuid4()), DAY + hours * HOUR))
        await store.make_sums()


def test_sums_over_all_aas_of_windows_are_kept_while_charts_read_them(in_store):
    async def act(store):
        await half_a_day(store)
        rows = await store.run(
            "SELECT at FROM metrics_block WHERE aa_id = '' AND grain = 'window' ORDER BY 1"
        )
        return rows.scalars().all()

    assert in_store(act) == [DAY + 5 * HOUR, DAY + 11 * HOUR]


def test_what_is_derived_of_windows_is_kept_as_long_as_their_sums_over_all_aas(in_store):
    async def act(store):
        await half_a_day(store)
        rows = await store.run(
            "SELECT tag, at FROM metrics_block WHERE aa_id = 'aa-one' AND grain = 'window'"
        )
        found = defaultdict(set)
        for tag, at in rows:
            found[tag].add(at)
        return dict(found)

    found = in_store(act)

    assert found.pop("req") == {DAY, DAY + 5 * HOUR, DAY + 11 * HOUR}
    assert {"all", "req-fips"} <= found.keys()
    assert all(ats <= {DAY + 5 * HOUR, DAY + 11 * HOUR} for ats in found.values())
