"""The registry entry of a member, as far as its membership asks for it."""

from collections.abc import Iterable
from typing import Final

import sqlalchemy as sa

from mudra.identity.memberships.member import MemberStatus
from mudra.shared.entry_status import PENDING, EntityStatus
from mudra.storage.database.among import is_among, is_among_given
from mudra.storage.database.transaction import Transaction
from mudra.storage.tables.registry import registry_entity, registry_version

_LOCK: Final = sa.select(sa.func.pg_advisory_xact_lock(0x6D7564726102))
_E: Final = registry_entity.c
_V: Final = registry_version.c
_STATUS: Final = sa.select(_E.status).where(_E.entity_id == sa.bindparam("entity_id"))
_TYPES: Final = sa.select(_E.entity_id, _E.type).where(
    is_among_given(_E.entity_id, "entity_ids"),
    sa.or_(
        _E.status != EntityStatus.UNLISTED.value,
        sa.exists().where(
            _V.entity_id == _E.entity_id, is_among(_V.status, [one.value for one in PENDING])
        ),
    ),
)
_MEMBER_STATUS: Final = {
    EntityStatus.SUSPENDED: MemberStatus.SUSPENDED,
    EntityStatus.RETIRED: MemberStatus.RETIRED,
}


async def lock_registry(transaction: Transaction) -> None:
    """Block other writers of the registry until this transaction ends."""
    await transaction.connection.execute(_LOCK)


async def member_status_of(transaction: Transaction, entity_id: str) -> MemberStatus:
    """Return the status that its entry allows a member; without an entry, active."""
    await lock_registry(transaction)
    status = await transaction.connection.scalar(_STATUS, {"entity_id": entity_id})
    return MemberStatus.ACTIVE if status is None else status_of_entry(EntityStatus(status))


async def types_of(transaction: Transaction, entity_ids: Iterable[str]) -> dict[str, str]:
    """Return the types of entries by ID; one that was rejected may still get another type."""
    rows = await transaction.connection.execute(_TYPES, {"entity_ids": list(entity_ids)})
    return {row.entity_id: row.type for row in rows}


def status_of_entry(status: EntityStatus) -> MemberStatus:
    """Returns the status that an entry allows its member."""
    return _MEMBER_STATUS.get(status, MemberStatus.ACTIVE)
