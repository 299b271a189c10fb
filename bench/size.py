"""The cost of one member, email, token, reset, push and window in bytes and CPU.

    python -m bench.size

Each kind of work runs through its use case over the embedded PostgreSQL, without HTTP. Printed
are bytes that stay (tables and indexes, after VACUUM), bytes of write-ahead log, and CPU of our
code and of PostgreSQL. The disk of whole networks is computed from these figures
(`bench/nation.py`): the table of docs/explanation/scale.md.
"""

import asyncio
import random
import time
import uuid
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from typing import NamedTuple

import psycopg

from bench.nation import Bytes, print_nation
from bench.sizes import SHORT, sized
from bench.support import cpu_of_tree, data_directory, postmaster, scratch
from mudra.audit.audit_chain import AuditChain
from mudra.audit.audit_log_store import AuditLog
from mudra.audit.event import Caller
from mudra.audit.packing import pack_next
from mudra.audit.proof.sealing import seal_next
from mudra.bootstrap.dependencies import Dependencies, build_dependencies
from mudra.bootstrap.node.serve import open_store
from mudra.demo.traffic import Traffic
from mudra.identity.accounts.people_store import People
from mudra.identity.memberships.onboard import NewMember, Onboarded, onboard_member
from mudra.identity.operators.person_rule import owner
from mudra.jobs.metrics_jobs import refresh_rollups
from mudra.metrics.payload.catalogue import WINDOW, window_start
from mudra.metrics.payload.push_report import PushService, Received
from mudra.metrics.payload.report import encode_report
from mudra.metrics.payload.validation import CheckedReport, check_report
from mudra.metrics.sums.block_bytes import decoded
from mudra.metrics.sums.cells import Names
from mudra.settings.settings import Settings
from mudra.storage.database.schema.roles import OWNER, as_role
from mudra.storage.metrics.stored_report import storable
from mudra.tokens.issuing.issue_log_store import BatchedIssueLog
from mudra.tokens.secrets.secret_service import ResetCommand, SecretService

MEMBERS = sized(600, 6)
TOKENS = sized(60_000, 50)
BATCH = 25
"""Tokens of one half second, at some 50 a second."""
RESETS = sized(300, 3)
FIPS = sized(200, 3)
WINDOWS = sized(72, 3)
BUSIEST = 300
"""FI requests of a pair in the busiest window: what the service takes for plausible at once."""
OPERATOR = Caller("operator:bench", "192.0.2.1")
_SIZES = (
    "SELECT coalesce(p.relname, c.relname), sum(pg_total_relation_size(c.oid))::bigint"
    " FROM pg_class c LEFT JOIN pg_inherits i ON i.inhrelid = c.oid"
    " LEFT JOIN pg_class p ON p.oid = i.inhparent"
    " WHERE c.relkind = 'r' AND c.relnamespace = current_schema()::regnamespace GROUP BY 1"
)
_BIG = 0.02
"""Tables with a smaller share of the bytes are not named."""


class Cost(NamedTuple):
    """The measured cost of one thing, done so many times."""

    times: int
    tables: dict[str, int]
    log: int
    own_s: float
    database_s: float

    def each(self, *tables: str) -> float:
        """Bytes that stay of one, in these tables or in all."""
        return sum(self.tables.get(name, 0) for name in tables or self.tables) / self.times


class Bench:
    """A database and the storage of a process over it."""

    def __init__(self, dependencies: Dependencies, conninfo: str, server: int) -> None:
        self.dependencies = dependencies
        self._conninfo = conninfo
        self._server = server

    async def measure(self, name: str, times: int, act: Callable[[], Awaitable[None]]) -> Cost:
        """Measure and print what `act` leaves, which does one thing so many times."""
        sizes, log = self._sizes(), self._log()
        own, there = time.process_time(), cpu_of_tree(self._server)
        await act()
        own, there = time.process_time() - own, cpu_of_tree(self._server) - there
        written = self._log() - log
        grown = {t: n - sizes.get(t, 0) for t, n in self._sizes().items() if n > sizes.get(t, 0)}
        cost = Cost(times, grown, written, own, there)
        total = cost.each()
        print(
            f"{name}: {total:,.0f} bytes kept, {written / times:,.0f} of log; CPU "
            f"{own / times * 1000:.2f} ms ours, {there / times * 1000:.2f} ms PostgreSQL"
        )
        named = sorted(((n / times, table) for table, n in grown.items()), reverse=True)
        print("    " + ", ".join(f"{t} {n:,.0f}" for n, t in named if n >= _BIG * total))
        return cost

    def rows(self, table: str) -> int:
        """Count the rows of a table."""
        with psycopg.connect(self._conninfo) as connection:
            found = connection.execute(f"SELECT count(*) FROM {table}".encode()).fetchone()
        return int(found[0]) if found else 0

    def cells(self, grain: str) -> int:
        """Count the cells of a grain, those for the matrix left out."""
        with psycopg.connect(self._conninfo) as connection:
            found = connection.execute(
                "SELECT numbers FROM metrics_block WHERE grain = %s AND tag IN ('req', 'not')",
                [grain],
            )
            return sum(len(decoded(numbers, None, Names(), 0, 0)) for (numbers,) in found)

    def _sizes(self) -> dict[str, int]:
        with psycopg.connect(self._conninfo, autocommit=True) as connection:
            if not SHORT:
                connection.execute("VACUUM")
            return dict(connection.execute(_SIZES).fetchall())

    def _log(self) -> int:
        with psycopg.connect(self._conninfo) as connection:
            found = connection.execute("SELECT pg_current_wal_lsn() - '0/0'::pg_lsn").fetchone()
        return int(found[0]) if found else 0

    async def onboard(self) -> None:
        """Onboard the members, each with an admin who gets an email."""
        for number in range(MEMBERS):
            kind = "AA" if not number else "FIP" if number <= FIPS else "FIU"
            new = NewMember(f"BENCH-{number:04}", kind, f"Bench {number}", f"a{number}@b.example")
            async with self.dependencies.transaction() as tx:
                assert isinstance(await onboard_member(tx, new, owner(OPERATOR)), Onboarded)
        await self.seal()

    async def issue(self) -> None:
        """Issue tokens in batches, pack and seal them."""
        for start in range(0, TOKENS, BATCH):
            log = BatchedIssueLog(self.dependencies.database)
            for number in range(start, start + BATCH):
                log.issued(
                    *(f"BENCH-{number % MEMBERS:04}", f"192.0.2.{number % 200}"),
                    str(uuid.uuid4()),
                    version=1,
                    in_grace=False,
                    jti=str(uuid.uuid4()),
                )
            await log.stop()
            if start % 1000 == 0:
                await self.pack()
        await self.pack()
        await self.seal()

    async def pack(self) -> None:
        """Pack what is due, as the job does some minutes later."""
        async with self.dependencies.database.transaction() as transaction:
            chain = transaction.service(AuditChain)
            log = AuditLog(transaction)
            later = await transaction.now() + timedelta(minutes=6)
            await pack_next(chain.token_issues, log, later)

    async def seal(self) -> None:
        """Seal all there is."""
        sealed = 1
        while sealed:
            async with self.dependencies.database.transaction(within_s=60) as transaction:
                chain = transaction.service(AuditChain)
                log = AuditLog(transaction)
                sealed = await seal_next(chain, log, await transaction.now())

    async def reset(self) -> None:
        """Reset the secret of members, once each."""
        for number in range(RESETS):
            async with self.dependencies.transaction() as tx:
                user = await People(tx).by_username(f"a{number}@b.example")
                assert user is not None
                command = ResetCommand(f"BENCH-{number:04}", 180, 7)
                caller = Caller(f"user:{user.user_id}", "192.0.2.1", str(uuid.uuid4()))
                await tx.service(SecretService).reset(command, user, caller)
        await self.seal()

    async def push(self) -> None:
        """Push both payloads of every window of one AA."""
        traffic = Traffic([f"BENCH-{n:04}" for n in range(1, FIPS + 1)], BUSIEST)
        last, dice = window_start(self._yesterday()), random.Random(1)
        for place in range(WINDOWS):
            window = last - place * WINDOW
            for make in (traffic.requests, traffic.notifications):
                body = encode_report(make("BENCH-0000", window, str(uuid.uuid4()), dice))
                checked = check_report(body, window + 2 * WINDOW)
                assert isinstance(checked, CheckedReport), checked
                async with self.dependencies.transaction(within_s=30) as tx:
                    caller = Caller("entity:BENCH-0000", "192.0.2.1", checked.txn_id)
                    found = await tx.service(PushService).receive(
                        storable(checked), str(uuid.uuid4()), caller
                    )
                    assert isinstance(found, Received), found
        await self.seal()

    async def roll_up(self) -> None:
        """Make the sums of hours and days that the pushes asked for."""
        await refresh_rollups(self.dependencies.metrics_maintenance)

    def _yesterday(self) -> datetime:
        noon = self.dependencies.clock().replace(hour=12, minute=0, second=0, microsecond=0)
        return noon - timedelta(days=1)


def main() -> None:
    """Measure each kind of work, and print what follows for a national network."""
    with scratch() as folder:
        data_dir = data_directory(folder)
        settings = Settings(data_dir=data_dir)
        with open_store(settings, create=True) as (conninfo, encryption):
            dependencies = build_dependencies(settings, conninfo, encryption)
            bench = Bench(dependencies, as_role(conninfo, OWNER), postmaster(data_dir))
            print_nation(asyncio.run(measured(bench)))


async def measured(bench: Bench) -> Bytes:
    """Run everything; returns the bytes of each."""
    member = await bench.measure("a member", MEMBERS, bench.onboard)
    emails = bench.rows("mail_outbox")
    print(f"    of which an email: {member.tables['mail_outbox'] / emails:,.0f}")
    token = await bench.measure("a token", TOKENS, bench.issue)
    reset = await bench.measure("a reset", RESETS, bench.reset)
    push = await bench.measure("a push", 2 * WINDOWS, bench.push)
    cells = bench.cells("window")
    each = push.tables["metrics_block_window"] / cells
    print(f"    {cells / WINDOWS / FIPS:.1f} cells a FIP and window, {each:.1f} each")
    sums = await bench.measure("sums of a window", WINDOWS, bench.roll_up)
    hours, days = bench.cells("hour"), bench.cells("day")
    await bench.dependencies.invalidation.stop()
    await bench.dependencies.database.close()
    audit = ("audit_event", "audit_seal")
    return Bytes(
        member=member.each(),
        mail=member.tables["mail_outbox"] / emails,
        token=token.each("audit_token_block", *audit),
        token_log=token.log / TOKENS,
        reset=reset.each(),
        raw=each,
        push=push.each() - push.each("metrics_block_window"),
        push_log=push.log / cells,
        hour=sums.tables["metrics_block_hour"] / hours,
        day=sums.tables["metrics_block_day"] / days,
    )


if __name__ == "__main__":
    main()
