"""Use of entity secrets: written with the batches of the issue log, read by version."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Final

import sqlalchemy as sa
from msgspec import Struct

from mudra.storage.database.bulk_insert import bulk_insert, parameter_of
from mudra.storage.database.database import Transaction
from mudra.storage.tokens.tables import secret_use
from mudra.tokens.secrets.foreign_addresses import EntityUse
from mudra.tokens.secrets.old_secret_use import AddressUse, SecretUse

_C: Final = secret_use.c
_NEW: Final = bulk_insert(
    secret_use, "entity_id", "version", "address", "count", "count_in_grace", "last_used_at"
)
_ADD: Final = _NEW.on_conflict_do_update(
    index_elements=["entity_id", "version", "address"],
    set_={
        "count": _C.count + _NEW.excluded.count,
        "count_in_grace": _C.count_in_grace + _NEW.excluded.count_in_grace,
        "last_used_at": sa.func.greatest(_C.last_used_at, _NEW.excluded.last_used_at),
    },
)


class Used(Struct, frozen=True):
    """Tokens issued for one secret to one address within a batch."""

    entity_id: str
    version: int
    address: str
    count: int
    in_grace: bool


async def add_uses(transaction: Transaction, uses: Iterable[Used], at: datetime) -> None:
    """Add a batch, in one order on every node so that two batches never deadlock."""
    summed: dict[tuple[str, int, str], list[int]] = {}
    for use in uses:
        counts = summed.setdefault((use.entity_id, use.version, use.address), [0, 0])
        counts[0] += use.count
        counts[1] += use.count if use.in_grace else 0
    if not summed:
        return
    rows = [
        {
            "entity_id": entity_id,
            "version": version,
            "address": address,
            "count": count,
            "count_in_grace": in_grace,
            "last_used_at": at,
        }
        for (entity_id, version, address), (count, in_grace) in sorted(summed.items())
    ]
    await transaction.connection.execute(_ADD, parameter_of(rows))


class PostgresSecretUses:
    """Implements tokens/ports.py SecretUses."""

    def __init__(self, transaction: Transaction) -> None:
        self._tx = transaction

    async def of(self, entity_id: str, version: int) -> SecretUse:
        """Read the use of one secret."""
        c = secret_use.c
        rows = (
            await self._tx.connection.execute(
                sa.select(c.address, c.count, c.last_used_at, c.count_in_grace)
                .where(c.entity_id == entity_id, c.version == version)
                .order_by(c.last_used_at.desc(), c.address)
            )
        ).all()
        return SecretUse(
            tuple(AddressUse(address, count, at) for address, count, at, _ in rows),
            sum(row[3] for row in rows),
        )

    async def since(self, at: datetime, entity_id: str = "") -> Sequence[EntityUse]:
        """Read which addresses used the credentials of which entities since then, or of one."""
        c = secret_use.c
        of_one = (c.entity_id == entity_id,) if entity_id else ()
        rows = await self._tx.connection.execute(
            sa.select(
                c.entity_id,
                c.address,
                sa.cast(sa.func.sum(c.count), sa.BigInteger),
                sa.func.max(c.last_used_at),
            )
            .where(c.last_used_at >= at, *of_one)
            .group_by(c.entity_id, c.address)
            .order_by(c.entity_id, c.address)
        )
        return [EntityUse(*row) for row in rows]

    async def add_key_use(self, entity_id: str, address: str) -> None:
        """Count a token that the registered key got: as version 0, which no secret has."""
        used = Used(entity_id, 0, address, 1, in_grace=False)
        await add_uses(self._tx, [used], await self._tx.now())
