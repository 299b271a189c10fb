"""Users and members in PostgreSQL."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final, cast

import sqlalchemy as sa

from mudra.identity.accounts.user import User, UserState
from mudra.identity.memberships.member import Member, MemberStatus
from mudra.shared.ids import fresh_id
from mudra.storage.caching.cache_invalidation import entity_key
from mudra.storage.database.among import is_among_given
from mudra.storage.database.transaction import Transaction
from mudra.storage.tables.identity import entity, entity_admin, entity_reader, user_account

_RIGHTS: Final = sa.union_all(
    sa.select(entity_admin.c.user_id, entity_admin.c.entity_id, sa.false().label("reads")),
    sa.select(entity_reader.c.user_id, entity_reader.c.entity_id, sa.true().label("reads")),
).subquery("rights")


def _user_where(which: sa.ColumnElement[bool]) -> sa.Select[tuple[object, ...]]:
    # One statement: each call of a signed-in user begins with it. For an unknown name it reads
    # a row as well: the time that a sign-in takes must not reveal which names exist.
    asked = sa.select(sa.literal_column("1")).subquery("asked")
    rights = _RIGHTS.c
    return (
        sa.select(
            user_account,
            entity.c.entity_id,
            entity.c.name.label("entity_name"),
            rights.reads,
        )
        .select_from(asked)
        .outerjoin(user_account, which)
        .outerjoin(_RIGHTS, rights.user_id == user_account.c.user_id)
        .outerjoin(entity, entity.c.entity_id == rights.entity_id)
        .order_by(entity.c.entity_id)
    )


_U: Final = user_account.c
_BY_USERNAME: Final = _user_where(_U.email == sa.bindparam("email"))
_BY_ID: Final = _user_where(_U.user_id == sa.bindparam("user_id"))
_MEMBER: Final = (
    sa.select(entity).where(entity.c.entity_id == sa.bindparam("entity_id")).with_for_update()
)
_MEMBERS: Final = sa.select(entity).order_by(entity.c.entity_id)
_ADMINS: Final = (
    sa.select(entity_admin.c.entity_id, _U.email)
    .join(user_account, _U.user_id == entity_admin.c.user_id)
    .where(is_among_given(entity_admin.c.entity_id, "entity_ids"))
    .order_by(entity_admin.c.since, _U.email)
)
_ADD_MEMBER: Final = sa.insert(entity)
_ADD_USER: Final = sa.insert(user_account)
_SET_LANGUAGE: Final = (
    sa.update(user_account)
    .where(_U.user_id == sa.bindparam("of_user"))
    .values(language=sa.bindparam("new_language"))
)
_SET_DISPLAY_ZONE: Final = (
    sa.update(user_account)
    .where(_U.user_id == sa.bindparam("of_user"))
    .values(display_zone=sa.bindparam("choice"))
)
_SIGNED_IN: Final = (
    sa.update(user_account)
    .where(
        # Never waits for an act on the account: the time of another sign-in is as good.
        _U.user_id
        == sa.select(_U.user_id)
        .where(_U.user_id == sa.bindparam("of_user"))
        .with_for_update(skip_locked=True)
        .scalar_subquery()
    )
    .values(signed_in_at=sa.bindparam("at"))
)
_END_READER: Final = sa.delete(entity_reader).where(
    entity_reader.c.entity_id == sa.bindparam("entity_id"),
    entity_reader.c.user_id == sa.bindparam("user_id"),
)
_ADD_ADMIN: Final = sa.insert(entity_admin)
_SET_PASSWORD: Final = (
    sa.update(user_account)
    .where(_U.user_id == sa.bindparam("of_user"))
    .values(password_hash=sa.bindparam("new_hash"))
)
_REPLACE_HASH: Final = (
    sa.update(user_account)
    .where(_U.user_id == sa.bindparam("of_user"), _U.password_hash == sa.bindparam("previous"))
    .values(password_hash=sa.bindparam("new_hash"))
)


class People:
    """Stores users, and which entities they administer."""

    def __init__(self, transaction: Transaction) -> None:
        self._tx = transaction

    def new_id(self) -> str:
        """Return an ID for a new user."""
        return fresh_id()

    async def now(self) -> datetime:
        """Return the database's time."""
        return await self._tx.now()

    async def signed_in(self, user_id: str, now: datetime) -> None:
        """Store the time of a sign-in."""
        await self._tx.connection.execute(_SIGNED_IN, {"of_user": user_id, "at": now})

    async def by_username(self, username: str) -> User | None:
        """Find a user by normalized email address."""
        return await self._user(_BY_USERNAME, {"email": username})

    async def by_id(self, user_id: str) -> User | None:
        """Find a user by ID."""
        return await self._user(_BY_ID, {"user_id": user_id})

    async def _user(
        self, query: sa.Select[tuple[object, ...]], which: Mapping[str, str]
    ) -> User | None:
        rows = (await self._tx.connection.execute(query, which)).mappings().all()
        row, mine = rows[0], [one for one in rows if one["entity_id"] is not None]
        read = User(
            user_id=row["user_id"],
            email=row["email"],
            name=row["name"],
            state=UserState(row["state"] or UserState.INVITED.value),
            password_hash=row["password_hash"],
            administers=tuple(one["entity_id"] for one in mine if not one["reads"]),
            entity_names=tuple(one["entity_name"] for one in mine if not one["reads"]),
            reads=tuple(one["entity_id"] for one in mine if one["reads"]),
            read_names=tuple(one["entity_name"] for one in mine if one["reads"]),
            language=row["language"] or "",
            display_zone=row["display_zone"] or "browser",
            password_set_at=row["password_set_at"],
        )
        return read if row["user_id"] is not None else None

    async def member(self, entity_id: str) -> Member | None:
        """Find a member, and hold its lock for this transaction."""
        found = await self._tx.connection.execute(_MEMBER, {"entity_id": entity_id})
        row = found.mappings().first()
        if row is None:
            return None
        return (await self._with_admins([cast("dict[str, str]", dict(row))]))[0]

    async def members(self) -> Sequence[Member]:
        """List all members by entity ID."""
        rows = (await self._tx.connection.execute(_MEMBERS)).mappings()
        return await self._with_admins([cast("dict[str, str]", dict(row)) for row in rows])

    async def _with_admins(self, rows: list[dict[str, str]]) -> list[Member]:
        admins: dict[str, list[str]] = {row["entity_id"]: [] for row in rows}
        found = await self._tx.connection.execute(_ADMINS, {"entity_ids": [*admins]})
        for entity_id, email in found:
            admins[entity_id].append(email)
        return [
            Member(
                entity_id=row["entity_id"],
                entity_type=row["type"],
                name=row["name"],
                status=row["status"],
                admins=tuple(admins[row["entity_id"]]),
            )
            for row in rows
        ]

    async def add_member(
        self, entity_id: str, entity_type: str, name: str, status: MemberStatus, by: str | None
    ) -> None:
        """Store a new member; `by` is the user who onboards it, None for a command."""
        await self._tx.connection.execute(
            _ADD_MEMBER.values(created_at=self._tx.this_moment),
            {
                "entity_id": entity_id,
                "type": entity_type,
                "name": name,
                "status": status.value,
                "onboarded_by": by,
            },
        )
        await self._tx.changing(entity_key(entity_id), must_not_be_missed=True)

    async def add_user(self, user: User) -> None:
        """Store a new user."""
        await self._tx.connection.execute(
            _ADD_USER.values(created_at=self._tx.this_moment),
            {
                "user_id": user.user_id,
                "email": user.email,
                "name": user.name,
                "state": user.state.value,
            },
        )

    async def set_language(self, user_id: str, language: str) -> None:
        """Store the language of a person's pages and emails; empty for the network's."""
        await self._tx.connection.execute(
            _SET_LANGUAGE, {"of_user": user_id, "new_language": language}
        )

    async def set_display_zone(self, user_id: str, choice: str) -> None:
        """Store the zone in which a person's pages write times."""
        await self._tx.connection.execute(_SET_DISPLAY_ZONE, {"of_user": user_id, "choice": choice})

    async def add_admin(self, entity_id: str, user_id: str) -> None:
        """Make a user an admin of an entity, of which it is no reader any more."""
        right = {"entity_id": entity_id, "user_id": user_id}
        await self._tx.connection.execute(_END_READER, right)
        await self._tx.connection.execute(_ADD_ADMIN.values(since=self._tx.this_moment), right)

    async def set_password(self, user_id: str, password_hash: str) -> None:
        """Store the hash of a new password."""
        await self._tx.connection.execute(
            _SET_PASSWORD.values(password_set_at=self._tx.this_moment),
            {"of_user": user_id, "new_hash": password_hash},
        )

    async def replace_hash(self, user_id: str, previous: str, password_hash: str) -> bool:
        """Store a new hash of the same password; False when the password has changed since."""
        done = await self._tx.connection.execute(
            _REPLACE_HASH, {"of_user": user_id, "previous": previous, "new_hash": password_hash}
        )
        return done.rowcount == 1
