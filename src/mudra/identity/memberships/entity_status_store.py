"""The status of a member: what its entry allows, and what it means for its tokens."""

from collections.abc import Iterable
from datetime import datetime
from typing import Final

import sqlalchemy as sa

from mudra.identity.memberships.member import MemberStatus
from mudra.identity.memberships.token_end_rule import accepts_tokens_from, ends_tokens_until
from mudra.shared.entry_status import PENDING, EntityStatus
from mudra.storage.caching.cache_invalidation import entity_key
from mudra.storage.database.among import is_among, is_among_given
from mudra.storage.database.transaction import Transaction
from mudra.storage.tables.identity import entity
from mudra.storage.tables.registry import registry_entity, registry_version
from mudra.storage.tables.tokens import revoked_entity_token

_LOCK: Final = sa.select(sa.func.pg_advisory_xact_lock(0x6D7564726102))
_ENTRY: Final = registry_entity.c
_V: Final = registry_version.c
_STATUS: Final = sa.select(_ENTRY.status).where(_ENTRY.entity_id == sa.bindparam("entity_id"))
_TYPES: Final = sa.select(_ENTRY.entity_id, _ENTRY.type).where(
    is_among_given(_ENTRY.entity_id, "entity_ids"),
    sa.or_(
        _ENTRY.status != EntityStatus.UNLISTED.value,
        sa.exists().where(
            _V.entity_id == _ENTRY.entity_id, is_among(_V.status, [one.value for one in PENDING])
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


_E: Final = entity.c
_R: Final = revoked_entity_token.c
_ACCEPTS: Final = sa.select(sa.literal(1)).where(
    _E.entity_id == sa.bindparam("entity_id"),
    _E.status == MemberStatus.ACTIVE.value,
    sa.or_(_E.tokens_not_before.is_(None), _E.tokens_not_before <= sa.bindparam("issued_at")),
)


async def store_status(transaction: Transaction, entity_id: str, status: MemberStatus) -> None:
    """Store the status; one other than active ends all tokens, on every node from the commit on.

    They stay ended when it is active again: tokens that are issued from then on are valid.
    """
    now = await transaction.now()
    c = entity.c
    ended_before = (
        sa.func.least(c.tokens_not_before, accepts_tokens_from(now))
        if status is MemberStatus.ACTIVE
        else sa.literal(ends_tokens_until(now))
    )
    await transaction.connection.execute(
        sa.update(entity)
        .where(c.entity_id == entity_id, c.status != status.value)
        .values(status=status.value, tokens_not_before=ended_before)
    )
    await transaction.changing(entity_key(entity_id), must_not_be_missed=True)


async def entity_accepts(transaction: Transaction, entity_id: str, issued_at: datetime) -> bool:
    """Return whether a token of the entity, issued then, is valid as far as the entity goes."""
    found = await transaction.connection.scalar(
        _ACCEPTS, {"entity_id": entity_id, "issued_at": issued_at}
    )
    return found is not None
