"""Sums over all AAs are made of those of each some FIPs at a time, and have time for a nation's."""

import asyncio
import contextlib
import uuid
from datetime import timedelta
from types import SimpleNamespace

import pytest
import sqlalchemy as sa
from mudra.storage.metrics.rollups.rollups import PostgresRollups
from tests.support.metrics.metrics_payloads import request_metrics
from tests.support.metrics.summed_store import AFTER, DAY, HOUR

from mudra.jobs import metrics_jobs
from mudra.jobs.metrics_jobs import refresh_rollups
from mudra.metrics.payload.catalogue import WINDOW
from mudra.metrics.rollup.coverage import TimeRange
from mudra.metrics.rollup.rollup_service import RollupService

FIPS = 5
SHORT_S, LONGER_S = 0.6, 1.1
"""A wait for a lock may take 1.5 seconds."""
_MARK = "INSERT INTO metrics_stale (grain, aa_id, tag, at) VALUES ('{}', '', 'req', :at)"
_SPOIL = "UPDATE metrics_{} SET blocks = 0 WHERE aa_id = '' AND at = :at"
_SUMS = "SELECT fip_id, type, blocks, counts, longest FROM metrics_{} WHERE aa_id = '' AND at = :at ORDER BY 1, 2"


async def report(store, aa_ids):
    for place, aa_id in enumerate(aa_ids):
        for hour in (0, 5):
            window = DAY + hour * HOUR + place * WINDOW
            await store.push(request_metrics(FIPS, aa_id, str(uuid.uuid4()), window, place))


def test_they_are_the_same_made_of_one_fip_at_a_time_or_of_all(in_store):
    async def act(store):
        await store.empty()
        await report(store, ("aa-one", "aa-two", "aa-three"))
        await store.make_sums()
        found = []
        for rows_together in (store.rows_together, 1):
            store.rows_together = rows_together
            for grain in ("hour", "day"):
                await store.run(_SPOIL.format(grain), at=DAY)
                await store.run(_MARK.format(grain), at=DAY)
            await store.make_sums()
            await store.over_all_and_pairs_are_true(TimeRange(DAY, DAY + timedelta(days=1)))
            sums = [await store.run(_SUMS.format(of), at=DAY) for of in ("hour", "day")]
            found.append([one.all() for one in sums])
        return found

    at_once, in_parts = in_store(act)

    assert [len({row.fip_id for row in of}) for of in at_once] == [FIPS, FIPS]
    assert at_once == in_parts


@pytest.mark.parametrize(("grain", "kept"), [("hour", 50 * HOUR), ("day", timedelta(days=35))])
def test_what_is_packed_of_an_aa_is_deleted_with_them_once_no_page_reads_it(in_store, grain, kept):
    async def packed(store):
        rows = await store.run(
            "SELECT DISTINCT aa_id, at FROM metrics_packed WHERE kind = 'sums' AND grain = :grain",
            grain=grain,
        )
        return {(row.aa_id, row.at) for row in rows}

    async def act(store):
        await store.empty()
        length = HOUR if grain == "hour" else timedelta(days=1)
        found = []
        for at, aa_id in ((DAY, "aa-left"), (DAY + kept, "aa-one")):
            store.now = at + length + HOUR
            await store.push(request_metrics(FIPS, aa_id, str(uuid.uuid4()), at))
            await store.make_sums()
            found.append(await packed(store))
        return found

    at_first, later = in_store(act)

    of_all = {("", DAY), ("", DAY + kept)}
    assert at_first == {("", DAY), ("aa-left", DAY)}
    assert later == of_all | {("aa-one", DAY + kept)}


def test_they_may_take_longer_than_the_sums_of_one_aa(in_store, monkeypatch):
    monkeypatch.setattr(metrics_jobs, "WORK_S", SHORT_S)

    async def act(store):
        await store.empty()
        store.now = AFTER
        await report(store, ("aa-one",))
        await store.make_sums()
        await store.run(_MARK.format("day"), at=DAY)

        @contextlib.asynccontextmanager
        async def open_work(*, within_s):
            async with store.database.transaction(within_s=within_s) as tx:
                yield SimpleNamespace(rollups=RollupService(PostgresRollups(tx)))

        async with store.database.transaction() as other:
            await other.connection.execute(
                sa.text("SELECT 1 FROM metrics_day WHERE aa_id = '' FOR UPDATE")
            )
            work = asyncio.create_task(refresh_rollups(open_work))
            await asyncio.sleep(LONGER_S)
            waits = not work.done()
        await work
        left = await store.run("SELECT count(*) FROM metrics_stale WHERE grain = 'day'")
        return waits, left.scalar()

    assert in_store(act) == (True, 0)
