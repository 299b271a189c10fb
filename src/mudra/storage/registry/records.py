"""Reads of an entity's versions: of very many, only those that are wanted, each by an index."""

from typing import Final

import sqlalchemy as sa

from mudra.registry.lifecycle.history import MAX_HISTORY
from mudra.registry.lifecycle.record import EntityStatus, Record
from mudra.registry.payload.entry import Entry, canonical
from mudra.shared.entity_type import EntityType
from mudra.storage.database.database import Transaction
from mudra.storage.registry.rows import read_version
from mudra.storage.registry.tables import (
    IS_LIVE,
    IS_PENDING,
    registry_entity,
    registry_version,
)

_V: Final = registry_version.c
_ONE: Final = registry_version.alias("one").c
_MAX_NUMBER: Final = 2**31 - 1


async def read_record(
    transaction: Transaction, entity_id: str, version: int, entry: Entry | None
) -> Record | None:
    """Return what decides about an entity."""
    own = sa.select(_ONE.number).where(_ONE.entity_id == entity_id)
    wanted = _newest(own, 1)
    if 0 < version <= _MAX_NUMBER:
        wanted.append(own.where(_ONE.number == version))
    if entry is not None:
        equal = own.where(sa.func.sha256(_ONE.body) == sa.func.sha256(canonical(entry)))
        wanted.append(equal.order_by(_ONE.number).limit(1))
        wanted.append(equal.order_by(_ONE.number.desc()).limit(1))
    return await _read(transaction, entity_id, wanted)


async def read_history(transaction: Transaction, entity_id: str) -> Record | None:
    """Return the newest versions of an entity."""
    own = sa.select(_ONE.number).where(_ONE.entity_id == entity_id)
    return await _read(transaction, entity_id, _newest(own, MAX_HISTORY))


def _newest(own: sa.Select[tuple[int]], most: int) -> list[sa.Select[tuple[int]]]:
    """Select the newest versions, and the live and the pending one, which may be older."""
    newest = own.order_by(_ONE.number.desc()).limit(most)
    return [newest, own.where(IS_LIVE), own.where(IS_PENDING)]


async def _read(
    transaction: Transaction, entity_id: str, wanted: list[sa.Select[tuple[int]]]
) -> Record | None:
    kept = (
        await transaction.connection.execute(
            sa.select(registry_entity.c.type, registry_entity.c.status).where(
                registry_entity.c.entity_id == entity_id
            )
        )
    ).first()
    if kept is None:
        return None
    # Their numbers first, as one value: a join might read all versions of the entity.
    numbers = sa.func.array(sa.union_all(*wanted).scalar_subquery(), type_=sa.ARRAY(sa.Integer))
    rows = await transaction.connection.execute(
        sa.select(registry_version)
        .where(_V.entity_id == entity_id, _V.number == sa.any_(numbers))
        .order_by(_V.number)
    )
    versions = tuple(read_version(row) for row in rows.mappings())
    return Record(entity_id, EntityType(kept[0]), EntityStatus(kept[1]), versions)
