"""The tokens that ended early, in PostgreSQL."""

from typing import Final

import sqlalchemy as sa

from mudra.storage.database.transaction import Transaction
from mudra.storage.tables.identity import entity
from mudra.storage.tables.tokens import revoked_entity_token
from mudra.tokens.revocation.revocation_list import EndedTokens, accepted_beyond, still_counts_after

_E: Final = entity.c
_R: Final = revoked_entity_token.c
_REVOKED: Final = (
    sa.select(_R.jti).where(_R.expires_at > sa.bindparam("accepted_beyond")).order_by(_R.jti)
)
_NOT_BEFORE: Final = sa.select(_E.entity_id, _E.tokens_not_before).where(
    _E.tokens_not_before > sa.bindparam("counts_after")
)


async def ended_tokens(transaction: Transaction) -> EndedTokens:
    """Read what ended early and would otherwise be accepted now."""
    now = await transaction.now()
    revoked = await transaction.connection.scalars(
        _REVOKED, {"accepted_beyond": accepted_beyond(now)}
    )
    not_before = await transaction.connection.execute(
        _NOT_BEFORE, {"counts_after": still_counts_after(now)}
    )
    return EndedTokens([str(jti) for jti in revoked], {row[0]: row[1] for row in not_before})
