"""One-use links in PostgreSQL."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

import sqlalchemy as sa

from mudra.identity.accounts.email_link import LinkPurpose, LinkRecord
from mudra.storage.database.transaction import Transaction
from mudra.storage.tables.identity import email_link

_L: Final = email_link.c
_ADD_LINK: Final = sa.insert(email_link)
_LINK: Final = (
    sa.select(email_link).where(_L.token_hash == sa.bindparam("token_hash")).with_for_update()
)
_USE: Final = sa.update(email_link).where(_L.token_hash == sa.bindparam("of_link"))
_VOID: Final = (
    sa.update(email_link)
    .where(_L.user_id == sa.bindparam("of_user"), _L.used_at.is_(None), _L.voided_at.is_(None))
    .values(voided_at=sa.bindparam("at"))
)
_SENT_TO: Final = sa.select(_L.created_at).where(
    _L.user_id == sa.bindparam("user_id"), _L.created_at > sa.bindparam("since")
)
_IS_ANY_VALID: Final = sa.select(
    sa.exists().where(
        _L.user_id == sa.bindparam("user_id"),
        _L.used_at.is_(None),
        _L.voided_at.is_(None),
        _L.expires_at > sa.bindparam("now"),
    )
)


class Links:
    """One-use links; only the hash of the token is stored."""

    def __init__(self, transaction: Transaction) -> None:
        self._tx = transaction

    async def add(self, link: LinkRecord) -> None:
        """Store a new link and void the user's older ones."""
        await self.void(link.user_id, link.created_at)
        await self._tx.connection.execute(
            _ADD_LINK,
            {
                "token_hash": link.token_hash,
                "user_id": link.user_id,
                "purpose": link.purpose.value,
                "address": link.address,
                "created_at": link.created_at,
                "expires_at": link.expires_at,
            },
        )

    async def find(self, token_hash: bytes) -> LinkRecord | None:
        """Find a link, and hold its lock for this transaction."""
        found = await self._tx.connection.execute(_LINK, {"token_hash": token_hash})
        row = found.mappings().first()
        if row is None:
            return None
        return LinkRecord(
            token_hash=row["token_hash"],
            user_id=row["user_id"],
            purpose=LinkPurpose(row["purpose"]),
            address=row["address"],
            created_at=row["created_at"],
            expires_at=row["expires_at"],
            used_at=row["used_at"],
            voided_at=row["voided_at"],
        )

    async def use(self, token_hash: bytes) -> None:
        """Mark a link as used."""
        await self._tx.connection.execute(
            _USE.values(used_at=self._tx.this_moment), {"of_link": token_hash}
        )

    async def void(self, user_id: str, now: datetime) -> None:
        """Void the links of a user that were not used."""
        await self._tx.connection.execute(_VOID, {"of_user": user_id, "at": now})

    async def sent_to(self, user_id: str, since: datetime) -> Sequence[datetime]:
        """Return the times at which links were sent to a user."""
        found = await self._tx.connection.scalars(_SENT_TO, {"user_id": user_id, "since": since})
        return found.all()

    async def is_any_valid(self, user_id: str, now: datetime) -> bool:
        """Return whether a link of a user still works."""
        which = {"user_id": user_id, "now": now}
        return bool(await self._tx.connection.scalar(_IS_ANY_VALID, which))
