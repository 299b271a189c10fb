"""The registry's storage in a real PostgreSQL, for tests that speak to no service."""

import contextlib
import datetime as dt
from collections.abc import AsyncIterator
from pathlib import Path

from tests.support.database.template_database import prepare

from mudra.registry.directory.directory_log_store import DirectoryLogStore
from mudra.registry.lifecycle.registry_store import RegistryStore
from mudra.storage.caching.cache_invalidation import CacheInvalidation
from mudra.storage.database.database import Database
from mudra.storage.database.embedded.server import embedded_server
from mudra.storage.database.schema.migrate import migrate


class RegistryNode:
    """One node's view of the registry; `offset` moves its time."""

    def __init__(self, conninfo: str) -> None:
        self.offset = dt.timedelta()
        self.invalidation = CacheInvalidation(conninfo)
        self.database = Database(conninfo, self.invalidation, lambda: self.offset)
        self.log = DirectoryLogStore(self.database, self.invalidation)

    async def run(self, use_case, *arguments, **options):
        """Run one use case of the registry in a transaction of its own."""
        async with self.database.transaction() as transaction:
            return await use_case(
                RegistryStore(transaction, one_operator=True), *arguments, **options
            )

    async def record(self, entity_id: str):
        return await self.run(lambda registry: registry.record(entity_id))

    async def now(self) -> dt.datetime:
        return await self.run(lambda registry: registry.lock())

    async def mark_visibility(self) -> None:
        await self.run(lambda registry: registry.mark_visibility())


@contextlib.asynccontextmanager
async def registry_node(conninfo: str) -> AsyncIterator[RegistryNode]:
    node = RegistryNode(conninfo)
    await node.invalidation.start()
    try:
        yield node
    finally:
        await node.invalidation.stop()
        await node.database.close()


@contextlib.contextmanager
def registry_database(folder: Path):
    """Give the address of a fresh, migrated database."""
    prepare(folder)
    with embedded_server(folder) as conninfo:
        migrate(conninfo)
        yield conninfo
