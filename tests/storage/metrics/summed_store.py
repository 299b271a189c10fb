"""What came of reports in a real database, and what a plain recount makes of the same."""

import asyncio
import contextlib
import itertools
import uuid
from copy import copy
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import msgspec
import sqlalchemy as sa
from hypothesis import strategies as st
from tests.support.metrics.metrics_payloads import failing, request_metrics

from mudra.audit.audit_log_store import AuditLog
from mudra.audit.event import Caller
from mudra.identity.memberships.membership_store import Memberships
from mudra.identity.memberships.notices import NoticeService
from mudra.metrics.health.fip_health import REQUESTS_SHOWN
from mudra.metrics.payload.catalogue import CALL_CODES, WINDOW
from mudra.metrics.payload.ingest_rule import IngestStatus
from mudra.metrics.payload.push_report import PushService
from mudra.metrics.payload.validation import CheckedReport, check_report
from mudra.metrics.rollup.coverage import TimeRange
from mudra.metrics.rollup.rollup_service import RollupService
from mudra.metrics.rollup.step import Step
from mudra.metrics.sums.plain_recount import PlainSums, plain_recount
from mudra.shared.mail.notice import Notice
from mudra.storage.caching.cache_invalidation import CacheInvalidation
from mudra.storage.database.database import Database
from mudra.storage.metrics.blocks.questions import BlockQuestions
from mudra.storage.metrics.blocks.sums.refresh import BlockSums
from mudra.storage.metrics.held_reports import PostgresHeldReports
from mudra.storage.metrics.receipts import OnboardedMembers
from mudra.storage.metrics.report_marks import PostgresReportMarks
from mudra.storage.metrics.reports import KnownPartitions, PostgresReports
from mudra.storage.metrics.stored_report import long_tag, storable
from mudra.storage.tables.metadata import metadata

WORK_S = 60.0

DAY, HOUR = datetime(2026, 3, 4, tzinfo=UTC), timedelta(hours=1)
AFTER = DAY + timedelta(days=3)
CUSTOMERS = frozenset(CALL_CODES) - {"hbt"}
"""All calls, in which heartbeats do not count."""


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
        self._made = {}
        """By a key: what was made once, and the rows of it."""

    def begin(self):
        """Know nothing of what was done before, and begin at the usual time."""
        self.now, self._began = AFTER, datetime.now(UTC)
        self.partitions = KnownPartitions()

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
                NoticeService(Memberships(tx), NoMail()),
                OnboardedMembers(tx),
                AuditLog(tx),
            )
            return await pushes.receive(storable(checked), str(uuid.uuid4()), Caller("entity:test"))

    async def make_sums(self):
        while await self.make_next_sums() is not None:
            pass

    async def make_next_sums(self):
        async with self.database.transaction(within_s=WORK_S) as tx:
            rollups = RollupService(BlockSums(tx))
            stale = await rollups.next_stale(delayed=False)
            if stale is not None:
                await rollups.refresh(stale)
            return stale

    async def totals(self, within, **part):
        async with self.patiently() as tx:
            return await BlockQuestions(tx).totals(within, **part)

    async def reads_of_all_are_true(self, within, current):
        """Each question about all FIPs in a range is answered by the sums of a plain recount."""
        truth = Truth(current, within)
        await self.reads_over_aas_are_true(within, current)
        async with self.patiently() as tx:
            asked = BlockQuestions(tx)
            assert summed(await asked.totals(within)) == truth.by("aa", "fip", "type")
            assert summed(await asked.of_aas(within)) == truth.by("aa", "type")
            calls = truth.only(CUSTOMERS)
            assert summed(await asked.calls_of_pairs(within)) == calls.by("aa", "fip")

    async def reads_over_aas_are_true(self, within, current):
        """The same for the question about each FIP over all AAs."""
        async with self.patiently() as tx:
            found = await BlockQuestions(tx).over_aas(within)
        assert summed(found) == Truth(current, within).by("fip", "type")

    async def reads_are_true(self, within, current):
        """Each question about a range is answered by the sums of a plain recount."""
        await self.reads_of_all_are_true(within, current)
        truth = Truth(current, within)
        calls = truth.only(CALL_CODES)
        code, _ = next(self._codes)
        async with self.patiently() as tx:
            asked = BlockQuestions(tx)
            pairs = await asked.pairs(within, (code,))
            assert summed(pairs) == truth.only({code}).by("aa", "fip", "type")
            for fip_id in sorted(truth.fips)[:1]:
                of_one = await asked.pairs(within, REQUESTS_SHOWN, fip_ids=[fip_id])
                shown = truth.only(REQUESTS_SHOWN).of_fip(fip_id)
                assert summed(of_one) == shown.by("aa", "fip", "type")
                steps = await asked.steps(within, Step.HOUR, CALL_CODES, fip_id=fip_id)
                by_hour = dict(zip(steps.starts(), map(plain_of, steps.rows()), strict=True))
                assert by_hour == calls.of_fip(fip_id).by_hour()
            await times_are_true(asked, within, current)
            counted = (await PostgresReportMarks(tx).received(within)).windows
        rows = await self.run(
            "SELECT aa_id, tag, count(*) FROM metrics_receipt WHERE version = 1"
            " AND window_at >= :start AND window_at < :end GROUP BY 1, 2",
            start=within.start,
            end=within.end,
        )
        heard = {(aa_id, long_tag(tag)): count for aa_id, tag, count in rows}
        assert dict(counted) == heard

    @contextlib.asynccontextmanager
    async def maintenance(self, *, within_s):
        """What the scheduled jobs use of the sums, in a transaction."""
        async with self.database.transaction(within_s=within_s) as tx:
            rollups = RollupService(BlockSums(tx))
            yield SimpleNamespace(now=await tx.now(), rollups=rollups)

    async def differing(self, day):
        """The sums of a day that differ from the reports, as the recount of that night finds."""
        async with self.maintenance(within_s=WORK_S) as work:
            parts = await work.rollups.recount_parts(day + timedelta(days=1), 1)
            found = [one for part in parts for one in await work.rollups.recount(part)]
        return {one.sums: one.different for one in found if one.different}

    async def empty(self):
        async with self.patiently() as tx:
            for table in WRITTEN:
                await tx.connection.execute(sa.text(f"DELETE FROM {table}"))

    async def once(self, key, make):
        """Let an empty store have what `make` fills it with, and return what that gave.

        It is made once: from then on its rows are written, in a tenth of the CPU.
        """
        await self.empty()
        if key not in self._made:
            given = await make()
            async with self.patiently() as tx:
                rows = [(table, await _rows(tx, table)) for table in _TABLES]
            self._made[key] = given, [(table, found) for table, found in rows if found]
            return given
        given, rows = self._made[key]
        async with self.patiently() as tx:
            for table, found in rows:
                await tx.connection.execute(sa.insert(table), found)
        return given

    async def run(self, sql, **values):
        async with self.patiently() as tx:
            return await tx.connection.execute(sa.text(sql), values)


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


async def times_are_true(asked, within, current):
    """Short times of each FIP, which overlap those of others, are a plain recount as well."""
    lengths = itertools.cycle((10 * WINDOW, 7 * WINDOW))
    times = {
        fip_id: [*pieces(within, length)]
        for fip_id, length in zip(sorted(Truth(current, within).fips), lengths, strict=False)
    }
    if not times:
        return
    found = await asked.of_times(times, aa_id=None, with_times=True)
    rows = zip(found.starts(), found.items(), strict=True)
    truth = {
        (part.start, *key): sums
        for fip_id, of_fip in times.items()
        for part in of_fip
        for key, sums in Truth(current, part).of_fip(fip_id).by("aa", "fip", "type").items()
    }
    assert {
        (at, cell.aa_id, cell.fip_id, cell.type): plain_of(row) for at, (cell, row) in rows
    } == truth


def pieces(within, length):
    start = within.start
    while start < within.end:
        yield TimeRange(start, min(start + length, within.end))
        start += length


class Truth:
    """A recount in memory, by plain loops, of the contents that stand."""

    def __init__(self, payloads, within):
        self.blocks = [
            ((start, payload.aa_id, fip.fip_id, block.type), block)
            for payload in payloads
            for start in (datetime.fromisoformat(payload.from_date_time),)
            if within.start <= start < within.end
            for fip in payload.fips
            for block in fip.metrics
        ]

    @property
    def fips(self):
        return {key[2] for key, _ in self.blocks}

    def only(self, codes):
        return self._with(lambda key: key[3] in codes)

    def of_fip(self, fip_id):
        return self._with(lambda key: key[2] == fip_id)

    def by(self, *names):
        places = [("aa", "fip", "type").index(name) + 1 for name in names]
        return self._recounted(lambda key: tuple(key[place] for place in places))

    def by_hour(self):
        return self._recounted(lambda key: key[0].replace(minute=0))

    def _with(self, chosen):
        found = copy(self)
        found.blocks = [one for one in self.blocks if chosen(one[0])]
        return found

    def _recounted(self, key_of):
        found = plain_recount((key_of(key), block) for key, block in self.blocks)
        return {key: replace_longest(sums) for key, sums in found.items()}


def replace_longest(sums):
    """Leaves the longest time out, which a question without times does not tell."""
    return msgspec.structs.replace(sums, longest=0)


def plain_of(row):
    """Returns what adds up exactly of a row."""
    return PlainSums(
        row.blocks,
        [*row.counts],
        [*row.statuses],
        row.data_bytes,
        0,
        row.late.lower,
        row.late.upper,
    )


def summed(totals):
    """Returns the rows of totals by the IDs that they have, as a recount gives them."""
    return {
        tuple(name for name in (cell.aa_id, cell.fip_id, cell.type) if name): plain_of(row)
        for cell, row in totals.items()
    }


WRITTEN = (
    *("metrics_push", "metrics_receipt", "metrics_block", "metrics_block_previous"),
    *("metrics_stale", "metrics_received", "metrics_held"),
)
_TABLES = [one for one in metadata.sorted_tables if one.name in WRITTEN]


async def _rows(tx, table):
    """All of a table, but for numbers that it gives its rows itself."""
    columns = [one for one in table.columns if one.identity is None]
    found = await tx.connection.execute(sa.select(*columns))
    return [dict(row) for row in found.mappings()]


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
        await store.reads_are_true(within, current.values())
    await store.make_sums()
    for within in ranges:
        await store.reads_are_true(within, current.values())
        of_one = [one for (aa_id, _), one in current.items() if aa_id == "aa-one"]
        found = await store.totals(within, aa_id="aa-one")
        assert summed(found) == Truth(of_one, within).by("aa", "fip", "type")
    for day in (DAY, DAY + timedelta(days=1)):
        assert await store.differing(day) == {}
