"""Use of entity secrets: written with the batches of the issue log, read by version."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Final

import sqlalchemy as sa
from msgspec import Struct

from mudra.audit.audit_log_store import OTHERS
from mudra.storage.database.bulk_insert import parameter_of
from mudra.storage.database.transaction import Transaction
from mudra.storage.tables.tokens import secret_use
from mudra.tokens.secrets.foreign_addresses import EntityUse
from mudra.tokens.secrets.old_secret_use import AddressUse, SecretUse

MAX_ADDRESSES: Final = 1000
"""Addresses kept for one secret; what comes from further ones is counted together.

A member's program may have another IPv6 address for each token (decision 0108).
"""
_OF_SECRET: Final = 2 * MAX_ADDRESSES + 1
"""Rows that are read of one secret: nodes that write at one moment may pass the bound."""
_OF_ENTITY: Final = 5 * _OF_SECRET
"""Rows that are read of all secrets of an entity, the newest first."""
_ADD: Final = sa.text(
    """
WITH given AS (
  SELECT * FROM json_to_recordset(cast(:rows AS json)) AS r(
    entity_id text, version integer, address text, count bigint, count_in_grace bigint,
    last_used_at timestamptz)
), fresh AS (
  SELECT entity_id, version, address, row_number() OVER (
    PARTITION BY entity_id, version ORDER BY address COLLATE "C") AS nth
  FROM given WHERE NOT EXISTS (
    SELECT FROM secret_use known WHERE known.entity_id = given.entity_id
      AND known.version = given.version AND known.address = given.address)
), held AS (
  SELECT entity_id, version, (SELECT count(*) FROM (
    SELECT FROM secret_use known WHERE known.entity_id = secret.entity_id
      AND known.version = secret.version LIMIT :most) AS kept) AS count
  FROM (SELECT DISTINCT entity_id, version FROM fresh) AS secret
), placed AS (
  SELECT given.*,
    CASE WHEN held.count + fresh.nth > :most THEN :others ELSE given.address END AS place
  FROM given LEFT JOIN fresh USING (entity_id, version, address)
    LEFT JOIN held USING (entity_id, version)
)
INSERT INTO secret_use AS known
  (entity_id, version, address, count, count_in_grace, last_used_at)
SELECT entity_id, version, place, sum(count), sum(count_in_grace), max(last_used_at)
FROM placed GROUP BY entity_id, version, place
ORDER BY entity_id COLLATE "C", version, place COLLATE "C"
ON CONFLICT (entity_id, version, address) DO UPDATE SET
  count = known.count + excluded.count,
  count_in_grace = known.count_in_grace + excluded.count_in_grace,
  last_used_at = greatest(known.last_used_at, excluded.last_used_at)
"""
)
"""What is held is counted of secrets with new addresses alone. Rows are locked in one order."""
_SINCE: Final = sa.text(
    """
SELECT entity.entity_id, used.address, cast(sum(used.count) AS bigint), max(used.last_used_at)
FROM entity CROSS JOIN LATERAL (
  (SELECT address, count, last_used_at FROM secret_use
   WHERE entity_id = entity.entity_id AND version = 0 LIMIT :of_secret)
  UNION ALL
  (SELECT address, count, last_used_at FROM secret_use
   WHERE entity_id = entity.entity_id AND version > 0 ORDER BY version DESC LIMIT :of_entity)
) AS used
WHERE used.last_used_at >= :at AND (:entity_id = '' OR entity.entity_id = :entity_id)
GROUP BY entity.entity_id, used.address ORDER BY entity.entity_id, used.address
"""
).bindparams(
    sa.bindparam("at", type_=sa.TIMESTAMP(timezone=True)),
    sa.bindparam("entity_id", type_=sa.Text),
)

_C: Final = secret_use.c
_READ: Final = (
    sa.select(_C.address, _C.count, _C.last_used_at, _C.count_in_grace)
    .where(_C.entity_id == sa.bindparam("entity_id"), _C.version == sa.bindparam("version"))
    .limit(_OF_SECRET)
    .subquery()
    .c
)
_OF: Final = sa.select(*_READ).order_by(_READ.last_used_at.desc(), _READ.address)


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
    await transaction.connection.execute(
        _ADD, {**parameter_of(rows), "most": MAX_ADDRESSES, "others": OTHERS}
    )


class SecretUses:
    """Implements tokens/ports.py SecretUses."""

    def __init__(self, transaction: Transaction) -> None:
        self._tx = transaction

    async def of(self, entity_id: str, version: int) -> SecretUse:
        """Read the use of one secret."""
        asked = {"entity_id": entity_id, "version": version}
        rows = (await self._tx.connection.execute(_OF, asked)).all()
        return SecretUse(
            tuple(AddressUse(address, count, at) for address, count, at, _ in rows),
            sum(row[3] for row in rows),
        )

    async def since(self, at: datetime, entity_id: str = "") -> Sequence[EntityUse]:
        """Read which addresses used the credentials of which entities since then, or of one."""
        rows = await self._tx.connection.execute(
            _SINCE,
            {
                "at": at,
                "entity_id": entity_id,
                "of_secret": _OF_SECRET,
                "of_entity": _OF_ENTITY,
            },
        )
        return [EntityUse(*row) for row in rows]

    async def add_key_use(self, entity_id: str, address: str) -> None:
        """Count a token that the registered key got: as version 0, which no secret has."""
        used = Used(entity_id, 0, address, 1, in_grace=False)
        await add_uses(self._tx, [used], await self._tx.now())
