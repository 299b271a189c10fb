"""Sums and marks of what comes late are made in one go; what is live never waits (0216)."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest
import sqlalchemy as sa

from mudra.storage.caching.cache_invalidation import CacheInvalidation
from mudra.storage.database.database import Database
from mudra.storage.metrics.attribution import PostgresDetections
from mudra.storage.metrics.blocks.sums.refresh import BlockSums

MAX_DELAY = timedelta(minutes=2)
MAX_DELAY_OF_MANY = timedelta(minutes=10)
QUIET = timedelta(seconds=20)

NOW = datetime(2026, 3, 7, 12, 5, tzinfo=UTC)
LONG_AGO = NOW - timedelta(days=2, hours=6, minutes=5)
"""06:00: the hour of a backlog."""


class Notes:
    """Notes of what is stale, and what is marks of them."""

    def __init__(self, conninfo):
        real = datetime.now(UTC)
        self.database = Database(conninfo, CacheInvalidation(conninfo), lambda: NOW - real)

    async def leave(self, number, grain="hour", aa_id="aa-returning", at=LONG_AGO, age=timedelta()):
        await self.run(
            "INSERT INTO metrics_stale (grain, aa_id, tag, at, noted_at)"
            " SELECT :grain, :aa_id, 'req', :at, now() - CAST(:age AS interval)"
            " FROM generate_series(1, :number)",
            grain=grain,
            aa_id=aa_id,
            at=at,
            age=age,
            number=number,
        )

    async def next(self, *, delayed=True):
        async with self.database.transaction() as tx:
            return await BlockSums(tx).next_stale(delayed=delayed)

    async def windows(self):
        async with self.database.transaction() as tx:
            return list(await PostgresDetections(tx).stale_windows(NOW))

    async def run(self, sql, **values):
        async with self.database.transaction() as tx:
            await tx.connection.execute(sa.text(sql), values)


def with_notes(conninfo, act):
    async def acting():
        notes = Notes(conninfo)
        try:
            await notes.run("DELETE FROM metrics_stale")
            await act(notes)
        finally:
            await notes.database.close()

    asyncio.run(acting())


def test_late_windows_wait_until_nothing_more_of_a_day_comes(conninfo):
    async def act(notes):
        await notes.leave(1)
        await notes.leave(1, aa_id="aa-done", age=QUIET)
        await notes.leave(1, aa_id="aa-done", at=LONG_AGO + timedelta(hours=1), age=QUIET)
        found = await notes.next()
        assert (found.aa_id, len(found.ats)) == ("aa-done", 2)
        await notes.leave(1, aa_id="aa-done", at=LONG_AGO + timedelta(hours=2))
        assert await notes.next() is None
        assert await notes.next(delayed=False) is not None

    with_notes(conninfo, act)


@pytest.mark.parametrize(
    ("grain", "aa_id", "longest"),
    [
        ("hour", "aa-one", MAX_DELAY),
        ("hour", "", MAX_DELAY_OF_MANY),
        ("day", "aa", MAX_DELAY_OF_MANY),
    ],
)
def test_nothing_waits_for_ever_though_more_of_it_keeps_coming(conninfo, grain, aa_id, longest):
    async def act(notes):
        at = LONG_AGO.replace(hour=0)
        await notes.leave(1)
        await notes.leave(2, grain, aa_id, at)
        await notes.leave(1, grain, aa_id, at, longest - timedelta(seconds=30))
        assert await notes.next() is None
        await notes.leave(1, grain, aa_id, at, longest)
        found = await notes.next()
        assert (found.grain, found.aa_id, found.ats) == (grain, aa_id, (at,))

    with_notes(conninfo, act)


def test_what_is_live_comes_first_and_never_waits(conninfo):
    async def act(notes):
        await notes.leave(1, age=MAX_DELAY)
        await notes.leave(1, aa_id="aa-live", at=NOW.replace(minute=0))
        found = await notes.next()
        assert (found.aa_id, found.ats) == ("aa-live", (NOW.replace(minute=0),))

    with_notes(conninfo, act)


def test_the_watch_waits_for_late_windows_but_not_for_what_is_live(conninfo):
    async def act(notes):
        live, running = NOW - timedelta(minutes=15), NOW - timedelta(minutes=5)
        await notes.leave(1, "window")
        await notes.leave(1, "window", at=live)
        await notes.leave(1, "window", at=running)
        await notes.leave(1, "window", "", at=live - timedelta(minutes=10))  # of sums over all
        assert await notes.windows() == [live]
        await notes.leave(1, "window", age=MAX_DELAY)
        assert await notes.windows() == [live, LONG_AGO]

    with_notes(conninfo, act)


def test_a_watch_clears_what_it_judged_and_keeps_what_came_meanwhile(conninfo):
    async def act(notes):
        await notes.leave(2, "window", age=QUIET)
        async with notes.database.transaction() as tx:
            store = PostgresDetections(tx)
            ((window, marks),) = (await store.stale_windows(NOW)).items()
        await notes.leave(1, "window", age=QUIET)
        async with notes.database.transaction() as tx:
            await PostgresDetections(tx).clear(marks)
        assert await notes.windows() == [window]

    with_notes(conninfo, act)


def test_marks_that_another_process_clears_meanwhile_are_never_half_seen(conninfo):
    async def act(notes):
        async def leave_and_clear():
            for _ in range(200):
                await notes.leave(1)
                await notes.run("DELETE FROM metrics_stale")

        clearing = asyncio.create_task(leave_and_clear())
        seen = 0
        while not clearing.done():
            found = await notes.next(delayed=False)
            assert found is None or found.ats
            seen += found is not None
        await clearing
        assert seen

    with_notes(conninfo, act)
