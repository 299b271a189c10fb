"""Fetches of the published keys, written behind in batches.

A node that is killed forgets the fetches of its last seconds: the counts are a
help for operators, not a proof.
"""

from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from typing import Final

import sqlalchemy as sa
import structlog
from msgspec import Struct
from sqlalchemy.dialects.postgresql import insert

from mudra.registry.directory.address_book import AddressBook, address_book
from mudra.registry.directory.directory import Directory
from mudra.shared.unavailable import DatabaseUnavailable
from mudra.storage.caching.write_behind import WriteBehind
from mudra.storage.database.database import Database
from mudra.storage.database.transaction import Transaction
from mudra.storage.tables.tokens import key_fetch


class KeyFetch(Struct, frozen=True):
    """The number of times that a member fetched a published key.

    Who fetched is known by the address alone, as the registry's live entries list it;
    `entity_id` is empty for all other addresses together.
    """

    kid: str
    entity_id: str
    count: int
    first_at: datetime
    last_at: datetime


_EVERY_S: Final = 2.0
_MAX_ADDRESSES: Final = 10_000
"""Counted separately within one batch; further ones are counted together."""
_NEW: Final = insert(key_fetch)
_ADD: Final = _NEW.on_conflict_do_update(
    index_elements=["kid", "entity_id"],
    set_={
        "count": key_fetch.c.count + _NEW.excluded.count,
        "last_at": sa.func.greatest(key_fetch.c.last_at, _NEW.excluded.last_at),
    },
)

_log = structlog.get_logger()


class KeyFetches:
    """Implements tokens/ports.py KeyFetches."""

    def __init__(self, transaction: Transaction) -> None:
        self._tx = transaction

    async def fetches(self) -> Sequence[KeyFetch]:
        """Return all counts, by key and entity."""
        c = key_fetch.c
        rows = await self._tx.connection.execute(
            sa.select(c.kid, c.entity_id, c.count, c.first_at, c.last_at).order_by(
                c.kid, c.entity_id
            )
        )
        return [KeyFetch(*row) for row in rows]


class BatchedKeyFetches:
    """Counts fetches of the published keys in memory; they are stored every few seconds."""

    def __init__(self, database: Database, directory: Callable[[], Awaitable[Directory]]) -> None:
        self._database = database
        self._directory = directory
        self._book: tuple[Directory, AddressBook] | None = None
        self._counts: Counter[tuple[tuple[str, ...], str]] = Counter()
        self._behind = WriteBehind("key-fetches", _EVERY_S, self._write)

    def __len__(self) -> int:
        """Return how many keys and addresses are counted separately and not yet stored."""
        return len(self._counts)

    def append(self, kids: Sequence[str], address: str) -> None:
        """Count one fetch of these keys; it is stored within seconds."""
        key = (tuple(kids), address)
        if key not in self._counts and len(self._counts) >= _MAX_ADDRESSES:
            key = (key[0], "")
        self._counts[key] += 1
        self._behind.due()

    def start(self) -> None:
        """Write batches from now on."""
        self._behind.start()

    async def stop(self) -> None:
        """Write what is left."""
        await self._behind.stop()

    async def _write(self) -> None:
        if not self._counts:
            return
        batch, self._counts = self._counts, Counter()
        try:
            book = await self._addresses()
            async with self._database.transaction() as transaction:
                await _add(transaction, _by_entity(batch, book))
        except DatabaseUnavailable:
            self._requeue(batch)
            _log.warning("counts of key fetches wait for the database", groups=len(batch))
        except Exception:
            self._requeue(batch)
            raise

    def _requeue(self, batch: Counter[tuple[tuple[str, ...], str]]) -> None:
        self._counts.update(batch)
        self._behind.due()

    async def _addresses(self) -> AddressBook:
        directory = await self._directory()
        if self._book is None or self._book[0] is not directory:
            self._book = (directory, address_book(directory))
        return self._book[1]


def _by_entity(
    batch: Counter[tuple[tuple[str, ...], str]], book: AddressBook
) -> Counter[tuple[str, str]]:
    summed: Counter[tuple[str, str]] = Counter()
    for (kids, address), count in batch.items():
        for entity_id in book.holders(address) or ("",):
            for kid in kids:
                summed[kid, entity_id] += count
    return summed


async def _add(transaction: Transaction, summed: Counter[tuple[str, str]]) -> None:
    now = await transaction.now()
    await transaction.connection.execute(
        _ADD,
        [
            {"kid": kid, "entity_id": entity_id, "count": count, "first_at": now, "last_at": now}
            for (kid, entity_id), count in sorted(summed.items())
        ],
    )
