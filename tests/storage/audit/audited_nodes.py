"""Two nodes with a data directory each on one database, which seal and watch as their jobs do."""

import asyncio
import contextlib
import uuid
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import TypeVar

import psycopg
import sqlalchemy as sa
from tests.support.database.template_database import prepare

from mudra.audit.archive import archive_next, check_archives, drop_archived
from mudra.audit.event import AuditEntry, Caller, EventName
from mudra.audit.packing import drop_over_age, pack_next
from mudra.audit.ports import AuditChain, AuditLog, AuditWork
from mudra.audit.sealing import confirm_restore, copy_checkpoints, seal_next
from mudra.audit.verdict import AuditVerdict
from mudra.audit.verification import verify_audit
from mudra.bootstrap.dependencies import Dependencies, build_dependencies
from mudra.settings.settings import Settings
from mudra.storage.audit.archive_files import Folder
from mudra.storage.audit.audit_log import PostgresAuditLog
from mudra.storage.crypto.data_encryption import DataEncryption
from mudra.storage.crypto.encryption_keys import load_data_encryption
from mudra.storage.database.database import Transaction
from mudra.storage.database.embedded.server import embedded_server
from mudra.unit_of_work import UnitOfWork

T = TypeVar("T")
_ROWS_READ = sa.text(
    "SELECT sum(seq_tup_read + coalesce(idx_tup_fetch, 0))::bigint FROM pg_stat_xact_user_tables"
    " WHERE relname IN ('audit_event', 'audit_seal')"
)


class AuditedNodes:
    """Nodes A and B: each with a second place of its own, on a database that they share."""

    def __init__(self, url: str, home: Path, encryption: DataEncryption) -> None:
        self.url = url
        self.encryption = encryption
        self._loop = asyncio.new_event_loop()
        self._nodes = {name: self._node(home / name) for name in ("a", "b")}

    def _node(self, data_dir: Path) -> Dependencies:
        data_dir.mkdir(parents=True, exist_ok=True)
        return build_dependencies(Settings(data_dir=data_dir), self.url, self.encryption)

    def close(self) -> None:
        """Disconnect."""
        for node in self._nodes.values():
            self._loop.run_until_complete(node.invalidation.stop())
            self._loop.run_until_complete(node.database.close())
        self._loop.close()

    def sql(self, *statements: str) -> None:
        """Run statements as one who may do anything to the database."""
        with psycopg.connect(self.url) as connection:
            for statement in statements:
                connection.execute(statement.encode())

    def write(self, count: int) -> None:
        """Append so many events in one transaction."""

        async def act(work: UnitOfWork) -> None:
            for _ in range(count):
                await work.audit_log.append(
                    AuditEntry(EventName.ENTITY_SECRET_READ, Caller("user:asha"), "KAVERI-FIP")
                )

        self.at("a", act)

    def issue(self, count: int) -> None:
        """Append so many issued tokens, alternately of two entities, packed into one block."""

        async def append(work: UnitOfWork) -> None:
            for number in range(count):
                entity_id = ("KAVERI-FIP", "SETU-AA")[number % 2]
                caller = Caller(f"entity:{entity_id}", "192.0.2.7", f"txn-{number}")
                detail = {"version": 1, "count": 1, "jtis": f"jti-{number}"}
                await work.audit_log.append(
                    AuditEntry(EventName.ENTITY_TOKEN_ISSUE, caller, entity_id, detail=detail)
                )

        self.at("a", append)

    def pack(self, *, days_ago: int = 0) -> int:
        """Pack what waits, as the job does some minutes later."""

        async def act(work: UnitOfWork) -> int:
            later = await work.audit_chain.ledger.now() + timedelta(minutes=6)
            return await pack_next(work.audit_chain.token_issues, work.audit_log, later)

        packed = self.at("a", act)
        self.sql(
            f"UPDATE audit_event SET at = at - interval '{days_ago} days'"
            " WHERE event = 'audit:tokens:pack' AND seq = (SELECT max(seq) FROM audit_event)"
        )
        return packed

    def drop(self, days: int) -> int:
        """Drop blocks of which all tokens are older, as the job does."""

        async def act(work: UnitOfWork) -> int:
            chain, now = work.audit_chain, await work.audit_chain.ledger.now()
            kept = timedelta(days=days)
            return await drop_over_age(chain.token_issues, work.audit_log, kept, now)

        return self.at("a", act)

    def archive(self, folder: Path, days_old: int = 0) -> object:
        """Archive what is so old on node A."""

        async def act(work: UnitOfWork) -> object:
            before = await work.audit_chain.ledger.now() - timedelta(days=days_old)
            files = Folder(folder, self.encryption)
            caller = Caller("operator:rao")
            return await archive_next(work.audit_chain, work.audit_log, caller, files, before)

        return self.at("a", act)

    def check_archives(self, folder: Path) -> object:
        """Verify the archives on node B."""

        async def act(work: UnitOfWork) -> object:
            return await check_archives(work.audit_chain, Folder(folder, self.encryption))

        return self.at("b", act)

    def drop_archived(self, *, days: int) -> int:
        """Drop archived rows that are older, as the job does."""

        async def act(work: UnitOfWork) -> int:
            chain, now = work.audit_chain, await work.audit_chain.ledger.now()
            return await drop_archived(chain, work.audit_log, timedelta(days=days), now)

        return self.at("a", act)

    def seal(self, *, copied: bool = True, days_ago: int = 0) -> None:
        """Let node A seal what there is, with a checkpoint at the end; both nodes copy it."""
        ago = timedelta(days=days_ago)
        while self.at("a", lambda work: seal_as_the_job_does(work, ago)):
            pass
        self.at("a", lambda work: _checkpoint(work, ago))
        if copied:
            self.copy()

    def copy(self) -> list[bool]:
        """Let both nodes copy checkpoints to their second places."""
        return [self.at(node, lambda work: copy_checkpoints(work.audit_chain)) for node in "ab"]

    def verdicts(self, *tampering: str) -> list[AuditVerdict]:
        """Verify on both nodes, after statements that are rolled back at the end."""
        return [self.tampered(node, tampering) for node in "ab"]

    def confirm(self) -> object:
        """Confirm a restore on node A."""

        async def act(work: UnitOfWork) -> object:
            now = await work.audit_chain.ledger.now()
            return await confirm_restore(
                work.audit_chain, work.audit_log, Caller("operator:rao"), now
            )

        return self.at("a", act)

    def at(self, node: str, act: Callable[[UnitOfWork], Awaitable[T]]) -> T:
        """Act in one transaction of a node."""

        async def run() -> T:
            async with self._nodes[node].unit_of_work(within_s=60) as work:
                return await act(work)

        return self._loop.run_until_complete(run())

    def rows_read(self, act: Callable[[Transaction, AuditWork], Awaitable[object]]) -> int:
        """Act in one transaction of node A; count the rows of the audit that it reads."""

        async def run() -> int:
            dependencies = self._nodes["a"]
            async with dependencies.database.transaction(within_s=60) as transaction:
                before = await transaction.connection.scalar(_ROWS_READ)
                chain, log = dependencies.audit_chain(transaction), PostgresAuditLog(transaction)
                await act(transaction, _Work(log, chain))
                return int(await transaction.connection.scalar(_ROWS_READ)) - int(before)

        return self._loop.run_until_complete(run())

    def tampered(self, node: str, statements: Sequence[str]) -> AuditVerdict:
        """Verify in a transaction that has just run these statements, and roll it back."""

        async def run() -> AuditVerdict:
            dependencies = self._nodes[node]
            async with dependencies.database.transaction(within_s=60) as transaction:
                for statement in statements:
                    await transaction.connection.exec_driver_sql(statement)
                chain, log = dependencies.audit_chain(transaction), PostgresAuditLog(transaction)
                found = await verify_audit(_Work(log, chain), Caller("operator:rao"))
                await transaction.connection.rollback()
            return found

        return self._loop.run_until_complete(run())


@dataclass(frozen=True)
class _Work:
    audit_log: AuditLog
    audit_chain: AuditChain


async def seal_as_the_job_does(work: AuditWork, ago: timedelta = timedelta()) -> int:
    """Seal one batch, as if so long ago."""
    now = await work.audit_chain.ledger.now()
    return await seal_next(work.audit_chain, work.audit_log, now - ago)


async def _checkpoint(work: UnitOfWork, ago: timedelta) -> None:
    head, last = await work.audit_chain.ledger.head(), await work.audit_chain.checkpoints.last()
    if head.count > last.count:
        epochs = await work.audit_chain.ledger.epochs()
        checkpoint = type(head)(head.count, head.head, head.at - ago, epochs[-1].number)
        await work.audit_chain.checkpoints.add(checkpoint)


@contextlib.contextmanager
def audited_nodes(url: str, home: Path, encryption: DataEncryption) -> Iterator[AuditedNodes]:
    """Give two nodes on a database."""
    nodes = AuditedNodes(url, home, encryption)
    try:
        yield nodes
    finally:
        nodes.close()


@dataclass(frozen=True)
class Server:
    """A server with a migrated database that is copied for each test which spoils one."""

    url: str
    encryption: DataEncryption

    def run(self, statement: str) -> None:
        """Run a statement that concerns databases."""
        with psycopg.connect(self.named("postgres"), autocommit=True) as connection:
            connection.execute(statement.encode())

    def named(self, database: str) -> str:
        """The address of another database."""
        return self.url.replace("/mudra?", f"/{database}?")

    @contextlib.contextmanager
    def copy(self) -> Iterator[str]:
        """Give the address of a copy of its own."""
        name = f"copy_{uuid.uuid4().hex[:8]}"
        self.run(f"CREATE DATABASE {name} TEMPLATE mudra")
        try:
            yield self.named(name)
        finally:
            self.run(f"DROP DATABASE {name} WITH (FORCE)")


@contextlib.contextmanager
def audit_server(home: Path) -> Iterator[Server]:
    """Start a server with a migrated database."""
    prepare(home)
    with embedded_server(home) as url:
        yield Server(url, load_data_encryption(url, home, create=True))
