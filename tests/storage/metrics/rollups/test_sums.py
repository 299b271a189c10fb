"""Whatever comes when, sums equal a plain recount of what was acknowledged last."""

import asyncio
import uuid
from collections import defaultdict
from datetime import UTC, datetime, timedelta

import msgspec
import pytest
import sqlalchemy as sa
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.metrics.metrics_payloads import failing, notification_metrics, request_metrics

from mudra.audit.event import Caller
from mudra.identity.memberships.notices import NoticeService
from mudra.identity.ports import Notice
from mudra.jobs.metrics_jobs import WORK_S
from mudra.metrics.health.feed import REQUESTS_SHOWN
from mudra.metrics.payload.catalogue import WINDOW, Tag
from mudra.metrics.payload.ingest_rule import IngestStatus, TxnIdReused
from mudra.metrics.payload.push_report import PushService
from mudra.metrics.payload.validation import CheckedReport, check_report
from mudra.metrics.ports import Pair
from mudra.metrics.rollup.coverage import TimeRange
from mudra.metrics.rollup.pair import add_pairs, is_good_in_sums, pair_sums
from mudra.metrics.rollup.rollup import coarse, merge_all, rollup
from mudra.metrics.rollup.rollup_service import RollupService
from mudra.metrics.rollup.stale import MAX_ROWS_TOGETHER
from mudra.storage.audit.audit_log import PostgresAuditLog
from mudra.storage.caching.cache_invalidation import CacheInvalidation
from mudra.storage.database.database import Database
from mudra.storage.identity.memberships import PostgresMemberships
from mudra.storage.metrics.copy_rows import long_tag, storable
from mudra.storage.metrics.held_reports import PostgresHeldReports
from mudra.storage.metrics.partitions import HOURS, PREVIOUS, RAW, drop_before, make_ahead
from mudra.storage.metrics.receipts import OnboardedMembers
from mudra.storage.metrics.reports import KnownPartitions, PostgresReports
from mudra.storage.metrics.rollups.recount import mark_day_stale, recount
from mudra.storage.metrics.rollups.rollup_queries import PostgresRollupQueries
from mudra.storage.metrics.rollups.rollups import PostgresRollups
from mudra.storage.metrics.rollups.window_sums import WindowSums

DAY, HOUR = datetime(2026, 3, 4, tzinfo=UTC), timedelta(hours=1)
AFTER = DAY + timedelta(days=3)


class NoMail:
    """An outbox for reports that are all plausible."""

    async def post(self, notice: Notice) -> None:
        raise AssertionError(notice.kind)


class Store:
    """The storage of metrics at a time of its own."""

    def __init__(self, conninfo):
        self.now = AFTER
        real = datetime.now(UTC)
        self.database = Database(conninfo, CacheInvalidation(conninfo), lambda: self.now - real)
        self.partitions = KnownPartitions()
        self.rows_together = MAX_ROWS_TOGETHER

    async def push(self, payload):
        checked = check_report(msgspec.json.encode(payload), self.now)
        assert isinstance(checked, CheckedReport), checked
        async with self.database.transaction() as tx:
            reports = PostgresReports(tx, self.partitions)
            pushes = PushService(
                reports,
                PostgresHeldReports(tx, reports),
                NoticeService(PostgresMemberships(tx), NoMail()),
                OnboardedMembers(tx, tx),
                PostgresAuditLog(tx),
            )
            return await pushes.receive(storable(checked), str(uuid.uuid4()), Caller("entity:test"))

    async def make_sums(self):
        while await self.make_next_sums() is not None:
            pass

    async def make_next_sums(self):
        async with self.database.transaction(within_s=WORK_S) as tx:
            rollups = RollupService(PostgresRollups(tx, self.rows_together))
            return await rollups.refresh_next(delayed=False)

    async def totals(self, within, **part):
        async with self.database.transaction() as tx:
            return await PostgresRollupQueries(tx).totals(within, **part)

    async def over_all_and_pairs_are_true(self, within):
        """The sums over all AAs, of pairs and of windows heard are those of the cells of all."""
        cells = await self.totals(within)
        over, pairs, heard = defaultdict(list), {}, defaultdict(int)
        for cell, sums in cells.items():
            over[(cell.fip_id, cell.tag, cell.type)].append(coarse(sums))
            if cell.tag is Tag.REQUESTS and cell.type not in {"sfireqnot", "ffireqnot"}:
                key = Pair(cell.aa_id, cell.fip_id)
                one = pair_sums(sums)
                pairs[key] = add_pairs(pairs[key], one) if key in pairs else one
        async with self.database.transaction() as tx:
            figures = PostgresRollupQueries(tx)
            found = await figures.over_aas(within)
            assert {
                (c.fip_id, c.tag, c.type): merge_all([coarse(s)]) for c, s in found.items()
            } == {key: merge_all(parts) for key, parts in over.items()}
            assert await figures.pairs(within) == pairs
            await contested_are_true(figures, within)
            counted = await figures.received(within)
        rows = await self.run(
            "SELECT aa_id, tag, count(*) FROM metrics_receipt WHERE version = 1"
            " AND window_at >= :start AND window_at < :end GROUP BY 1, 2",
            start=within.start,
            end=within.end,
        )
        for aa_id, tag, count in rows:
            heard[(aa_id, long_tag(tag))] = count
        assert dict(counted) == dict(heard)

    async def empty(self):
        for table in WRITTEN:
            await self.run(f"DELETE FROM {table}")

    async def run(self, sql, **values):
        async with self.database.transaction() as tx:
            return await tx.connection.execute(sa.text(sql), values)


async def contested_are_true(figures, within):
    """Of each API, contested pairs are whole rows of the matrix, and all that can be outvoted."""
    contested = await figures.contested_pairs(within, REQUESTS_SHOWN)
    for code in REQUESTS_SHOWN:
        pairs = await figures.pairs(within, (code,))
        fips = {pair.fip_id for pair in contested[code]}
        assert contested[code] == {pair: one for pair, one in pairs.items() if pair.fip_id in fips}
        left_out = [one for pair, one in pairs.items() if pair.fip_id not in fips]
        assert all(map(is_good_in_sums, left_out))


def with_store(conninfo, act):
    async def acting():
        store = Store(conninfo)
        try:
            return await act(store)
        finally:
            await store.database.close()

    return asyncio.run(acting())


def plain(payloads, within):
    """A recount in memory of the contents that stand."""
    found = defaultdict(list)
    for payload in payloads:
        start = datetime.fromisoformat(payload.from_date_time)
        if within.start <= start < within.end:
            for fip in payload.fips:
                for block in fip.metrics:
                    found[(payload.aa_id, fip.fip_id, block.type)].append(block)
    return {key: coarse(rollup(blocks)) for key, blocks in found.items()}


def comparable(totals):
    return {
        (cell.aa_id, cell.fip_id, cell.type): merge_all([coarse(sums)])
        for cell, sums in totals.items()
    }


WRITTEN = (
    *("metrics_push", "metrics_receipt", "metrics_raw", "metrics_previous", "metrics_stale"),
    *("metrics_hour", "metrics_day", "metrics_pair_hour", "metrics_pair_day", "metrics_received"),
    *("metrics_window", "metrics_pair_window"),
)


@st.composite
def deliveries(draw, windows=2 * 144, aas=("aa-one", "aa-two")):
    """Pushes of windows by some AAs, in any order, some again or with other content."""
    places = draw(st.lists(st.integers(0, windows - 1), min_size=1, max_size=8, unique=True))
    shown = []
    for place in places:
        for seed in draw(st.lists(st.integers(1, 5), min_size=1, max_size=3)):
            shown += [(draw(st.sampled_from(aas)), DAY + place * WINDOW, seed)]
    order = draw(st.permutations(shown + draw(st.lists(st.sampled_from(shown), max_size=4))))
    return order, draw(st.sets(st.integers(0, len(order) - 1), max_size=3))


TWO_DAYS = (
    TimeRange(DAY, DAY + timedelta(days=2)),
    TimeRange(DAY + timedelta(minutes=50), DAY + timedelta(days=1, hours=2, minutes=30)),
)
LAST_HOURS = (
    TimeRange(DAY + timedelta(hours=2), DAY + timedelta(hours=3)),
    TimeRange(DAY + timedelta(minutes=50), DAY + timedelta(hours=1, minutes=50)),
    TimeRange(DAY + timedelta(minutes=20), DAY + timedelta(hours=2, minutes=40)),
)


async def examine(store, case, ranges=TWO_DAYS):
    order, make_after = case
    await store.empty()  # examples on top of others would take longer and longer
    current = {}
    for place, (aa_id, window, seed) in enumerate(order):
        payload = request_metrics(2, aa_id, str(uuid.uuid4()), window, seed)
        payload = failing(payload) if seed > 3 else payload
        done = await store.push(payload)
        former = current.get((aa_id, window))
        expected = (
            IngestStatus.ACCEPTED
            if former is None
            else IngestStatus.DUPLICATE
            if former.fips == payload.fips
            else IngestStatus.REPLACED
        )
        assert done.status is expected
        current[aa_id, window] = payload
        if place in make_after:
            await store.make_sums()
    for within in ranges:
        truth = plain(current.values(), within)
        assert comparable(await store.totals(within)) == truth
        await store.over_all_and_pairs_are_true(within)
    await store.make_sums()
    for within in ranges:
        truth = plain(current.values(), within)
        assert comparable(await store.totals(within)) == truth
        one = {key: sums for key, sums in truth.items() if key[0] == "aa-one"}
        assert comparable(await store.totals(within, aa_id="aa-one")) == one
        await store.over_all_and_pairs_are_true(within)
    async with store.database.transaction() as tx:
        for day in (DAY, DAY + timedelta(days=1)):
            assert not any(found.different for found in await recount(tx, day))


def test_sums_equal_a_plain_recount_whatever_came_when(conninfo):
    # One store for all examples: each new one has every statement compiled and prepared again.
    with asyncio.Runner() as runner:
        store = Store(conninfo)

        @settings(max_examples=8, deadline=None)
        @given(deliveries())
        def recounted(case):
            runner.run(examine(store, case))

        try:
            recounted()
        finally:
            runner.run(store.database.close())


def test_windows_of_the_last_hours_equal_a_plain_recount_whatever_came_when(conninfo):
    with asyncio.Runner() as runner:
        store = Store(conninfo)

        @settings(max_examples=18, deadline=None)
        @given(
            deliveries(windows=18, aas=("aa-one", "aa-two", "aa-three")),
            st.sampled_from([1, MAX_ROWS_TOGETHER]),
            st.sampled_from([3, 5, 8]),
        )
        def recounted(case, rows_together, age):
            store.rows_together, store.now = rows_together, DAY + timedelta(hours=age)
            runner.run(examine(store, case, LAST_HOURS))

        try:
            recounted()
        finally:
            runner.run(store.database.close())


def test_an_hour_of_very_many_rows_is_summed_by_a_window_a_transaction(conninfo):
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
    seen = with_store(conninfo, act)

    assert seen[:3] == made
    assert seen[3][:2] != ("hour", "aa-one")


@pytest.mark.parametrize(
    ("ages", "windows"),
    [((6, 6, 6, 6), [1, 2, 3]), ((2, 6, 6, 6), [2, 2, 3])],
    ids=["old", "that grows old meanwhile"],
)
def test_an_old_hour_of_very_many_rows_is_summed_by_a_window_a_transaction(conninfo, ages, windows):
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

    seen, left = with_store(conninfo, act)

    assert seen[:3] == [
        ("hour", "aa-one", number, place == 2) for place, number in enumerate(windows)
    ]
    assert seen[3][:2] != ("hour", "aa-one")
    assert left == 0


def test_pages_do_not_look_for_windows_of_an_old_hour_that_is_being_summed(conninfo):
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

    assert with_store(conninfo, act) is None


def test_sums_stay_when_what_they_are_made_of_was_dropped(conninfo):
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
            await drop_before(tx, RAW, DAY + timedelta(days=1))
        await store.run("DELETE FROM metrics_push WHERE aa_id = 'aa-kept'")
        await store.run("DELETE FROM metrics_receipt WHERE aa_id = 'aa-kept'")
        for aa_id in ("aa-kept", ""):
            for grain in ("hour", "day"):
                await store.run(marks, grain=grain, aa=aa_id, at=DAY)
        await store.make_sums()
        of_hours = await known()
        async with store.database.transaction() as tx:
            assert await recount(tx, DAY) == []
            await drop_before(tx, HOURS, datetime(2026, 4, 1, tzinfo=UTC))
        for aa_id in ("aa-kept", ""):
            await store.run(marks, grain="day", aa=aa_id, at=DAY)
        await store.make_sums()
        marked = await store.run("SELECT count(*) FROM metrics_stale WHERE grain <> 'window'")
        return before, of_hours, await known(), marked.scalar()

    before, of_hours, of_days, marked = with_store(conninfo, act)

    assert before[0]
    assert before == of_hours == of_days
    assert marked == 0


MARK_OFTEN = sa.text(
    "INSERT INTO metrics_stale (grain, aa_id, tag, at)"
    " SELECT 'hour', 'aa-many', 'req', :at FROM generate_series(1, 70000)"
)


def test_any_number_of_marks_is_cleared(conninfo):
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

    assert with_store(conninfo, act) == 0


def test_a_txn_id_used_for_other_content_changes_nothing(conninfo):
    async def act(store):
        first = request_metrics(1, "aa-reuse", "one-id", DAY)
        await store.push(first)
        assert isinstance(
            await store.push(notification_metrics(1, "aa-reuse", "one-id", DAY)), TxnIdReused
        )
        assert comparable(
            await store.totals(TimeRange(DAY, DAY + WINDOW), aa_id="aa-reuse")
        ) == plain([first], TimeRange(DAY, DAY + WINDOW))

    with_store(conninfo, act)


def test_sizes_beyond_2_to_the_63_are_kept_exactly(conninfo):
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

    with_store(conninfo, act)


def replace_size(block, size):
    return msgspec.structs.replace(block, sum_of_size_of_data_packets=str(size))


def test_the_former_version_of_a_replaced_window_is_kept(conninfo):
    async def act(store):
        for seed in (1, 2, 3):
            await store.push(request_metrics(2, "aa-former", str(uuid.uuid4()), DAY, seed))
        rows = await store.run(
            "SELECT version, count(*) FROM metrics_previous WHERE aa_id = 'aa-former' GROUP BY 1 ORDER BY 1"
        )
        assert [tuple(row) for row in rows] == [(1, 22), (2, 22)]

    with_store(conninfo, act)


def test_a_recount_finds_wrong_sums_and_has_them_made_again(conninfo):
    async def act(store):
        await store.empty()  # a recount looks at all, other tests drop what sums were made of
        await store.push(request_metrics(2, "aa-stale", str(uuid.uuid4()), DAY))
        await store.make_sums()
        for table in ("metrics_hour", "metrics_day"):
            await store.run(
                f"UPDATE {table} SET counts[2] = counts[2] + 1 WHERE aa_id = 'aa-stale' AND type = 'hbt'"
            )
        async with store.database.transaction() as tx:
            assert [found.different for found in await recount(tx, DAY)] == [2, 2]
            await mark_day_stale(tx, DAY)
        await store.make_sums()
        async with store.database.transaction() as tx:
            assert [found.different for found in await recount(tx, DAY)] == [0, 0]

    with_store(conninfo, act)


def test_old_partitions_are_dropped_and_sums_by_day_stay(conninfo):
    async def act(store):
        await store.push(request_metrics(1, "aa-old", str(uuid.uuid4()), DAY))
        await store.make_sums()
        within = TimeRange(DAY, DAY + timedelta(days=1))
        before = await store.totals(within, aa_id="aa-old")
        async with store.database.transaction() as tx:
            assert await drop_before(tx, RAW, DAY) == []
            assert await drop_before(tx, RAW, DAY + timedelta(days=1)) == ["metrics_raw_20260304"]
            await drop_before(tx, PREVIOUS, DAY + timedelta(days=1))
            assert await drop_before(tx, HOURS, datetime(2026, 4, 1, tzinfo=UTC)) == [
                "metrics_hour_202603"
            ]
        assert before
        assert await store.totals(within, aa_id="aa-old") == before

    with_store(conninfo, act)


def test_partitions_are_made_ahead_once(conninfo):
    async def act(store):
        for _ in range(2):
            async with store.database.transaction() as tx:
                await make_ahead(tx)
        rows = await store.run("SELECT to_regclass('metrics_raw_20260310')")
        assert rows.scalar() is not None

    with_store(conninfo, act)
