"""What a process that listened for changes leaves behind."""

import asyncio

from mudra.storage.caching.cache_invalidation import CacheInvalidation


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
