"""The tokens that a user holds, in PostgreSQL: how they end."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from mudra.identity.accounts.user import HeldToken
from mudra.storage.database.transaction import Transaction
from mudra.storage.tables.identity import (
    console_session,
    user_token_use,
)
from mudra.storage.tables.tokens import user_token

_T: Final = user_token.c
_REVOKE_USER_TOKEN: Final = (
    sa.update(user_token)
    .where(_T.jti == sa.bindparam("token"), _T.revoked_at.is_(None))
    .values(revoked_at=sa.bindparam("now"))
)

_RECORD_EVERY: Final = timedelta(minutes=1)
_USE: Final = user_token_use.c
_TOKENS: Final = (
    sa.select(
        *(_T.jti, _T.issued_at, _T.expires_at, _T.revoked_at),
        *(_USE.last_used_at, _USE.last_address),
    )
    .outerjoin(user_token_use, _USE.jti == _T.jti)
    .where(_T.user_id == sa.bindparam("user_id"), _T.expires_at > sa.bindparam("now"))
    .order_by(_T.issued_at.desc(), _T.jti)
)
_LAST_USE: Final = sa.select(
    sa.func.clock_timestamp(),
    sa.select(_USE.last_used_at).where(_USE.jti == sa.bindparam("jti")).scalar_subquery(),
)
_IS_FIRST_USE: Final = sa.select(
    sa.func.pg_try_advisory_xact_lock(
        sa.func.hashtextextended(sa.bindparam("jti", type_=sa.String), 0)
    )
)
_ADD_USE: Final = insert(user_token_use)
_RECORD_USE: Final = _ADD_USE.on_conflict_do_update(
    index_elements=["jti"],
    set_={
        "last_used_at": _ADD_USE.excluded.last_used_at,
        "last_address": _ADD_USE.excluded.last_address,
    },
)


class UserTokens:
    """The tokens that a user holds."""

    def __init__(self, transaction: Transaction) -> None:
        self._tx = transaction

    async def revoke_user_token(self, jti: str, now: datetime) -> bool:
        """End one user token; False when there was nothing to end."""
        done = await self._tx.connection.execute(_REVOKE_USER_TOKEN, {"token": jti, "now": now})
        return done.rowcount == 1

    async def revoke_one(self, user_id: str, jti: str, now: datetime) -> bool:
        """End one token of a user; False when it is not theirs or has ended already."""
        c = user_token.c
        found = await self._tx.connection.scalar(
            # As text: what a form names may be no UUID at all.
            sa.select(c.jti).where(c.user_id == user_id, sa.cast(c.jti, sa.Text) == jti)
        )
        return found is not None and await self.revoke_user_token(jti, now)

    async def revoke_user_tokens(self, user_id: str, now: datetime) -> int:
        """End all tokens of a user and return how many; sessions of the console end too."""
        # One that is being replaced is waited for here: the statement after sees what replaced it.
        await self._tx.connection.execute(
            sa.select(console_session.c.key)
            .where(console_session.c.user_id == user_id)
            .order_by(console_session.c.key)
            .with_for_update()
        )
        await self._tx.connection.execute(
            sa.delete(console_session).where(console_session.c.user_id == user_id)
        )
        done = await self._tx.connection.execute(
            sa.update(user_token)
            .where(user_token.c.user_id == user_id, user_token.c.revoked_at.is_(None))
            .values(revoked_at=now)
        )
        return done.rowcount

    async def tokens(self, user_id: str) -> Sequence[HeldToken]:
        """Return a user's tokens that have not expired, the newest first."""
        rows = await self._tx.connection.execute(
            _TOKENS, {"user_id": user_id, "now": await self._tx.now()}
        )
        return [HeldToken(*row[:5], row[5] or "") for row in rows]

    async def token_used(self, jti: str, address: str) -> None:
        """Record a use of a user token, at most once a minute."""
        clock, last_used_at = (await self._tx.connection.execute(_LAST_USE, {"jti": jti})).one()
        now = clock + self._tx.offset
        if last_used_at is not None and last_used_at > now - _RECORD_EVERY:
            return
        # Calls with one token at the same time must not wait for each other here.
        if not await self._tx.connection.scalar(_IS_FIRST_USE, {"jti": jti}):
            return
        await self._tx.connection.execute(
            _RECORD_USE, {"jti": jti, "last_used_at": now, "last_address": address}
        )
