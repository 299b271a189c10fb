"""What came of reports in a real database, and what a plain recount makes of the same."""

import asyncio
import contextlib
import itertools
import uuid
from collections import defaultdict
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import msgspec
import sqlalchemy as sa
from hypothesis import strategies as st
from tests.support.metrics.metrics_payloads import failing, request_metrics

from mudra.audit.event import Caller
from mudra.identity.memberships.notices import NoticeService
from mudra.identity.ports import Notice
from mudra.jobs.metrics_jobs import WORK_S
from mudra.metrics.health.fip_health import REQUESTS_SHOWN
from mudra.metrics.health.weighing import weigh_day, weigh_fips
from mudra.metrics.payload.catalogue import WINDOW, Tag
from mudra.metrics.payload.ingest_rule import IngestStatus
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
from mudra.storage.metrics.stored_report import long_tag, storable
from mudra.storage.metrics.held_reports import PostgresHeldReports
from mudra.storage.metrics.receipts import OnboardedMembers
from mudra.storage.metrics.reports import KnownPartitions, PostgresReports
from mudra.storage.metrics.rollups.rollup_queries import PostgresRollupQueries
from mudra.storage.metrics.rollups.rollups import PostgresRollups

DAY, HOUR = datetime(2026, 3, 4, tzinfo=UTC), timedelta(hours=1)
AFTER = DAY + timedelta(days=3)


class NoMail:
    """An outbox for reports that are all plausible."""

    async def post(self, notice: Notice) -> None:
        raise AssertionError(notice.kind)


class Store:
    """The storage of metrics at a time of its own."""

    def __init__(self, conninfo):
        self.begin()
        invalidation = CacheInvalidation(conninfo)
        self.database = Database(conninfo, invalidation, lambda: self.now - self._began)
        self._codes = itertools.cycle(itertools.permutations(REQUESTS_SHOWN, 2))
        """Two APIs to look at: those of one place among the ranges are others in each example."""

    def begin(self):
        """Know nothing of what was done before, and begin at the usual time."""
        self.now, self._began = AFTER, datetime.now(UTC)
        self.partitions = KnownPartitions()
        self.rows_together = MAX_ROWS_TOGETHER

    @contextlib.asynccontextmanager
    async def patiently(self):
        """A transaction whose statements may take long: of a slow one no example is made smaller."""
        async with self.database.transaction(within_s=WORK_S) as tx:
            await tx.take_time(WORK_S)
            yield tx

    async def push(self, payload):
        checked = check_report(msgspec.json.encode(payload), self.now)
        assert isinstance(checked, CheckedReport), checked
        async with self.patiently() as tx:
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
            stale = await rollups.next_stale(delayed=False)
            if stale is not None:
                await rollups.refresh(stale)
            return stale

    async def totals(self, within, **part):
        async with self.patiently() as tx:
            return await PostgresRollupQueries(tx).totals(within, **part)

    async def over_all_and_pairs_are_true(self, within):
        """The sums over all AAs, by AA, of pairs and of windows heard are those of all cells."""
        cells = await self.totals(within)
        over, of_aas, heard = defaultdict(list), defaultdict(list), defaultdict(int)
        pairs, by_code = {}, defaultdict(dict)
        for cell, sums in cells.items():
            over[(cell.fip_id, cell.tag, cell.type)].append(coarse(sums))
            of_aas[(cell.aa_id, cell.tag, cell.type)].append(coarse(sums))
            if cell.tag is Tag.REQUESTS and cell.type not in {"sfireqnot", "ffireqnot"}:
                key = Pair(cell.aa_id, cell.fip_id)
                one = by_code[cell.type][key] = pair_sums(sums)
                pairs[key] = add_pairs(pairs[key], one) if key in pairs else one
        async with self.patiently() as tx:
            figures = PostgresRollupQueries(tx)
            assert {
                (c.fip_id, c.tag, c.type): merge_all([coarse(s)])
                async for found in figures.over_aas_by_type(within)
                for c, s in found.items()
            } == {key: merge_all(parts) for key, parts in over.items()}
            by_aa = await figures.of_aas(within)
            assert {(c.aa_id, c.tag, c.type): coarse(s) for c, s in by_aa.items()} == {
                key: merge_all(parts) for key, parts in of_aas.items()
            }
            assert await figures.pairs(within) == pairs
            await fips_are_true(figures, within, pairs)
            codes = code, _ = next(self._codes)
            assert await figures.pairs(within, (code,)) == by_code[code]
            await contested_are_true(figures, within, by_code, codes)
            await pairs_of_a_fip_are_true(figures, within, by_code, code)
            counted = (await figures.received(within)).windows
        rows = await self.run(
            "SELECT aa_id, tag, count(*) FROM metrics_receipt WHERE version = 1"
            " AND window_at >= :start AND window_at < :end GROUP BY 1, 2",
            start=within.start,
            end=within.end,
        )
        for aa_id, tag, count in rows:
            heard[(aa_id, long_tag(tag))] = count
        assert dict(counted) == dict(heard)

    @contextlib.asynccontextmanager
    async def maintenance(self, *, within_s):
        """What the scheduled jobs use of the sums, in a transaction."""
        async with self.database.transaction(within_s=within_s) as tx:
            rollups = RollupService(PostgresRollups(tx, self.rows_together))
            yield SimpleNamespace(now=await tx.now(), rollups=rollups)

    async def differing(self, day):
        """How many rows of sums differ from what they are made of, by the part of the recount."""
        async with self.maintenance(within_s=WORK_S) as work:
            parts = await work.rollups.recount_parts(day + timedelta(days=1), 1)
        hours = set((await self.run(HOURS_WITH_ROWS, start=day)).scalars())
        async with self.maintenance(within_s=WORK_S) as work:
            found = {
                part: await work.rollups.recount(part)
                for part in parts
                if part.grain == "day" or part.at in hours
            }
        return {part: one.different for part, one in found.items() if one.different}

    async def empty(self):
        async with self.patiently() as tx:
            for table in WRITTEN:
                await tx.connection.execute(sa.text(f"DELETE FROM {table}"))

    async def run(self, sql, **values):
        async with self.patiently() as tx:
            return await tx.connection.execute(sa.text(sql), values)


async def fips_are_true(figures, within, pairs):
    """What most AAs see of each FIP is found by the sums as it is by its pairs."""
    sums = await figures.of_fips(within)
    fips = {pair.fip_id for pair in sums.contested}
    assert sums.contested == {pair: one for pair, one in pairs.items() if pair.fip_id in fips}
    assert weigh_day(sums) == weigh_fips(pairs)


async def contested_are_true(figures, within, by_code, codes):
    """Of these APIs, contested pairs are whole rows of the matrix, and all that can be outvoted."""
    contested = {code: pairs async for code, pairs in figures.contested_pairs(within, codes)}
    assert contested.keys() == set(codes)
    for code in codes:
        pairs = by_code[code]
        fips = {pair.fip_id for pair in contested[code]}
        assert contested[code] == {pair: one for pair, one in pairs.items() if pair.fip_id in fips}
        left_out = [one for pair, one in pairs.items() if pair.fip_id not in fips]
        assert all(map(is_good_in_sums, left_out))


async def pairs_of_a_fip_are_true(figures, within, by_code, code):
    """The pairs of a FIP of an API are those of the matrix, of no API those of another."""
    fips = sorted({pair.fip_id for pairs in by_code.values() for pair in pairs})
    for fip_id in fips[:1]:
        found = await figures.pairs_of_fip(within, fip_id, REQUESTS_SHOWN)
        assert found.keys() == set(REQUESTS_SHOWN)
        assert found[code] == {p: one for p, one in by_code[code].items() if p.fip_id == fip_id}


@contextlib.contextmanager
def one_store(conninfo):
    """Give what acts on one store: each new one has every statement compiled and prepared again."""
    with asyncio.Runner() as runner:
        store = Store(conninfo)

        def act_on_it(act):
            store.begin()
            return runner.run(act(store))

        try:
            yield act_on_it
        finally:
            runner.run(store.database.close())


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


HOURS_WITH_ROWS = (
    "SELECT at FROM metrics_hour WHERE at >= :start AND at < :start + interval '1 day'"
    " UNION SELECT date_trunc('hour', window_at, 'UTC') FROM metrics_raw"
    " WHERE window_at >= :start AND window_at < :start + interval '1 day'"
)
"""Those of a day that have any sums or raw rows: in others nothing can differ."""
WRITTEN = (
    *("metrics_push", "metrics_receipt", "metrics_raw", "metrics_previous", "metrics_stale"),
    *("metrics_hour", "metrics_day", "metrics_pair_hour", "metrics_pair_day", "metrics_received"),
    *("metrics_window", "metrics_packed"),
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
    for day in (DAY, DAY + timedelta(days=1)):
        assert await store.differing(day) == {}
