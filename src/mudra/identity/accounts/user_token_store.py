"""The tokens that a user holds, in PostgreSQL: how they end."""

from datetime import datetime
from typing import Final

import sqlalchemy as sa

from mudra.storage.database.transaction import Transaction
from mudra.storage.tables.identity import console_session
from mudra.storage.tables.tokens import user_token

_T: Final = user_token.c
_REVOKE_USER_TOKEN: Final = (
    sa.update(user_token)
    .where(_T.jti == sa.bindparam("token"), _T.revoked_at.is_(None))
    .values(revoked_at=sa.bindparam("now"))
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
