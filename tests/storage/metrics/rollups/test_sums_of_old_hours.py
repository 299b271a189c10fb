"""Hours of any age are summed in steps, and outlive the raw rows that they are made of."""

import uuid
from datetime import UTC, datetime, timedelta

import pytest
import sqlalchemy as sa
from mudra.storage.metrics.rollups.packed_reads import WindowSums
from mudra.storage.metrics.rollups.recount import aas_of, recount
from tests.support.metrics.metrics_payloads import request_metrics
from tests.support.metrics.summed_store import (
    DAY,
    HOUR,
    comparable,
    plain,
)

from mudra.jobs.metrics_jobs import WORK_S
from mudra.metrics.payload.catalogue import WINDOW
from mudra.metrics.rollup.coverage import TimeRange
from mudra.metrics.rollup.recount import parts_of
from mudra.storage.metrics.partitions import HOURS, RAW, drop_oldest


def test_an_hour_of_very_many_rows_is_summed_by_a_window_a_transaction(in_store):
    async def act(store):
        await store.empty()
        store.now, store.rows_together = DAY + timedelta(hours=2), 1
        for place in range(3):
            window = DAY + place * WINDOW
            await store.push(request_metrics(2, "aa-one", str(uuid.uuid4()), window, place))
        seen = []
        for _ in range(4):
            stale = await store.make_next_sums()
            of_windows = await store.run("SELECT count(*) FROM metrics_window WHERE type = ''")
            of_hours = await store.run("SELECT count(*) > 0 FROM metrics_hour")
            seen.append((stale.grain, stale.aa_id, of_windows.scalar(), of_hours.scalar()))
        return seen

    made = [("hour", "aa-one", 2, False), ("hour", "aa-one", 4, False), ("hour", "aa-one", 6, True)]
    seen = in_store(act)

    assert seen[:3] == made
    assert seen[3][:2] != ("hour", "aa-one")


@pytest.mark.parametrize(
    ("ages", "windows"),
    [((12, 12, 12, 12), [1, 2, 3]), ((2, 12, 12, 12), [2, 2, 3])],
    ids=["old", "that grows old meanwhile"],
)
def test_an_old_hour_of_very_many_rows_is_summed_by_a_window_a_transaction(in_store, ages, windows):
    async def act(store):
        await store.empty()
        store.now, store.rows_together = DAY + ages[0] * HOUR, 1
        payloads = [
            request_metrics(2, "aa-one", str(uuid.uuid4()), DAY + place * WINDOW, place)
            for place in range(3)
        ]
        for payload in payloads:
            await store.push(payload)
        seen = []
        for age in ages:
            store.now = DAY + age * HOUR
            stale = await store.make_next_sums()
            of_windows = await store.run("SELECT count(*) FROM metrics_window WHERE type = ''")
            of_hours = await store.run("SELECT count(*) > 0 FROM metrics_hour")
            seen.append((stale.grain, stale.aa_id, of_windows.scalar(), of_hours.scalar()))
        await store.make_sums()
        within = TimeRange(DAY, DAY + HOUR)
        assert comparable(await store.totals(within)) == plain(payloads, within)
        await store.push(request_metrics(2, "aa-two", str(uuid.uuid4()), DAY))
        await store.make_sums()
        left = await store.run("SELECT count(*) FROM metrics_window WHERE aa_id <> 'aa-two'")
        return seen, left.scalar()

    seen, left = in_store(act)

    assert seen[:3] == [
        ("hour", "aa-one", number, place == 2) for place, number in enumerate(windows)
    ]
    assert seen[3][:2] != ("hour", "aa-one")
    assert left == 0


def test_pages_do_not_look_for_windows_of_an_old_hour_that_is_being_summed(in_store):
    async def act(store):
        await store.empty()
        store.now, store.rows_together = DAY + 6 * HOUR, 1
        for place in range(2):
            await store.push(
                request_metrics(2, "aa-one", str(uuid.uuid4()), DAY + place * WINDOW, place)
            )
        await store.make_next_sums()
        async with store.database.transaction() as tx:
            return await WindowSums(tx).since()

    assert in_store(act) is None


def test_sums_stay_when_what_they_are_made_of_was_dropped(in_store):
    async def act(store):
        await store.push(request_metrics(1, "aa-kept", str(uuid.uuid4()), DAY))
        await store.make_sums()
        within = TimeRange(DAY, DAY + timedelta(days=1))
        marks = "INSERT INTO metrics_stale (grain, aa_id, tag, at) VALUES (:grain, :aa, 'req', :at)"

        async def known():
            windows = await store.run(
                "SELECT sum(windows) FROM metrics_received WHERE aa_id = 'aa-kept'"
            )
            return await store.totals(within, aa_id="aa-kept"), windows.scalar()

        before = await known()
        async with store.database.transaction() as tx:
            await drop_oldest(tx, RAW, DAY + timedelta(days=1))
        await store.run("DELETE FROM metrics_push WHERE aa_id = 'aa-kept'")
        await store.run("DELETE FROM metrics_receipt WHERE aa_id = 'aa-kept'")
        for aa_id in ("aa-kept", ""):
            for grain in ("hour", "day"):
                await store.run(marks, grain=grain, aa=aa_id, at=DAY)
        await store.make_sums()
        of_hours = await known()
        async with store.database.transaction() as tx:
            assert await aas_of(tx, DAY) is None
            assert [await recount(tx, part) for part in parts_of(DAY, ["aa-kept"])] == [[]] * 26
            await drop_oldest(tx, HOURS, datetime(2026, 4, 1, tzinfo=UTC))
        for aa_id in ("aa-kept", ""):
            await store.run(marks, grain="day", aa=aa_id, at=DAY)
        await store.make_sums()
        marked = await store.run("SELECT count(*) FROM metrics_stale WHERE grain <> 'window'")
        return before, of_hours, await known(), marked.scalar()

    before, of_hours, of_days, marked = in_store(act)

    assert before[0]
    assert before == of_hours == of_days
    assert marked == 0


MARK_OFTEN = sa.text(
    "INSERT INTO metrics_stale (grain, aa_id, tag, at)"
    " SELECT 'hour', 'aa-many', 'req', :at FROM generate_series(1, 70000)"
)


def test_any_number_of_marks_is_cleared(in_store):
    async def act(store):
        await store.empty()
        await store.push(request_metrics(1, "aa-many", str(uuid.uuid4()), DAY))
        async with store.database.transaction(within_s=WORK_S) as tx:
            await tx.take_time(WORK_S)
            await tx.connection.execute(MARK_OFTEN, {"at": DAY})
        await store.make_sums()
        return (
            await store.run("SELECT count(*) FROM metrics_stale WHERE grain <> 'window'")
        ).scalar()

    assert in_store(act) == 0
