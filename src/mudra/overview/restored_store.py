"""The restored database."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final, cast

import msgspec
import psycopg
import sqlalchemy as sa
from msgspec import Struct
from sqlalchemy.dialects.postgresql import insert

from mudra.audit.acts import Act
from mudra.audit.chain_store import CLUSTER, tables_of
from mudra.audit.event import EventName
from mudra.shared.backup_details import BackupDetails
from mudra.storage.database.transaction import Transaction
from mudra.storage.tables.identity import (
    address_change,
    admin_invitation,
    console_session,
    email_link,
    entity,
    local_sign_in,
    passkey_challenge,
    sign_on_attempt,
)
from mudra.storage.tables.service import service_fact
from mudra.storage.tables.tokens import user_token
from mudra.tokens.authentication.issued_token_store import IssuedTokens

_MADE: Final = "backup"
_FINISHED: Final = "backup-finished"
_AWAITED: Final = "backup-awaited"
_RESTORED: Final = "backup-restored"
_REHEARSAL: Final = "backup-rehearsal"
_HERE: Final = " in "
"""Between the backup that was restored and the cluster that it was restored into."""
RECOVERED: Final = "recovered "
"""Before the name of a cluster, in place of a backup: what must follow its recovery was done."""
_TOKEN_LIFE: Final = timedelta(hours=24)
"""Of an entity token: how long a revocation must be kept whose token is not at hand."""
MOVED: Final = "moved "
"""The same, where an operator stated that the database was moved whole."""
_FACTS: Final = "SELECT name, value, xmin::text::bigint FROM service_fact"
_NUMBERS_BEHIND: Final = (
    "SELECT max(seq) > (SELECT last_value FROM audit_event_seq_seq) FROM audit_event"
)
_XIDS: Final = 2**32
"""What a row keeps of the number of the transaction that wrote it."""
_ANY_TABLE: Final = """
SELECT EXISTS (SELECT FROM pg_class
    WHERE relkind IN ('r', 'p') AND relnamespace = current_schema()::regnamespace)
"""
_OURS: Final = """
SELECT to_regclass('service_fact') IS NOT NULL AND to_regclass('audit_event') IS NOT NULL
    AND to_regclass('entity') IS NOT NULL AND to_regclass('metrics_receipt') IS NOT NULL
"""
_ANY_ROW: Final = """
SELECT EXISTS (SELECT FROM audit_event) OR EXISTS (SELECT FROM user_account)
    OR EXISTS (SELECT FROM entity) OR EXISTS (SELECT FROM sealed_key)
    OR EXISTS (SELECT FROM metrics_receipt)
"""
_DROP_ALL: Final = """
DO $$ DECLARE statement text; BEGIN
    FOR statement IN
        SELECT format('DROP TABLE %s CASCADE', oid::regclass) FROM pg_class
        WHERE relkind IN ('r', 'p') AND NOT relispartition
            AND relnamespace = current_schema()::regnamespace
        UNION ALL
        SELECT format('DROP ROUTINE %s CASCADE', p.oid::regprocedure) FROM pg_proc p
        WHERE pronamespace = current_schema()::regnamespace AND NOT EXISTS (
            SELECT FROM pg_depend d WHERE d.objid = p.oid AND d.deptype = 'e')
    LOOP EXECUTE statement; END LOOP;
END $$
"""


class BackupMark(Struct, frozen=True):
    """The mark of a backup in the database before it is read: so a copy knows its origin."""

    backup_id: str
    cluster: str
    at: datetime | None = None
    """When the backup was made, as its end is recorded; None in a mark of 1.0.0."""
    xid: int = 0
    """The transaction that wrote the mark."""


class RestoredStore:
    """The database in the transaction of the rollback."""

    def __init__(self, transaction: Transaction) -> None:
        self._tx = transaction

    async def end_sign_ins(self, now: datetime) -> int:
        """End all user tokens, sessions of the console and one-time links; count the tokens."""
        ended = await self._tx.connection.execute(
            sa.update(user_token)
            .where(user_token.c.revoked_at.is_(None), user_token.c.expires_at > now)
            .values(revoked_at=now)
        )
        for statement in (
            sa.delete(console_session),
            sa.delete(passkey_challenge),
            sa.delete(sign_on_attempt),
            sa.delete(local_sign_in),
            sa.delete(address_change),
            sa.update(admin_invitation)
            .where(admin_invitation.c.ended_at.is_(None))
            .values(ended_at=now),
            sa.update(email_link)
            .where(email_link.c.used_at.is_(None), email_link.c.voided_at.is_(None))
            .values(voided_at=now),
        ):
            await self._tx.connection.execute(statement)
        return int(ended.rowcount)

    async def revoke_again(self, acts: Sequence[Act]) -> int:
        """Revoke the entity tokens that these acts name; count them."""
        tokens = IssuedTokens(self._tx)
        done = 0
        for act in acts:
            if act.event == EventName.ENTITY_TOKEN_REVOKE.value and act.about:
                until = act.at + _TOKEN_LIFE
                done += await tokens.revoke_entity_token(act.about, act.entity_id, until)
        return done

    async def members(self) -> Sequence[str]:
        """List the entities that were not retired."""
        rows = await self._tx.connection.scalars(
            sa.select(entity.c.entity_id)
            .where(entity.c.membership != "retired")
            .order_by(entity.c.entity_id)
        )
        return list(rows)

    async def finished(self, backup_id: str, *, is_rehearsal: bool = False) -> None:
        """Record that this backup was restored to the end, here: a copy of this is none of it."""
        place = ""
        if not backup_id.startswith(RECOVERED):
            place = f"{_HERE}{await self._tx.connection.scalar(sa.text(CLUSTER))}"
        await _keep_fact(self._tx, _RESTORED, f"{backup_id}{place}")
        if is_rehearsal:
            await _keep_fact(self._tx, _REHEARSAL, backup_id)
        else:
            forget = sa.delete(service_fact).where(service_fact.c.name == _REHEARSAL)
            await self._tx.connection.execute(forget)


async def keep_moved(transaction: Transaction, cluster: str) -> None:
    """Record that the database was moved whole into this cluster."""
    await _keep_fact(transaction, _RESTORED, f"{MOVED}{cluster}")


async def are_numbers_behind(transaction: Transaction) -> bool:
    """Return whether the audit has numbers that its sequence did not give out here.

    Logical replication brings rows and leaves sequences.
    """
    return bool(await transaction.connection.scalar(sa.text(_NUMBERS_BEHIND)))


async def last_backup(transaction: Transaction) -> datetime | None:
    """Return when the last finished backup was made; None when there is none."""
    found = await transaction.connection.scalar(
        sa.select(service_fact.c.value).where(service_fact.c.name == _FINISHED)
    )
    return datetime.fromisoformat(found) if found else None


async def backup_awaited_since(transaction: Transaction) -> datetime:
    """Return since when a first backup is waited for: the time of the first call."""
    since = (await transaction.now()).isoformat()
    awaited = insert(service_fact).values(name=_AWAITED, value=since)
    await transaction.connection.execute(awaited.on_conflict_do_nothing())
    found = await transaction.connection.scalar(
        sa.select(service_fact.c.value).where(service_fact.c.name == _AWAITED)
    )
    return datetime.fromisoformat(found or since)


def mark(conninfo: str, backup_id: str, at: datetime) -> int:
    """Write into the database which backup begins; returns the database's size in bytes."""
    with psycopg.connect(conninfo, connect_timeout=5) as connection:
        row = connection.execute(
            f"SELECT ({CLUSTER}), pg_database_size(current_database()),"
            " pg_current_xact_id()::text::bigint".encode()
        ).fetchone()
        assert row is not None
        made = BackupMark(backup_id, str(row[0]), at, int(str(row[2])))
        _keep(connection, _MADE, msgspec.json.encode(made).decode())
        return int(str(row[1]))


async def _keep_fact(transaction: Transaction, name: str, value: str) -> None:
    fact = insert(service_fact).values(name=name, value=value)
    await transaction.connection.execute(
        fact.on_conflict_do_update(index_elements=["name"], set_={"value": value})
    )


def mark_finished(conninfo: str, at: datetime) -> None:
    """Record in the database when a backup was finished: its age is an alarm."""
    with psycopg.connect(conninfo, connect_timeout=5) as connection:
        _keep(connection, _FINISHED, at.isoformat())


class Contents(Struct, frozen=True):
    """The contents of a database before a restore: nothing, or a copy that a restore began."""

    empty: bool
    """It has no table, or those of Mudra without a row that anyone made."""
    restored_from: str = ""
    """The backup that was copied into it, when it is a copy."""
    finished: str = ""
    """The backup whose restore came to its end."""
    is_rehearsal: bool = False
    """It was restored for a look: nothing of it may reach anyone."""
    users: int = 0
    """Other sessions that are connected to it."""
    cluster: str = ""
    """Cluster, timeline, database and table."""
    came_from: str = ""
    """The cluster that the backup was made in, when this is a copy."""
    ended_here: bool = False
    """It knows the end of that backup, which comes after its dump: it is no copy of that dump."""
    same_files: bool = False
    """Its files came along, as by pg_upgrade: numbers of tables and transactions are as before."""

    def is_copy_of(self, backup: BackupDetails) -> bool:
        """Return whether this is a copy of a backup."""
        return self.restored_from == backup.backup_id

    @property
    def unfinished(self) -> bool:
        """Return whether it is a copy of which nothing that must follow a restore was done.

        A restore, a recovery or a move was dealt with for these tables: a fail-over since then
        begins another timeline of the same, and a copy of them has others.
        """
        dealt_with = any(
            self.finished.startswith(one)
            and tables_of(self.finished.removeprefix(one)) == tables_of(self.cluster)
            for one in (RECOVERED, MOVED, f"{self.restored_from}{_HERE}")
        )
        return bool(self.restored_from) and not dealt_with

    @property
    def may_be_moved(self) -> bool:
        """Return whether it may have been moved whole: a backup's dump is from before its end."""
        return self.unfinished and (self.same_files or self.ended_here)


def look(conninfo: str) -> Contents:
    """Look into a database: before a restore, and for one that was cut off."""
    with psycopg.connect(conninfo, connect_timeout=5) as connection:
        return contents_of(connection)


def contents_of(connection: psycopg.Connection[tuple[object, ...]]) -> Contents:
    """Look into the database of a connection."""
    others = connection.execute(
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
        " AND usesysid IS NOT NULL AND pid <> pg_backend_pid()"
    ).fetchone()
    users = int(str(others[0])) if others else 0
    if not _is(connection, _ANY_TABLE):
        return Contents(empty=True, users=users)
    if not _is(connection, _OURS):
        return Contents(empty=False, users=users)
    rows = cast("list[tuple[str, str, int]]", connection.execute(_FACTS).fetchall())
    facts = {name: value for name, value, _ in rows}
    row = connection.execute(CLUSTER.encode()).fetchone()
    assert row is not None
    here, found = str(row[0]), facts.get(_MADE)
    origin = msgspec.json.decode(found, type=BackupMark) if found else None
    contents = Contents(
        empty=not _is(connection, _ANY_ROW),
        finished=facts.get(_RESTORED, ""),
        is_rehearsal=_REHEARSAL in facts,
        users=users,
        cluster=here,
    )
    # A fail-over or a recovery begins another timeline of the same tables: that is no copy.
    if origin is None or tables_of(origin.cluster) == tables_of(here):
        return contents
    written_by = next(xmin for name, _, xmin in rows if name == _MADE)
    return msgspec.structs.replace(
        contents,
        restored_from=origin.backup_id,
        came_from=origin.cluster,
        ended_here=origin.at is not None and facts.get(_FINISHED) == origin.at.isoformat(),
        same_files=_has_same_files(origin, here, written_by),
    )


def _has_same_files(origin: BackupMark, here: str, written_by: int) -> bool:
    """Return whether the mark lies where its transaction wrote it: a dump has it from another."""
    there, now = origin.cluster.split("/")[2:], here.split("/")[2:]
    return there == now and origin.xid > 0 and origin.xid % _XIDS == written_by


def clear(conninfo: str) -> None:
    """Drop the tables and functions of a database that is `empty`, for a dump that makes them."""
    with psycopg.connect(conninfo, connect_timeout=5) as connection:
        connection.execute(_DROP_ALL)


def _is(connection: psycopg.Connection[tuple[object, ...]], query: str) -> bool:
    row = connection.execute(query.encode()).fetchone()
    return row is not None and bool(row[0])


def _keep(connection: psycopg.Connection[tuple[object, ...]], name: str, value: str) -> None:
    connection.execute(
        "INSERT INTO service_fact (name, value) VALUES (%s, %s)"
        " ON CONFLICT (name) DO UPDATE SET value = EXCLUDED.value",
        [name, value],
    )
