"""The list of revoked tokens is sent from memory, but while a change of it may be committing."""

import asyncio
import json
from contextlib import asynccontextmanager
from datetime import UTC, datetime

import pytest

from mudra.storage.caching.announcement import Announcement, encoded
from mudra.storage.caching.cache_invalidation import CacheInvalidation
from mudra.tokens.revocation.node_revocations import RevocationLists

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


class NothingRevoked:
    """A database in memory without any revoked token; counts how often it was read."""

    def __init__(self):
        self.reads = 0

    @asynccontextmanager
    async def transaction(self):
        self.reads += 1
        yield self

    @property
    def connection(self):
        return self

    async def now(self):
        return NOW

    async def scalars(self, *_):
        return []

    async def execute(self, *_):
        return []


class Key:
    """Signs at once."""

    async def ready(self):
        pass

    def sign_detached(self, *_):
        return "signed"


def lists_asked_for(after):
    """Read the list twice after these announcements of another node; give the reads of storage."""

    async def ask():
        invalidation, database = CacheInvalidation(""), NothingRevoked()
        invalidation._proven_at, invalidation._settled_at = float("inf"), float("-inf")
        lists = RevocationLists(database, invalidation, Key(), "https://iam")
        for kind, key, fence in after:
            invalidation._apply(encoded(Announcement(kind, key, "another", fence)))
        await lists.current()
        await lists.current()
        return database.reads

    return asyncio.run(ask())


REVOKED = [("fence", "revoked:1", "a"), ("changed", "revoked:1", "a")]


@pytest.mark.parametrize(
    "after", [[], REVOKED, REVOKED * 3, [*REVOKED, ("fence", "entity-of-another:1", "b")]]
)
def test_after_a_change_was_committed_the_list_is_read_once(after):
    assert lists_asked_for(after) == 1


@pytest.mark.parametrize("key", ["revoked:2", "entity:KAVERI-FIP"])
def test_while_a_change_may_be_committing_each_list_is_read(key):
    assert lists_asked_for([*REVOKED, ("fence", key, "b")]) == 2


def test_a_list_bears_the_time_of_the_database_whatever_the_clock_of_its_node_is():
    async def ask():
        invalidation = CacheInvalidation("")
        lists = RevocationLists(NothingRevoked(), invalidation, Key(), "https://iam")
        return await lists.current()

    assert json.loads(asyncio.run(ask()).body)["issuedAt"] == int(NOW.timestamp())
