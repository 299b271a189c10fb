"""Users, members and their links in PostgreSQL: implements identity/ports.py."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final, cast

import sqlalchemy as sa

from mudra.identity.accounts.email_link import LinkPurpose, LinkRecord
from mudra.identity.accounts.user import User, UserState
from mudra.identity.memberships.member import Member, MemberStatus
from mudra.shared.ids import fresh_id
from mudra.storage.caching.cache_invalidation import entity_key
from mudra.storage.database.among import is_among
from mudra.storage.database.database import Transaction
from mudra.storage.database.tables import (
    email_link,
    entity,
    entity_admin,
    entity_reader,
    user_account,
)

_RIGHTS: Final = sa.union_all(
    sa.select(entity_admin.c.user_id, entity_admin.c.entity_id, sa.false().label("reads")),
    sa.select(entity_reader.c.user_id, entity_reader.c.entity_id, sa.true().label("reads")),
).subquery("rights")


class PostgresPeople:
    """Users and the entities that they administer."""

    def __init__(self, transaction: Transaction) -> None:
        self._tx = transaction

    def new_id(self) -> str:
        """Return an ID for a new user."""
        return fresh_id()

    async def now(self) -> datetime:
        """Return the database's time."""
        return await self._tx.now()

    async def by_username(self, username: str) -> User | None:
        """Find a user by normalized email address."""
        return await self._user(user_account.c.email == username)

    async def by_id(self, user_id: str) -> User | None:
        """Find a user by ID."""
        return await self._user(user_account.c.user_id == user_id)

    async def _user(self, which: sa.ColumnElement[bool]) -> User | None:
        # One statement: each call of a signed-in user begins with it. For an unknown name it reads
        # a row as well: the time that a sign-in takes must not reveal which names exist (A6).
        asked = sa.select(sa.literal_column("1")).subquery("asked")
        rights = _RIGHTS.c
        rows = (
            (
                await self._tx.connection.execute(
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
            )
            .mappings()
            .all()
        )
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
        row = (
            (
                await self._tx.connection.execute(
                    sa.select(entity).where(entity.c.entity_id == entity_id).with_for_update()
                )
            )
            .mappings()
            .first()
        )
        if row is None:
            return None
        return (await self._with_admins([cast("dict[str, str]", dict(row))]))[0]

    async def members(self) -> Sequence[Member]:
        """List all members by entity ID."""
        rows = (
            await self._tx.connection.execute(sa.select(entity).order_by(entity.c.entity_id))
        ).mappings()
        return await self._with_admins([cast("dict[str, str]", dict(row)) for row in rows])

    async def _with_admins(self, rows: list[dict[str, str]]) -> list[Member]:
        admins: dict[str, list[str]] = {row["entity_id"]: [] for row in rows}
        found = await self._tx.connection.execute(
            sa.select(entity_admin.c.entity_id, user_account.c.email)
            .join(user_account, user_account.c.user_id == entity_admin.c.user_id)
            .where(is_among(entity_admin.c.entity_id, admins))
            .order_by(entity_admin.c.since, user_account.c.email)
        )
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
        self, entity_id: str, entity_type: str, name: str, status: MemberStatus
    ) -> None:
        """Store a new member."""
        await self._tx.connection.execute(
            sa.insert(entity).values(
                entity_id=entity_id,
                type=entity_type,
                name=name,
                status=status.value,
                created_at=await self._tx.now(),
            )
        )
        await self._tx.changing(entity_key(entity_id), must_not_be_missed=True)

    async def add_user(self, user: User) -> None:
        """Store a new user."""
        await self._tx.connection.execute(
            sa.insert(user_account).values(
                user_id=user.user_id,
                email=user.email,
                name=user.name,
                state=user.state.value,
                created_at=await self._tx.now(),
            )
        )

    async def set_language(self, user_id: str, language: str) -> None:
        """Store the language of a person's pages and emails."""
        await self._tx.connection.execute(
            sa.update(user_account)
            .where(user_account.c.user_id == user_id)
            .values(language=language)
        )

    async def set_display_zone(self, user_id: str, choice: str) -> None:
        """Store the zone in which a person's pages write times."""
        await self._tx.connection.execute(
            sa.update(user_account)
            .where(user_account.c.user_id == user_id)
            .values(display_zone=choice)
        )

    async def add_admin(self, entity_id: str, user_id: str) -> None:
        """Make a user an admin of an entity, of which it is no reader any more."""
        c = entity_reader.c
        await self._tx.connection.execute(
            sa.delete(entity_reader).where(c.entity_id == entity_id, c.user_id == user_id)
        )
        await self._tx.connection.execute(
            sa.insert(entity_admin).values(
                entity_id=entity_id, user_id=user_id, since=await self._tx.now()
            )
        )

    async def set_password(self, user_id: str, password_hash: str) -> None:
        """Store the hash of a new password."""
        await self._tx.connection.execute(
            sa.update(user_account)
            .where(user_account.c.user_id == user_id)
            .values(
                password_hash=password_hash,
                password_set_at=await self._tx.now(),
            )
        )

    async def replace_hash(self, user_id: str, previous: str, password_hash: str) -> bool:
        """Store a new hash of the same password; False when the password has changed since."""
        c = user_account.c
        done = await self._tx.connection.execute(
            sa.update(user_account)
            .where(c.user_id == user_id, c.password_hash == previous)
            .values(password_hash=password_hash)
        )
        return done.rowcount == 1


class PostgresLinks:
    """One-use links; only the hash of the token is stored (quality A12)."""

    def __init__(self, transaction: Transaction) -> None:
        self._tx = transaction

    async def add(self, link: LinkRecord) -> None:
        """Store a new link and void the older ones of the same user."""
        await self.void(link.user_id, link.created_at)
        await self._tx.connection.execute(
            sa.insert(email_link).values(
                token_hash=link.token_hash,
                user_id=link.user_id,
                purpose=link.purpose.value,
                address=link.address,
                created_at=link.created_at,
                expires_at=link.expires_at,
            )
        )

    async def find(self, token_hash: bytes) -> LinkRecord | None:
        """Find a link, and hold its lock for this transaction."""
        row = (
            (
                await self._tx.connection.execute(
                    sa.select(email_link)
                    .where(email_link.c.token_hash == token_hash)
                    .with_for_update()
                )
            )
            .mappings()
            .first()
        )
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

    async def use(self, token_hash: bytes, now: datetime) -> None:
        """Mark a link as used."""
        await self._tx.connection.execute(
            sa.update(email_link).where(email_link.c.token_hash == token_hash).values(used_at=now)
        )

    async def void(self, user_id: str, now: datetime) -> None:
        """Void the links of a user that were not used."""
        c = email_link.c
        await self._tx.connection.execute(
            sa.update(email_link)
            .where(c.user_id == user_id, c.used_at.is_(None), c.voided_at.is_(None))
            .values(voided_at=now)
        )

    async def sent_to(self, user_id: str, since: datetime) -> Sequence[datetime]:
        """Return the times at which links were sent to a user."""
        c = email_link.c
        found = await self._tx.connection.scalars(
            sa.select(c.created_at).where(c.user_id == user_id, c.created_at > since)
        )
        return found.all()

    async def is_any_valid(self, user_id: str, now: datetime) -> bool:
        """Return whether a link of a user still works."""
        c = email_link.c
        valid = sa.exists().where(
            c.user_id == user_id,
            c.used_at.is_(None),
            c.voided_at.is_(None),
            c.expires_at > now,
        )
        return bool(await self._tx.connection.scalar(sa.select(valid)))
