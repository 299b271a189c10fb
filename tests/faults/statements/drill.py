"""Act on a service with a fault at each exchange with its database, until none is left to fail."""

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final
from zlib import crc32

import httpx2
import psycopg
from psycopg import sql
from structlog.testing import capture_logs
from tests.faults.statements.exchanges import Fault, fault_at
from tests.support.depth import DEEP
from tests.support.in_process import InProcess

MOST: Final = 200
FIRST: Final = 1 if DEEP else 12
"""The distance between two exchanges of a call that fail."""
AGAIN: Final = 3 if DEEP else 40
"""The same of a call that was drilled before, with other content."""
AUDITED_LATER: Final = {
    *("audit_token_issue", "audit_anonymous", "link_request"),
    *("registry_probe", "webhook_message"),
}
"""What is the audit itself, and wishes that a job carries out: it writes the audit row then."""
KEEPS_COMMITS: Final = "track_commit_timestamp = on\n"
"""A setting of the server: it says which transaction was committed last."""
OF_NODES: Final = ("node", "job_run", "procrastinate", "service_fact")
"""Tables of what no act writes: nodes and jobs say that they live."""
OF_A_PROOF: Final = {"audit_event", "console_session", "sign_in_success"}
Rows = dict[str, tuple[int, int]]


@dataclass
class Drilled:
    """What an act did while its exchanges failed one after the other."""

    exchanges: int = 0
    problems: list[str] = field(default_factory=list)
    events: set[str] = field(default_factory=set)


@dataclass
class Drill:
    """A service in this process, a look into its database, and the acts that were drilled."""

    served: InProcess
    store: psycopg.Connection[Any]
    acts: dict[str, Drilled] = field(default_factory=dict)
    _rows: Rows = field(default_factory=dict)
    _as_of: str = ""

    def __post_init__(self) -> None:
        tables = self.store.execute(
            "SELECT c.oid::regclass::text FROM pg_class c JOIN pg_namespace n"
            " ON n.oid = relnamespace WHERE relkind IN ('r', 'p') AND NOT relispartition"
            " AND nspname NOT IN ('pg_catalog', 'information_schema') ORDER BY 1"
        ).fetchall()
        known = [name for (name,) in tables if not name.startswith(OF_NODES)]
        self._contents = _of_each(known, self.store)
        # To start processes for a hundred small tables takes longer than to read them.
        self.store.execute("SET max_parallel_workers_per_gather = 0")

    def rows(self) -> Rows:
        """Return number and content of the rows of each table; read again after a commit only."""
        committed = self._last_commit()
        if committed != self._as_of:
            found = self.store.execute(self._contents)
            self._rows = {name: (n, hashed) for name, n, hashed in found}
            self._as_of = committed
        return self._rows

    def _last_commit(self) -> str:
        """Return the latest transaction that wrote and was committed: none since, none is there.

        It is read in a hundredth of the time that the contents of all tables take.
        """
        row = self.store.execute("SELECT xid::text FROM pg_last_committed_xact()").fetchone()
        assert row is not None
        assert row[0], "the server keeps no times of commits: KEEPS_COMMITS"
        return str(row[0])

    def __call__(
        self,
        name: str,
        request: Callable[[], httpx2.Response],
        *,
        proof: bool = False,
        refused: int = 0,
    ) -> httpx2.Response:
        """Repeat a request, each time with a fault one exchange later, until it succeeds.

        An act may be one that is refused, with this status. With `proof` a first transaction
        proves who asks, which is an act of its own.
        """
        step = AGAIN if name in self.acts else FIRST
        # Each call begins at another: the first exchanges of all are alike, they find out who asks.
        first = 1 + crc32(name.encode()) % step
        drilled = self.acts.setdefault(name, Drilled())
        before, last = self.rows(), self._last_event()
        kept = OF_A_PROOF if proof else set()
        # Of an error that says nothing about the database as a whole: a defect of ours.
        faults = itertools.chain(
            [Fault(1, psycopg.errors.DivisionByZero)], map(Fault, range(first, MOST, step))
        )
        for fault in faults:
            with fault_at(fault), capture_logs() as logs:
                answer = request()
            if not fault.happened:
                break
            drilled.exchanges += 1
            drilled.problems += failures(fault, answer, logs)
            former, before = before, self.rows()
            half = _changed(former, before)
            if not half <= kept:
                drilled.problems.append(f"left behind in {sorted(half)} by {fault}")
            if answer.status_code < httpx2.codes.BAD_REQUEST:
                return answer
        if answer.status_code != refused and (refused or answer.status_code >= 400):
            drilled.problems.append(f"done again: {answer.status_code} {answer.text[:300]}")
        self._note_what_was_done(drilled, before, last)
        return answer

    def _note_what_was_done(self, drilled: Drilled, before: Rows, last: int) -> None:
        changed = _changed(before, self.rows())
        events = self.store.execute("SELECT event FROM audit_event WHERE seq > %s", [last])
        found = {event for (event,) in events}
        drilled.events |= found
        if changed and not found and not changed & AUDITED_LATER:
            drilled.problems.append(f"no audit row of a change in {sorted(changed)}")

    def _last_event(self) -> int:
        row = self.store.execute("SELECT coalesce(max(seq), 0) FROM audit_event").fetchone()
        assert row is not None
        return int(row[0])


def _changed(before: Rows, after: Rows) -> set[str]:
    """The tables whose rows are others than before."""
    return {table for table in after if after[table] != before[table]}


def _of_each(tables: Sequence[str], store: psycopg.Connection[Any]) -> bytes:
    """A query for the number of rows of each table, and for the sum of what is in them."""
    one = sql.SQL("SELECT {}, count(*), coalesce(sum(hashtextextended(t::text, 0)), 0) FROM {} t")
    queries = (one.format(sql.Literal(name), sql.SQL(name)) for name in tables)
    return sql.SQL(" UNION ALL ").join(queries).as_bytes(store)


def failures(fault: Fault, answer: httpx2.Response, logs: list[Any]) -> list[str]:
    """What is wrong with the answer to an act that a fault ended, and with its log records."""
    expected = 500 if fault.error is psycopg.errors.DivisionByZero else 503
    found = []
    if answer.status_code != expected:
        found.append(f"{answer.status_code} {answer.text[:200]} for {fault}")
    if expected == httpx2.codes.SERVICE_UNAVAILABLE and "Retry-After" not in answer.headers:
        found.append(f"no Retry-After for {fault}")
    if not any(one["log_level"] in {"warning", "error"} for one in logs):
        found.append(f"no log record of {fault}")
    if expected == httpx2.codes.INTERNAL_SERVER_ERROR and not any(
        one["log_level"] == "error" and "txn_id" in one and one["txn_id"] in answer.text
        for one in logs
    ):
        found.append(f"no log record that the answer names of {fault}")
    return found
