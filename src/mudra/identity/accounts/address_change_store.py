"""Changes of operators' addresses that wait to be confirmed."""

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from mudra.identity.accounts.user import AddressChange
from mudra.storage.database.transaction import Transaction
from mudra.storage.tables.identity import address_change


class AddressChanges:
    """At most one requested change for each user."""

    def __init__(self, transaction: Transaction) -> None:
        self._tx = transaction

    async def request(self, change: AddressChange) -> None:
        """Store a change; it replaces the earlier one of the same user."""
        values = {
            "email": change.email,
            "requested_by": change.requested_by,
            "requested_at": change.requested_at,
            "expires_at": change.expires_at,
            "token_hash": change.token_hash,
        }
        await self._tx.connection.execute(
            insert(address_change)
            .values(user_id=change.user_id, **values)
            .on_conflict_do_update(index_elements=["user_id"], set_=values)
        )

    async def of_user(self, user_id: str) -> AddressChange | None:
        """Find the change of a user, and hold its lock for this transaction."""
        return await self._one(address_change.c.user_id == user_id)

    async def find(self, token_hash: bytes) -> AddressChange | None:
        """Find a change by the link that was sent, and hold its lock."""
        return await self._one(address_change.c.token_hash == token_hash)

    async def remove(self, user_id: str) -> None:
        """Delete the change of a user."""
        await self._tx.connection.execute(
            sa.delete(address_change).where(address_change.c.user_id == user_id)
        )

    async def _one(self, which: sa.ColumnElement[bool]) -> AddressChange | None:
        rows = await self._tx.connection.execute(
            sa.select(address_change).where(which).with_for_update()
        )
        row = rows.mappings().first()
        if row is None:
            return None
        return AddressChange(
            user_id=row["user_id"],
            email=row["email"],
            requested_by=row["requested_by"],
            requested_at=row["requested_at"],
            expires_at=row["expires_at"],
            token_hash=bytes(row["token_hash"]),
        )
