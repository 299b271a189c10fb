"""Which connections a process uses, and what one that listened leaves behind."""

import asyncio
from datetime import timedelta

import pytest
import sqlalchemy as sa

from mudra.storage.caching.cache_invalidation import CacheInvalidation
from mudra.storage.database import database
from mudra.storage.database.database import Database

_PID = sa.text("SELECT pg_backend_pid()")


def test_who_stops_to_listen_does_not_doubt_the_primary(conninfo: str) -> None:
    """Else its last connection, which takes it off the list of nodes, is the fourth it opens."""

    async def listened() -> CacheInvalidation:
        invalidation = CacheInvalidation(conninfo)
        await invalidation.start()
        await invalidation.stop()
        return invalidation

    lineage = asyncio.run(listened()).lineage

    assert lineage.newest is not None
    assert lineage.doubted is None


def sessions(conninfo: str, at_once: int, one_by_one: int) -> tuple[set[int], list[int]]:
    """Sessions of so many transactions at once, then of so many one after the other."""

    async def run() -> tuple[set[int], list[int]]:
        pool = Database(conninfo, CacheInvalidation(conninfo), timedelta)
        together = asyncio.Barrier(at_once)

        async def session(*, alone: bool = True) -> int:
            async with pool.transaction() as transaction:
                pid = await transaction.connection.scalar(_PID)
                if not alone:
                    await together.wait()
            assert isinstance(pid, int)
            return pid

        try:
            many = await asyncio.gather(*(session(alone=False) for _ in range(at_once)))
            return set(many), [await session() for _ in range(one_by_one)]
        finally:
            await pool.close()

    return asyncio.run(run())


def test_after_many_at_once_one_session_does_what_comes_one_by_one(conninfo: str) -> None:
    many, after = sessions(conninfo, at_once=4, one_by_one=6)

    assert len(many) == 4
    assert len(set(after)) == 1
    assert set(after) < many


def test_a_session_that_is_too_old_is_replaced(
    conninfo: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "OLDEST_S", 0)

    many, after = sessions(conninfo, at_once=2, one_by_one=3)

    assert len({*many, *after}) == 5
