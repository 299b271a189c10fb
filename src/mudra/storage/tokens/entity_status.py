"""Whether an entity gets tokens, and which of its tokens have ended."""

from datetime import datetime

import sqlalchemy as sa

from mudra.identity.memberships.member import MemberStatus
from mudra.storage.caching.cache_invalidation import entity_key
from mudra.storage.database.database import Transaction
from mudra.storage.database.tables import entity, revoked_entity_token
from mudra.tokens.revocation.revocation_list import (
    EndedTokens,
    accepted_beyond,
    accepts_tokens_from,
    ends_tokens_until,
    still_counts_after,
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
    c = entity.c
    found = await transaction.connection.scalar(
        sa.select(sa.literal(1)).where(
            c.entity_id == entity_id,
            c.status == MemberStatus.ACTIVE.value,
            sa.or_(c.tokens_not_before.is_(None), c.tokens_not_before <= issued_at),
        )
    )
    return found is not None


async def ended_tokens(transaction: Transaction) -> EndedTokens:
    """Read what ended early and would otherwise be accepted now."""
    now = await transaction.now()
    r, e = revoked_entity_token.c, entity.c
    revoked = await transaction.connection.scalars(
        sa.select(r.jti).where(r.expires_at > accepted_beyond(now)).order_by(r.jti)
    )
    not_before = await transaction.connection.execute(
        sa.select(e.entity_id, e.tokens_not_before).where(
            e.tokens_not_before > still_counts_after(now)
        )
    )
    return EndedTokens([str(jti) for jti in revoked], {row[0]: row[1] for row in not_before})
