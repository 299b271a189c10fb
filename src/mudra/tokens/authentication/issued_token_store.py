"""User tokens that were issued, and entity tokens that were revoked, in PostgreSQL."""

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from typing import Final

import sqlalchemy as sa
from msgspec import Struct
from sqlalchemy.dialects.postgresql import ARRAY, insert

from mudra.identity.memberships.entity_status_store import entity_accepts
from mudra.storage.caching.cache_invalidation import revoked_key
from mudra.storage.database.transaction import Transaction
from mudra.storage.tables.identity import user_token_use
from mudra.storage.tables.tokens import revoked_entity_token, user_token
from mudra.tokens.revocation.revocation_limit import ListedTokens


class UserTokenRecord(Struct, frozen=True):
    """A User Access Token as it was issued."""

    jti: str
    user_id: str
    issued_at: datetime
    expires_at: datetime
    revoked_at: datetime | None


_T: Final = user_token.c
_USE: Final = user_token_use.c
_REQUESTED: Final = sa.bindparam("requested", type_=ARRAY(sa.Text))
_BEYOND: Final = (
    sa.select(_T.jti)
    .outerjoin(user_token_use, _USE.jti == _T.jti)
    .where(
        _T.user_id == sa.bindparam("of_user"),
        _T.revoked_at.is_(None),
        _T.expires_at > sa.bindparam("now"),
    )
    .order_by(
        (_USE.last_used_at > sa.bindparam("now") - timedelta(days=1)).is_(True).desc(),
        sa.func.coalesce(_USE.last_used_at, _T.issued_at).desc(),
        _T.jti,
    )
    .offset(sa.bindparam("keep", type_=sa.Integer))
)
_END_LEAST_USED: Final = (
    sa.update(user_token)
    .where(_T.jti.in_(_BEYOND.scalar_subquery()))
    .values(revoked_at=sa.bindparam("now"))
    .returning(_T.jti)
)
_KEEP_USER_TOKEN: Final = _END_LEAST_USED.add_cte(  # which does not see it yet
    sa.insert(user_token)
    .values(
        jti=sa.bindparam("new"),
        user_id=sa.bindparam("of_user"),
        issued_at=sa.bindparam("now"),
        expires_at=sa.bindparam("until"),
    )
    .cte("kept")
)
_USER_TOKEN: Final = sa.select(user_token).where(_T.jti == sa.bindparam("jti"))
_REVOKE_ENTITY_TOKEN: Final = (
    insert(revoked_entity_token).on_conflict_do_nothing().returning(revoked_entity_token.c.jti)
)
_REVOKED_OF: Final = sa.select(revoked_entity_token.c.jti).where(
    revoked_entity_token.c.jti == sa.any_(_REQUESTED)
)


class IssuedTokens:
    """User tokens that were issued, and entity tokens that were revoked."""

    def __init__(self, transaction: Transaction) -> None:
        self._tx = transaction

    async def keep_user_token(self, record: UserTokenRecord, others: int) -> Sequence[str]:
        """Store a user token that is about to be returned; end others beyond so many.

        The least recently used end first, and none that was used within a day before one that
        was not. Returns the jti of each that has ended.
        """
        ended = await self._tx.connection.scalars(
            _KEEP_USER_TOKEN,
            {
                "new": record.jti,
                "of_user": record.user_id,
                "now": record.issued_at,
                "until": record.expires_at,
                "keep": others,
            },
        )
        return ended.all()

    async def user_token(self, jti: str) -> UserTokenRecord | None:
        """Find a user token."""
        found = await self._tx.connection.execute(_USER_TOKEN, {"jti": jti})
        row = found.mappings().first()
        if row is None:
            return None
        return UserTokenRecord(
            row["jti"], row["user_id"], row["issued_at"], row["expires_at"], row["revoked_at"]
        )

    async def lock_listed_tokens(self, entity_id: str) -> ListedTokens:
        """Count what the revocation list has, and let no other call revoke for this entity."""
        # Not the entity's row: a suspension must not wait for those who revoke.
        await self._tx.lock_name(f"revoke:{entity_id}")
        now, c = await self._tx.now(), revoked_entity_token.c
        own = c.entity_id == entity_id
        found = await self._tx.connection.execute(
            sa.select(
                sa.func.count().filter(own),
                sa.func.count(),
                sa.func.min(c.expires_at).filter(own),
            ).where(c.expires_at > now)
        )
        of_entity, of_all, next_expiry = found.one()
        return ListedTokens(of_entity, of_all, next_expiry or now, now)

    async def revoke_entity_token(self, jti: str, entity_id: str, expires_at: datetime) -> bool:
        """Store an entity token as revoked; False when it was already."""
        # The driver reports no row count for an INSERT; RETURNING shows what was stored.
        stored = await self._tx.connection.scalar(
            _REVOKE_ENTITY_TOKEN,
            {
                "jti": jti,
                "entity_id": entity_id,
                "revoked_at": await self._tx.now(),
                "expires_at": expires_at,
            },
        )
        if stored is None:
            return False
        await self._tx.changing(revoked_key(jti), must_not_be_missed=True)
        return True

    async def entity_token_revoked(self, jti: str) -> bool:
        """Return whether an entity token was revoked, from the database."""
        return bool(await self.revoked_of([jti]))

    async def revoked_of(self, jtis: Collection[str]) -> frozenset[str]:
        """Return which of these entity tokens were revoked."""
        found = await self._tx.connection.scalars(_REVOKED_OF, {"requested": list(jtis)})
        return frozenset(found)

    async def entity_accepts(self, entity_id: str, issued_at: datetime) -> bool:
        """Return whether a token of the entity, issued then, is valid as far as the entity goes."""
        return await entity_accepts(self._tx, entity_id, issued_at)
