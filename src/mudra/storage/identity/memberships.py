"""Admins, contacts, operators and their states in PostgreSQL."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from mudra.audit.event import EventName
from mudra.identity.accounts.user import HeldToken, UserState
from mudra.identity.memberships.contact import NEW_ADDRESS
from mudra.identity.memberships.member import Admin, Contact, MemberStatus, Role
from mudra.identity.operators.operator import Scope
from mudra.storage.audit.search import times_of_admins
from mudra.storage.database.database import Transaction
from mudra.storage.database.tables import (
    audit_event,
    entity,
    entity_admin,
    entity_reader,
    user_account,
    user_token,
)
from mudra.storage.identity.tables import (
    access_grant,
    entity_contact,
    operator_scope,
    user_token_use,
)
from mudra.storage.registry.registry import member_status_of, types_of
from mudra.storage.tokens.entity_status import store_status

_RECORD_EVERY: Final = timedelta(minutes=1)


class PostgresMemberships:
    """Admins, contacts, operators and their states."""

    def __init__(self, transaction: Transaction) -> None:
        self._tx = transaction

    async def admins(self, entity_id: str) -> Sequence[Admin]:
        """Return the admins of an entity, the longest serving first."""
        return await self._people(entity_id, entity_admin, Role.ADMIN)

    async def readers(self, entity_id: str) -> Sequence[Admin]:
        """Return the readers of an entity, the longest serving first."""
        return await self._people(entity_id, entity_reader, Role.READER)

    async def _people(self, entity_id: str, rights: sa.Table, role: Role) -> Sequence[Admin]:
        u = user_account.c
        rows = await self._tx.connection.execute(
            sa.select(u.user_id, u.email, u.name, u.state, rights.c.since)
            .join(rights, rights.c.user_id == u.user_id)
            .where(rights.c.entity_id == entity_id)
            .order_by(rights.c.since, u.email)
        )
        return [Admin(*row[:3], UserState(row[3]), row[4], role=role) for row in rows]

    async def add_reader(self, entity_id: str, user_id: str) -> None:
        """Let a user see an entity."""
        await self._tx.connection.execute(
            insert(entity_reader)
            .values(entity_id=entity_id, user_id=user_id, since=await self._tx.now())
            .on_conflict_do_nothing()
        )

    async def remove_reader(self, entity_id: str, user_id: str) -> None:
        """End a reader's right, on every node from the commit on."""
        c = entity_reader.c
        await self._tx.connection.execute(
            sa.delete(entity_reader).where(c.entity_id == entity_id, c.user_id == user_id)
        )

    async def remove_admin(self, entity_id: str, user_id: str) -> None:
        """End a user's rights on an entity, on every node from the commit on."""
        c = entity_admin.c
        await self._tx.connection.execute(
            sa.delete(entity_admin).where(c.entity_id == entity_id, c.user_id == user_id)
        )

    async def contact(self, entity_id: str) -> Contact:
        """Return the backup contact of an entity."""
        c = entity_contact.c
        rows = await self._tx.connection.execute(
            sa.select(c.email, c.phone).where(c.entity_id == entity_id)
        )
        found = rows.first()
        return Contact(*found) if found else Contact()

    async def set_contact(self, entity_id: str, contact: Contact) -> None:
        """Store the backup contact in place of the previous one."""
        if contact == Contact():
            await self._tx.connection.execute(
                sa.delete(entity_contact).where(entity_contact.c.entity_id == entity_id)
            )
            return
        values = {"email": contact.email, "phone": contact.phone, "since": await self._tx.now()}
        await self._tx.connection.execute(
            insert(entity_contact)
            .values(entity_id=entity_id, **values)
            .on_conflict_do_update(index_elements=["entity_id"], set_=values)
        )

    async def new_contacts(self, entity_id: str, since: datetime) -> Sequence[datetime]:
        """Return when admins of an entity gave its contact another address, by the audit."""
        is_new = audit_event.c.detail["address"].astext == NEW_ADDRESS
        event = EventName.ENTITY_CONTACT_CHANGE
        return await times_of_admins(self._tx, event, entity_id, since, is_new)

    async def entity_name(self, entity_id: str) -> str:
        """Return the entity's name for people; empty when there is no such entity."""
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

    async def set_email(self, user_id: str, email: str, state: UserState) -> None:
        """Store a user's new address and state; the password of the old one ends."""
        await self._tx.connection.execute(
            sa.update(user_account)
            .where(user_account.c.user_id == user_id)
            .values(email=email, state=state.value, password_hash=None)
        )

    async def entry_status(self, entity_id: str) -> MemberStatus:
        """Return what the registry entry allows; keeps other writers of the registry out."""
        return await member_status_of(self._tx, entity_id)

    async def entry_types(self, entity_ids: Collection[str]) -> Mapping[str, str]:
        """Return the types of registry entries, but for what was rejected and never live, by ID."""
        return await types_of(self._tx, entity_ids)

    async def set_status(
        self, entity_id: str, membership: MemberStatus, effective: MemberStatus
    ) -> None:
        """Store the operator's decision and the status that follows; every node learns it first."""
        await self._tx.connection.execute(
            sa.update(entity)
            .where(entity.c.entity_id == entity_id)
            .values(membership=membership.value)
        )
        await store_status(self._tx, entity_id, effective)

    async def scopes(self, user_id: str) -> frozenset[Scope]:
        """Return the scopes of an operator; empty for anyone else."""
        found = await self._tx.connection.scalars(
            sa.select(operator_scope.c.scope).where(operator_scope.c.user_id == user_id)
        )
        return frozenset(Scope(scope) for scope in found)

    async def set_scopes(self, user_id: str, scopes: frozenset[Scope]) -> None:
        """Store an operator's scopes; none ends the role. Those it keeps keep their time."""
        c = operator_scope.c
        names = sorted(scope.value for scope in scopes)
        await self._tx.connection.execute(
            sa.delete(operator_scope).where(c.user_id == user_id, c.scope.not_in(names))
        )
        now = await self._tx.now()
        if names:
            await self._tx.connection.execute(
                insert(operator_scope).on_conflict_do_nothing(),
                [{"user_id": user_id, "scope": name, "since": now} for name in names],
            )

    async def record_grant(self, user_id: str, by: str, entity_id: str = "") -> None:
        """Record who gave a person a right, of an entity or an operator's; `by` "" records none."""
        if by:
            values = {"user_id": user_id, "given_by": by, "entity_id": entity_id}
            await self._tx.connection.execute(
                sa.insert(access_grant).values(**values, at=await self._tx.now())
            )

    async def lock_operators(self) -> None:
        """Let acts on people wait for each other until this transaction ends."""
        await self._tx.lock_name("operators")

    async def managers(self) -> frozenset[str]:
        """Return the user IDs of the active operators who can manage operators."""
        u, c = user_account.c, operator_scope.c
        found = await self._tx.connection.scalars(
            sa.select(u.user_id)
            .join(operator_scope, c.user_id == u.user_id)
            .where(c.scope == Scope.MEMBERS.value, u.state == UserState.ACTIVE.value)
        )
        return frozenset(found)

    async def manages_since(self, user_id: str) -> datetime | None:
        """Return since when an operator can manage operators; None when it cannot."""
        c = operator_scope.c
        found: datetime | None = await self._tx.connection.scalar(
            sa.select(c.since).where(c.user_id == user_id, c.scope == Scope.MEMBERS.value)
        )
        return found

    async def tokens(self, user_id: str) -> Sequence[HeldToken]:
        """Return a user's tokens that have not expired, the newest first."""
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
        """Record a use of a user token, at most once a minute."""
        now, c = await self._tx.now(), user_token_use.c
        last_used_at = await self._tx.connection.scalar(
            sa.select(c.last_used_at).where(c.jti == jti)
        )
        if last_used_at is not None and last_used_at > now - _RECORD_EVERY:
            return
        # Calls with one token at the same time must not wait for each other here.
        is_first = await self._tx.connection.scalar(
            sa.select(sa.func.pg_try_advisory_xact_lock(sa.func.hashtextextended(jti, 0)))
        )
        if not is_first:
            return
        values = {"last_used_at": now, "last_address": address}
        await self._tx.connection.execute(
            insert(user_token_use)
            .values(jti=jti, **values)
            .on_conflict_do_update(index_elements=["jti"], set_=values)
        )
