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

from mudra.audit.audit_chain import AuditChain
from mudra.audit.audit_log_store import AuditLog
from mudra.audit.event import AuditEntry, Caller, EventName
from mudra.audit.packing import drop_over_age, pack_next
from mudra.audit.proof.archive import archive_next, check_archives, drop_archived
from mudra.audit.proof.archive_files import ArchiveFiles
from mudra.audit.proof.sealing import confirm_restore, copy_checkpoints, seal_next
from mudra.audit.proof.verdict import AuditVerdict
from mudra.audit.proof.verification import verify_audit
from mudra.bootstrap.dependencies import Dependencies, build_dependencies
from mudra.settings.settings import Settings
from mudra.storage.crypto.data_encryption import DataEncryption
from mudra.storage.crypto.encryption_keys import load_data_encryption
from mudra.storage.database.embedded.server import embedded_server
from mudra.storage.database.transaction import Transaction

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

        async def act(tx: Transaction) -> None:
            for _ in range(count):
                await AuditLog(tx).append(
                    AuditEntry(EventName.ENTITY_SECRET_READ, Caller("user:asha"), "KAVERI-FIP")
                )

        self.at("a", act)

    def issue(self, count: int) -> None:
        """Append so many issued tokens, alternately of two entities, packed into one block."""

        async def append(tx: Transaction) -> None:
            for number in range(count):
                entity_id = ("KAVERI-FIP", "SETU-AA")[number % 2]
                caller = Caller(f"entity:{entity_id}", "192.0.2.7", f"txn-{number}")
                detail = {"version": 1, "count": 1, "jtis": f"jti-{number}"}
                await AuditLog(tx).append(
                    AuditEntry(EventName.ENTITY_TOKEN_ISSUE, caller, entity_id, detail=detail)
                )

        self.at("a", append)

    def pack(self, *, days_ago: int = 0) -> int:
        """Pack what waits, as the job does some minutes later."""

        async def act(tx: Transaction) -> int:
            later = await tx.service(AuditChain).ledger.now() + timedelta(minutes=6)
            return await pack_next(tx.service(AuditChain).token_issues, AuditLog(tx), later)

        packed = self.at("a", act)
        self.sql(
            f"UPDATE audit_event SET at = at - interval '{days_ago} days'"
            " WHERE event = 'audit:tokens:pack' AND seq = (SELECT max(seq) FROM audit_event)"
        )
        return packed

    def drop(self, days: int) -> int:
        """Drop blocks of which all tokens are older, as the job does."""

        async def act(tx: Transaction) -> int:
            chain, now = tx.service(AuditChain), await tx.service(AuditChain).ledger.now()
            kept = timedelta(days=days)
            return await drop_over_age(chain.token_issues, AuditLog(tx), kept, now)

        return self.at("a", act)

    def archive(self, folder: Path, days_old: int = 0) -> object:
        """Archive what is so old on node A."""

        async def act(tx: Transaction) -> object:
            before = await tx.service(AuditChain).ledger.now() - timedelta(days=days_old)
            files = ArchiveFiles(folder, self.encryption)
            caller = Caller("operator:rao")
            return await archive_next(tx.service(AuditChain), AuditLog(tx), caller, files, before)

        return self.at("a", act)

    def check_archives(self, folder: Path) -> object:
        """Verify the archives on node B."""

        async def act(tx: Transaction) -> object:
            return await check_archives(
                tx.service(AuditChain), ArchiveFiles(folder, self.encryption)
            )

        return self.at("b", act)

    def drop_archived(self, *, days: int) -> int:
        """Drop archived rows that are older, as the job does."""

        async def act(tx: Transaction) -> int:
            chain, now = tx.service(AuditChain), await tx.service(AuditChain).ledger.now()
            return await drop_archived(chain, AuditLog(tx), timedelta(days=days), now)

        return self.at("a", act)

    def seal(self, *, copied: bool = True, days_ago: int = 0) -> None:
        """Let node A seal what there is, with a checkpoint at the end; both nodes copy it."""
        ago = timedelta(days=days_ago)
        while self.at("a", lambda tx: seal_as_the_job_does(tx, ago)):
            pass
        self.at("a", lambda tx: _checkpoint(tx, ago))
        if copied:
            self.copy()

    def copy(self) -> list[bool]:
        """Let both nodes copy checkpoints to their second places."""
        return [self.at(node, lambda tx: copy_checkpoints(tx.service(AuditChain))) for node in "ab"]

    def verdicts(self, *tampering: str) -> list[AuditVerdict]:
        """Verify on both nodes, after statements that are rolled back at the end."""
        return [self.tampered(node, tampering) for node in "ab"]

    def confirm(self) -> object:
        """Confirm a restore on node A."""

        async def act(tx: Transaction) -> object:
            now = await tx.service(AuditChain).ledger.now()
            return await confirm_restore(
                tx.service(AuditChain), AuditLog(tx), Caller("operator:rao"), now
            )

        return self.at("a", act)

    def at(self, node: str, act: Callable[[Transaction], Awaitable[T]]) -> T:
        """Act in one transaction of a node."""

        async def run() -> T:
            async with self._nodes[node].transaction(within_s=60) as tx:
                return await act(tx)

        return self._loop.run_until_complete(run())

    def rows_read(self, act: Callable[[Transaction], Awaitable[object]]) -> int:
        """Act in one transaction of node A; count the rows of the audit that it reads."""

        async def run() -> int:
            dependencies = self._nodes["a"]
            async with dependencies.database.transaction(within_s=60) as transaction:
                before = await transaction.connection.scalar(_ROWS_READ)
                await act(transaction)
                return int(await transaction.connection.scalar(_ROWS_READ)) - int(before)

        return self._loop.run_until_complete(run())

    def tampered(self, node: str, statements: Sequence[str]) -> AuditVerdict:
        """Verify in a transaction that has just run these statements, and roll it back."""

        async def run() -> AuditVerdict:
            dependencies = self._nodes[node]
            async with dependencies.database.transaction(within_s=60) as transaction:
                for statement in statements:
                    await transaction.connection.exec_driver_sql(statement)
                chain, log = transaction.service(AuditChain), AuditLog(transaction)
                found = await verify_audit(chain, log, Caller("operator:rao"))
                await transaction.connection.rollback()
            return found

        return self._loop.run_until_complete(run())


async def seal_as_the_job_does(tx: Transaction, ago: timedelta = timedelta()) -> int:
    """Seal one batch, as if so long ago."""
    now = await tx.service(AuditChain).ledger.now()
    return await seal_next(tx.service(AuditChain), AuditLog(tx), now - ago)


async def _checkpoint(tx: Transaction, ago: timedelta) -> None:
    head, last = (
        await tx.service(AuditChain).ledger.head(),
        await tx.service(AuditChain).checkpoints.last(),
    )
    if head.count > last.count:
        epochs = await tx.service(AuditChain).ledger.epochs()
        checkpoint = type(head)(head.count, head.head, head.at - ago, epochs[-1].number)
        await tx.service(AuditChain).checkpoints.add(checkpoint)


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
