"""Reads of an entity's versions: of very many, only those that are wanted, each by an index."""

from collections.abc import Mapping
from datetime import datetime
from functools import cache
from typing import Final, cast

import sqlalchemy as sa
from sqlalchemy import RowMapping

from mudra.registry.lifecycle.history import MAX_HISTORY
from mudra.registry.lifecycle.record import Record, Version
from mudra.registry.payload.entry import Entry, canonical, read_canonical
from mudra.registry.payload.fields.certificate import KeyFacts
from mudra.shared.entity_type import EntityType
from mudra.shared.entry_status import EntityStatus, VersionStatus
from mudra.storage.database.transaction import Transaction
from mudra.storage.tables.registry import IS_LIVE, IS_PENDING, registry_entity, registry_version


def version_row(entity_id: str, version: Version) -> dict[str, object]:
    """Write a version as a row."""
    return {
        "entity_id": entity_id,
        "number": version.number,
        "body": canonical(version.entry),
        "entityhandle": version.entry.entityinfo.entityhandle,
        "kid": version.key.kid,
        "thumbprint": version.key.thumbprint,
        "modulus_hash": version.key.modulus_hash,
        "bits": version.key.bits,
        "status": version.status.value,
        "submitted_by": version.submitted_by,
        "submitted_at": version.submitted_at,
        "submitted_person": version.submitted_person,
        "decided_by": version.decided_by,
        "decided_at": version.decided_at,
        "reason": version.reason,
        "goes_live_at": version.goes_live_at,
        "live_from": version.live_from,
        "live_until": version.live_until,
        "equal_to": version.equal_to,
    }


def read_version(row: RowMapping) -> Version:
    """Read what `version_row` wrote."""
    text = cast("Mapping[str, str]", row)
    at = cast("Mapping[str, datetime]", row)
    number = cast("Mapping[str, int]", row)
    return Version(
        number=number["number"],
        entry=read_canonical(cast("bytes", row["body"])),
        key=KeyFacts(text["kid"], text["thumbprint"], text["modulus_hash"], number["bits"]),
        status=VersionStatus(text["status"]),
        submitted_by=text["submitted_by"],
        submitted_at=at["submitted_at"],
        submitted_person=text["submitted_person"],
        decided_by=text["decided_by"],
        decided_at=at["decided_at"],
        reason=text["reason"],
        goes_live_at=at["goes_live_at"],
        live_from=at["live_from"],
        live_until=at["live_until"],
        equal_to=number["equal_to"],
    )


_V: Final = registry_version.c
_ONE: Final = registry_version.alias("one").c
_MAX_NUMBER: Final = 2**31 - 1
_OWN: Final = sa.select(_ONE.number).where(_ONE.entity_id == sa.bindparam("entity_id"))
_KEPT: Final = sa.select(registry_entity.c.type, registry_entity.c.status).where(
    registry_entity.c.entity_id == sa.bindparam("entity_id")
)


async def read_record(
    transaction: Transaction, entity_id: str, version: int, entry: Entry | None
) -> Record | None:
    """Return what decides about an entity."""
    is_wanted = 0 < version <= _MAX_NUMBER
    values: dict[str, int | bytes] = {"version": version} if is_wanted else {}
    if entry is not None:
        values["body"] = canonical(entry)
    query = _versions(1, of_number=is_wanted, with_equal=entry is not None)
    return await _read(transaction, entity_id, query, values)


async def read_history(transaction: Transaction, entity_id: str) -> Record | None:
    """Return the newest versions of an entity."""
    return await _read(transaction, entity_id, _versions(MAX_HISTORY), {})


@cache
def _versions(
    most: int, *, of_number: bool = False, with_equal: bool = False
) -> sa.Select[*tuple[object, ...]]:
    """Select the newest versions, and the live and the pending one, which may be older.

    Also that of a number, and the first and the last whose entry is equal.
    """
    newest = _OWN.order_by(_ONE.number.desc()).limit(most)
    wanted = [newest, _OWN.where(IS_LIVE), _OWN.where(IS_PENDING)]
    if of_number:
        wanted.append(_OWN.where(_ONE.number == sa.bindparam("version")))
    if with_equal:
        body = sa.bindparam("body", type_=sa.LargeBinary)
        equal = _OWN.where(sa.func.sha256(_ONE.body) == sa.func.sha256(body))
        wanted.append(equal.order_by(_ONE.number).limit(1))
        wanted.append(equal.order_by(_ONE.number.desc()).limit(1))
    # Their numbers first, as one value: a join might read all versions of the entity.
    numbers = sa.func.array(sa.union_all(*wanted).scalar_subquery(), type_=sa.ARRAY(sa.Integer))
    return (
        sa.select(registry_version)
        .where(_V.entity_id == sa.bindparam("entity_id"), _V.number == sa.any_(numbers))
        .order_by(_V.number)
    )


async def _read(
    transaction: Transaction,
    entity_id: str,
    query: sa.Select[*tuple[object, ...]],
    values: dict[str, int | bytes],
) -> Record | None:
    own = {"entity_id": entity_id}
    kept = (await transaction.connection.execute(_KEPT, own)).first()
    if kept is None:
        return None
    rows = await transaction.connection.execute(query, own | values)
    versions = tuple(read_version(row) for row in rows.mappings())
    return Record(entity_id, EntityType(kept[0]), EntityStatus(kept[1]), versions)
