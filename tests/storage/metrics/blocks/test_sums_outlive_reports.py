"""Sums outlive the reports that they are made of, and any number of marks is cleared."""

import uuid
from datetime import UTC, datetime, timedelta

import sqlalchemy as sa
from tests.storage.metrics.summed_store import DAY, summed
from tests.support.metrics.metrics_payloads import request_metrics

from mudra.metrics.rollup.coverage import TimeRange
from mudra.metrics.rollup.recount import RecountPart
from mudra.storage.metrics.blocks.sums.recount import recount, recount_parts
from mudra.storage.metrics.partitions import BLOCK_HOURS, BLOCK_WINDOWS, drop_oldest

WORK_S = 60.0


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
            return summed(await store.totals(within, aa_id="aa-kept")), windows.scalar()

        before = await known()
        async with store.database.transaction() as tx:
            await drop_oldest(tx, BLOCK_WINDOWS, DAY + timedelta(days=1))
        await store.run("DELETE FROM metrics_push WHERE aa_id = 'aa-kept'")
        await store.run("DELETE FROM metrics_receipt WHERE aa_id = 'aa-kept'")
        for aa_id in ("aa-kept", ""):
            for grain in ("hour", "day"):
                await store.run(marks, grain=grain, aa=aa_id, at=DAY)
        await store.make_sums()
        of_hours = await known()
        async with store.database.transaction() as tx:
            assert await recount_parts(tx, DAY) == []
            assert await recount(tx, RecountPart(DAY, "BANK-000")) == []
            await drop_oldest(tx, BLOCK_HOURS, datetime(2026, 4, 1, tzinfo=UTC))
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
