"""Admins, contacts, operators and their states in PostgreSQL."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Final

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from mudra.identity.accounts.user import UserState
from mudra.identity.accounts.user_token import HeldToken
from mudra.identity.memberships.member import Admin, MemberStatus, effective_status
from mudra.identity.operators.operator import Scope
from mudra.storage.database.database import Transaction
from mudra.storage.database.tables import entity, entity_admin, user_account, user_token
from mudra.storage.identity.tables import entity_contact, operator_scope, user_token_use
from mudra.storage.registry.registry import status_by_standing
from mudra.storage.tokens.tokens import entity_key

_USE_KEPT_EVERY: Final = timedelta(minutes=1)


class PostgresMemberships:
    """Who looks after what."""

    def __init__(self, transaction: Transaction) -> None:
        self._tx = transaction

    async def admins(self, entity_id: str) -> Sequence[Admin]:
        """The admins of an entity, the longest serving first."""
        u = user_account.c
        rows = await self._tx.connection.execute(
            sa.select(u.user_id, u.email, u.name, u.state, entity_admin.c.since)
            .join(entity_admin, entity_admin.c.user_id == u.user_id)
            .where(entity_admin.c.entity_id == entity_id)
            .order_by(entity_admin.c.since, u.email)
        )
        return [Admin(row[0], row[1], row[2], UserState(row[3]), row[4]) for row in rows]

    async def remove_admin(self, entity_id: str, user_id: str) -> None:
        """End a user's rights on an entity, on every node from the commit on."""
        c = entity_admin.c
        await self._tx.connection.execute(
            sa.delete(entity_admin).where(c.entity_id == entity_id, c.user_id == user_id)
        )

    async def contact(self, entity_id: str) -> str:
        """The backup contact address of an entity; empty for none."""
        c = entity_contact.c
        found = await self._tx.connection.scalar(sa.select(c.email).where(c.entity_id == entity_id))
        return str(found or "")

    async def keep_contact(self, entity_id: str, email: str) -> None:
        """Store the backup contact address; empty for none."""
        if not email:
            await self._tx.connection.execute(
                sa.delete(entity_contact).where(entity_contact.c.entity_id == entity_id)
            )
            return
        values = {"email": email, "since": await self._tx.now()}
        await self._tx.connection.execute(
            insert(entity_contact)
            .values(entity_id=entity_id, **values)
            .on_conflict_do_update(index_elements=["entity_id"], set_=values)
        )

    async def entity_name(self, entity_id: str) -> str:
        """The entity's name for people; empty when there is no such entity."""
        found = await self._tx.connection.scalar(
            sa.select(entity.c.name).where(entity.c.entity_id == entity_id)
        )
        return str(found or "")

    async def set_state(self, user_id: str, state: UserState) -> None:
        """Store a user's state."""
        await self._tx.connection.execute(
            sa.update(user_account)
            .where(user_account.c.user_id == user_id)
            .values(state=state.value)
        )

    async def keep_email(self, user_id: str, email: str) -> None:
        """Store a user's new address; the account waits for its verification."""
        await self._tx.connection.execute(
            sa.update(user_account)
            .where(user_account.c.user_id == user_id)
            .values(email=email, state=UserState.INVITED.value)
        )

    async def entry_status(self, entity_id: str) -> MemberStatus:
        """What the registry entry allows; keeps other writers of the registry out."""
        return await status_by_standing(self._tx, entity_id)

    async def set_membership(self, entity_id: str, status: MemberStatus) -> MemberStatus:
        """Store the operator's word and tell every node before it becomes true."""
        comes_of_it = effective_status(status, await self.entry_status(entity_id))
        await self._tx.connection.execute(
            sa.update(entity)
            .where(entity.c.entity_id == entity_id)
            .values(membership=status.value, status=comes_of_it.value)
        )
        await self._tx.changing(entity_key(entity_id), must_not_be_missed=True)
        return comes_of_it

    async def scopes(self, user_id: str) -> frozenset[Scope]:
        """The scopes of an operator; empty for one who is none."""
        found = await self._tx.connection.scalars(
            sa.select(operator_scope.c.scope).where(operator_scope.c.user_id == user_id)
        )
        return frozenset(Scope(word) for word in found)

    async def keep_scopes(self, user_id: str, scopes: frozenset[Scope]) -> None:
        """Store an operator's scopes; none ends the role."""
        await self._tx.connection.execute(
            sa.delete(operator_scope).where(operator_scope.c.user_id == user_id)
        )
        now = await self._tx.now()
        if scopes:
            await self._tx.connection.execute(
                sa.insert(operator_scope),
                [
                    {"user_id": user_id, "scope": scope.value, "since": now}
                    for scope in sorted(scopes)
                ],
            )

    async def tokens(self, user_id: str) -> Sequence[HeldToken]:
        """A user's tokens that have not expired, the newest first."""
        t, use = user_token.c, user_token_use.c
        rows = await self._tx.connection.execute(
            sa.select(
                t.jti, t.issued_at, t.expires_at, t.revoked_at, use.last_used_at, use.last_address
            )
            .outerjoin(user_token_use, use.jti == t.jti)
            .where(t.user_id == user_id, t.expires_at > await self._tx.now())
            .order_by(t.issued_at.desc(), t.jti)
        )
        return [HeldToken(*row[:5], row[5] or "") for row in rows]

    async def token_used(self, jti: str, address: str) -> None:
        """Note a use of a user token, at most once a minute."""
        now, c = await self._tx.now(), user_token_use.c
        kept = await self._tx.connection.scalar(sa.select(c.last_used_at).where(c.jti == jti))
        if kept is not None and kept > now - _USE_KEPT_EVERY:
            return
        # Calls with one token at the same time must not wait for each other here.
        mine = await self._tx.connection.scalar(
            sa.select(sa.func.pg_try_advisory_xact_lock(sa.func.hashtextextended(jti, 0)))
        )
        if not mine:
            return
        values = {"last_used_at": now, "last_address": address}
        await self._tx.connection.execute(
            insert(user_token_use)
            .values(jti=jti, **values)
            .on_conflict_do_update(index_elements=["jti"], set_=values)
        )
