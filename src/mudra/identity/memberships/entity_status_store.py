"""The right of an entity to tokens, and which of its tokens have ended."""

from datetime import datetime
from typing import Final

import sqlalchemy as sa

from mudra.identity.memberships.member import MemberStatus
from mudra.identity.memberships.token_end_rule import accepts_tokens_from, ends_tokens_until
from mudra.storage.caching.cache_invalidation import entity_key
from mudra.storage.database.transaction import Transaction
from mudra.storage.tables.identity import entity
from mudra.storage.tables.tokens import revoked_entity_token

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
