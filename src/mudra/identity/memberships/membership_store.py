"""Admins, contacts, operators and their states in PostgreSQL."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from mudra.audit.event import EventName
from mudra.audit.search_store import times_of_admins
from mudra.identity.accounts.user import HeldToken, UserState
from mudra.identity.memberships.entity_status_store import store_status
from mudra.identity.memberships.entry_store import member_status_of, types_of
from mudra.identity.memberships.member import NEW_ADDRESS, Admin, Contact, MemberStatus, Role
from mudra.identity.operators.operator import Scope
from mudra.storage.database.transaction import Transaction
from mudra.storage.tables.audit import audit_event
from mudra.storage.tables.identity import (
    access_grant,
    entity,
    entity_admin,
    entity_contact,
    entity_reader,
    operator_scope,
    user_account,
    user_token_use,
)
from mudra.storage.tables.tokens import user_token

_RECORD_EVERY: Final = timedelta(minutes=1)
_U: Final = user_account.c


def _people_with(rights: sa.Table) -> sa.Select[Any]:
    return (
        sa.select(_U.user_id, _U.email, _U.name, _U.state, rights.c.since)
        .join(rights, rights.c.user_id == _U.user_id)
        .where(rights.c.entity_id == sa.bindparam("entity_id"))
        .order_by(rights.c.since, _U.email)
    )


_O: Final = operator_scope.c
_T: Final = user_token.c
_USE: Final = user_token_use.c
_ADMINS: Final = _people_with(entity_admin)
_READERS: Final = _people_with(entity_reader)
_ADD_READER: Final = insert(entity_reader).on_conflict_do_nothing()
_CONTACT: Final = sa.select(entity_contact.c.email, entity_contact.c.phone).where(
    entity_contact.c.entity_id == sa.bindparam("entity_id")
)
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
_SCOPES: Final = sa.select(_O.scope).where(_O.user_id == sa.bindparam("user_id"))
_RECORD_GRANT: Final = sa.insert(access_grant)
_MANAGERS: Final = (
    sa.select(_U.user_id)
    .join(operator_scope, _O.user_id == _U.user_id)
    .where(_O.scope == Scope.MEMBERS.value, _U.state == UserState.ACTIVE.value)
)
_MANAGES_SINCE: Final = sa.select(_O.since).where(
    _O.user_id == sa.bindparam("user_id"), _O.scope == Scope.MEMBERS.value
)
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


class Memberships:
    """Admins, contacts, operators and their states."""

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

    async def scopes(self, user_id: str) -> frozenset[Scope]:
        """Return the scopes of an operator; empty for anyone else."""
        found = await self._tx.connection.scalars(_SCOPES, {"user_id": user_id})
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
            await self._tx.connection.execute(_RECORD_GRANT, {**values, "at": await self._tx.now()})

    async def lock_operators(self) -> None:
        """Let acts on people wait for each other until this transaction ends."""
        await self._tx.lock_name("operators")

    async def managers(self) -> frozenset[str]:
        """Return the user IDs of the active operators who can manage operators."""
        return frozenset(await self._tx.connection.scalars(_MANAGERS))

    async def manages_since(self, user_id: str) -> datetime | None:
        """Return since when an operator can manage operators; None when it cannot."""
        found: datetime | None = await self._tx.connection.scalar(
            _MANAGES_SINCE, {"user_id": user_id}
        )
        return found

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
