"""Admins, contacts, operators and their states in PostgreSQL."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from mudra.audit.event import EventName
from mudra.audit.search_store import times_of_admins
from mudra.identity.accounts.user import UserState
from mudra.identity.memberships.entity_status_store import member_status_of, store_status, types_of
from mudra.identity.memberships.member import NEW_ADDRESS, Admin, Contact, MemberStatus, Role
from mudra.shared.entity_type import EntityType
from mudra.storage.database.transaction import Transaction
from mudra.storage.tables.audit import audit_event
from mudra.storage.tables.identity import (
    entity,
    entity_admin,
    entity_contact,
    entity_reader,
    user_account,
)

_U: Final = user_account.c


def _people_with(rights: sa.Table) -> sa.Select[Any]:
    return (
        sa.select(_U.user_id, _U.email, _U.name, _U.state, rights.c.since)
        .join(rights, rights.c.user_id == _U.user_id)
        .where(rights.c.entity_id == sa.bindparam("entity_id"))
        .order_by(rights.c.since, _U.email)
    )


_ADMINS: Final = _people_with(entity_admin)
_READERS: Final = _people_with(entity_reader)
_ADD_READER: Final = insert(entity_reader).on_conflict_do_nothing()
_CONTACT: Final = sa.select(entity_contact.c.email, entity_contact.c.phone).where(
    entity_contact.c.entity_id == sa.bindparam("entity_id")
)
_TYPE: Final = sa.select(entity.c.type).where(entity.c.entity_id == sa.bindparam("entity_id"))
_NAME: Final = sa.select(entity.c.name).where(entity.c.entity_id == sa.bindparam("entity_id"))
_SET_STATE: Final = (
    sa.update(user_account)
    .where(_U.user_id == sa.bindparam("of_user"))
    .values(state=sa.bindparam("new_state"))
)
_SET_MEMBERSHIP: Final = (
    sa.update(entity)
    .where(entity.c.entity_id == sa.bindparam("of_entity"))
    .values(membership=sa.bindparam("decided"))
)


class Memberships:
    """Stores the admins, readers and contacts of entities."""

    def __init__(self, transaction: Transaction) -> None:
        self._tx = transaction

    async def admins(self, entity_id: str) -> Sequence[Admin]:
        """Return the admins of an entity, the longest serving first."""
        return await self._people(_ADMINS, entity_id, Role.ADMIN)

    async def readers(self, entity_id: str) -> Sequence[Admin]:
        """Return the readers of an entity, the longest serving first."""
        return await self._people(_READERS, entity_id, Role.READER)

    async def _people(self, query: sa.Select[Any], entity_id: str, role: Role) -> Sequence[Admin]:
        rows = await self._tx.connection.execute(query, {"entity_id": entity_id})
        return [Admin(r[0], r[1], r[2], UserState(r[3]), r[4], role=role) for r in rows]

    async def add_reader(self, entity_id: str, user_id: str) -> None:
        """Let a user see an entity."""
        await self._tx.connection.execute(
            _ADD_READER,
            {"entity_id": entity_id, "user_id": user_id, "since": await self._tx.now()},
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
        rows = await self._tx.connection.execute(_CONTACT, {"entity_id": entity_id})
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
        found = await self._tx.connection.scalar(_NAME, {"entity_id": entity_id})
        return str(found or "")

    async def is_fiu(self, entity_id: str) -> bool:
        """Return whether an entity is a FIU, which sees the incidents of all FIPs."""
        found = await self._tx.connection.scalar(_TYPE, {"entity_id": entity_id})
        return found == EntityType.FIU.value

    async def set_state(self, user_id: str, state: UserState) -> None:
        """Store a user's state."""
        await self._tx.connection.execute(
            _SET_STATE, {"of_user": user_id, "new_state": state.value}
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
            _SET_MEMBERSHIP, {"of_entity": entity_id, "decided": membership.value}
        )
        await store_status(self._tx, entity_id, effective)
