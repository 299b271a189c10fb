"""A database of a test, opened as a process of the service does."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import TypeVar

from mudra.storage.caching.cache_invalidation import CacheInvalidation
from mudra.storage.database.database import Database

T = TypeVar("T")


def with_database(conninfo: str, act: Callable[[Database], Awaitable[T]]) -> T:
    """Act on a database in the service's own time, and close it."""

    async def run() -> T:
        database = Database(conninfo, CacheInvalidation(conninfo), timedelta)
        try:
            return await act(database)
        finally:
            await database.close()

    return asyncio.run(run())
