"""What the agent keeps on disk: one SQLite file, each commit on the disk before it counts.

- `record`: payloads that wait to be delivered, each with its checksum;
- `journal`: events since the last snapshot, so that kill -9 loses none that was acknowledged;
- `snapshot`: the counter as it stood at some journal entry;
- `closed`: the ledger of windows;
- `fact`: what `agent status` tells and a restart must remember.

ClosedWindow a window is one transaction: payloads in, ledger entry in, snapshot
anew, journal emptied. So a crash finds the window open or closed, never both.
"""

import fcntl
import json
import sqlite3
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import zstandard

from mudra.agent.clock import DAY
from mudra.agent.counting.payload import Payload
from mudra.agent.counting.window import WINDOW
from mudra.agent.spool.record_format import Header, framed, frames_in, unframed
from mudra.agent.spool.salvage import Table, open_or_salvage

MAX_AGE: Final = 7 * DAY
MAX_BYTES: Final = 1 << 30
FILE_NAME: Final = "agent.db"

SCHEMA: Final = """
BEGIN;
CREATE TABLE record (
    id INTEGER PRIMARY KEY, window INTEGER NOT NULL, tag TEXT NOT NULL, txn_id TEXT NOT NULL,
    due INTEGER NOT NULL, size INTEGER NOT NULL, body BLOB NOT NULL);
CREATE TABLE journal (seq INTEGER PRIMARY KEY, crc INTEGER NOT NULL, body BLOB NOT NULL);
CREATE TABLE snapshot (
    slot INTEGER PRIMARY KEY, seq INTEGER NOT NULL, crc INTEGER NOT NULL, body BLOB NOT NULL);
CREATE TABLE closed (window INTEGER PRIMARY KEY);
CREATE TABLE fact (name TEXT PRIMARY KEY, value TEXT NOT NULL);
PRAGMA user_version = 1;
COMMIT;
"""
TABLES: Final = (
    Table(
        "record",
        "SELECT rowid, * FROM record ORDER BY rowid",
        "SELECT rowid, * FROM record ORDER BY rowid DESC",
        "SELECT rowid, * FROM record WHERE rowid = ?",
        "INSERT INTO record VALUES (?, ?, ?, ?, ?, ?, ?)",
    ),
    Table(
        "journal",
        "SELECT rowid, * FROM journal ORDER BY rowid",
        "SELECT rowid, * FROM journal ORDER BY rowid DESC",
        "SELECT rowid, * FROM journal WHERE rowid = ?",
        "INSERT INTO journal VALUES (?, ?, ?)",
    ),
    Table(
        "snapshot",
        "SELECT rowid, * FROM snapshot ORDER BY rowid",
        "SELECT rowid, * FROM snapshot ORDER BY rowid DESC",
        "SELECT rowid, * FROM snapshot WHERE rowid = ?",
        "INSERT INTO snapshot VALUES (?, ?, ?, ?)",
    ),
    Table(
        "closed",
        "SELECT rowid, * FROM closed ORDER BY rowid",
        "SELECT rowid, * FROM closed ORDER BY rowid DESC",
        "SELECT rowid, * FROM closed WHERE rowid = ?",
        "INSERT INTO closed VALUES (?)",
    ),
    Table(
        "fact",
        "SELECT rowid, * FROM fact ORDER BY rowid",
        "SELECT rowid, * FROM fact ORDER BY rowid DESC",
        "SELECT rowid, * FROM fact WHERE rowid = ?",
        "INSERT INTO fact VALUES (?, ?)",
    ),
)


@dataclass(frozen=True, slots=True)
class ClosedWindow:
    """A window that is closed in memory and not yet on disk."""

    start: int
    made: list[Payload]
    due: int


@dataclass(frozen=True, slots=True)
class QueuedPayload:
    """A payload that waits, without its body."""

    id: int
    window: int
    tag: str
    txn_id: str
    due: int
    """Wall time before which it is not sent."""


@dataclass(frozen=True, slots=True)
class Backlog:
    """How much waits."""

    records: int
    bytes: int
    oldest: int | None
    """Start of the oldest window."""


@dataclass(frozen=True, slots=True)
class Recovered:
    """What a start found: the last snapshot and the journal after it."""

    snapshot: bytes | None
    journal: Sequence[bytes]
    seq: int
    closed: Sequence[int]


class SpoolInUse(OSError):
    """Another agent has this directory."""


class Spool:
    """The agent's disk. Used by one thread at a time; `recorder.py` sees to that."""

    def __init__(self, directory: Path) -> None:
        directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        self.path = directory / FILE_NAME
        self._lock = (directory / "agent.lock").open("w")
        # Two agents on one spool would each close the windows with half of the calls.
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self._lock.close()
            raise SpoolInUse(f"another agent holds {directory}; stop that one first") from None
        self._db, self.salvaged = open_or_salvage(self.path, SCHEMA, TABLES)
        self._packer = zstandard.ZstdCompressor(level=3)
        self._unpacker = zstandard.ZstdDecompressor()

    def close(self) -> None:
        """Let go of the file."""
        self._db.close()
        self._lock.close()

    def recover(self) -> Recovered:
        """The state to start from. Records with a wrong checksum are dropped and counted."""
        self._drop_damaged()
        row = self._db.execute("SELECT seq, crc, body FROM snapshot WHERE slot = 0").fetchone()
        snapshot, since = None, 0
        if row is not None and zlib.crc32(row[2]) == row[1]:
            snapshot, since = self._unpacker.decompress(row[2]), row[0]
        elif row is not None:
            self._count("dropped_damaged", 1)
        journal, last = [], since
        for seq, crc, body in self._db.execute(
            "SELECT seq, crc, body FROM journal WHERE seq > ? ORDER BY seq", (since,)
        ).fetchall():
            last = seq
            if zlib.crc32(body) == crc:
                journal.append(body)
            else:
                self._count("dropped_damaged", 1)
        closed = [row[0] for row in self._db.execute("SELECT window FROM closed")]
        return Recovered(snapshot, journal, last, closed)

    def write_journal(self, seq: int, entry: bytes) -> None:
        """Put one entry on the disk."""
        with self._db:
            self._db.execute("BEGIN IMMEDIATE")
            self._db.execute(
                "INSERT INTO journal VALUES (?, ?, ?)", (seq, zlib.crc32(entry), entry)
            )

    def close_windows(self, closings: Iterable[ClosedWindow], seq: int, state: bytes) -> None:
        """Close windows, or none, and replace the snapshot: all of it in one transaction.

        The journal up to `seq` is in the snapshot and goes.
        """
        with self._db:
            self._db.execute("BEGIN IMMEDIATE")
            for closing in closings:
                self._close(closing)
            packed = self._packer.compress(state)
            self._db.execute(
                "INSERT OR REPLACE INTO snapshot VALUES (0, ?, ?, ?)",
                (seq, zlib.crc32(packed), packed),
            )
            self._db.execute("DELETE FROM journal WHERE seq <= ?", (seq,))

    def _close(self, closing: ClosedWindow) -> None:
        for payload in closing.made:
            header = Header(payload.window, payload.tag.value, payload.txn_id, closing.due)
            self._add(header, framed(header, self._packer.compress(payload.body)))
        self._db.execute("INSERT OR IGNORE INTO closed VALUES (?)", (closing.start,))
        self._db.execute(
            "DELETE FROM closed WHERE window < (SELECT max(window) FROM closed) - ?", (MAX_AGE,)
        )
        self._remember("last_window", closing.start)

    def _add(self, header: Header, record: bytes) -> None:
        self._db.execute(
            "INSERT INTO record (window, tag, txn_id, due, size, body) VALUES (?, ?, ?, ?, ?, ?)",
            (header.window, header.tag, header.txn_id, header.due, len(record), record),
        )

    def queued(self) -> list[QueuedPayload]:
        """All that waits, oldest window first."""
        rows = self._db.execute(
            "SELECT id, window, tag, txn_id, due FROM record ORDER BY window, id"
        )
        return [QueuedPayload(*row) for row in rows]

    def body(self, queued: QueuedPayload) -> bytes | None:
        """The payload itself; None when it is damaged, and then it is dropped and counted."""
        row = self._db.execute("SELECT body FROM record WHERE id = ?", (queued.id,)).fetchone()
        found = None if row is None else unframed(row[0])
        if found is not None:
            return self._unpacker.decompress(found[1])
        with self._db:
            self._db.execute("DELETE FROM record WHERE id = ?", (queued.id,))
            self._count("dropped_damaged", 1)
        return None

    def done(self, queued: QueuedPayload, facts: dict[str, object], count: str) -> None:
        """The payload is delivered or buried: it goes, and what is to be told stays."""
        with self._db:
            self._db.execute("BEGIN IMMEDIATE")
            self._db.execute("DELETE FROM record WHERE id = ?", (queued.id,))
            for name, value in facts.items():
                self._remember(name, value)
            self._count(count, 1)

    def put_back(self, queued: QueuedPayload, body: bytes) -> None:
        """Let a payload wait anew, unless it does already."""
        header = Header(queued.window, queued.tag, queued.txn_id, queued.due)
        with self._db:
            self._db.execute("BEGIN IMMEDIATE")
            self._db.execute("DELETE FROM record WHERE txn_id = ?", (queued.txn_id,))
            self._add(header, framed(header, self._packer.compress(body)))

    def enforce(self, now: int, most_bytes: int = MAX_BYTES) -> int:
        """Keep 7 days and 1 GiB at most, oldest out first; how many records went."""
        sizes = self._db.execute(
            "SELECT id, window, size FROM record ORDER BY window DESC, id DESC"
        )
        total, out = 0, []
        for record, window, size in sizes.fetchall():
            total += size
            if total > most_bytes or window + WINDOW < now - MAX_AGE:
                out.append((record,))
        if out:
            with self._db:
                self._db.executemany("DELETE FROM record WHERE id = ?", out)
                self._count("dropped_full", len(out))
        return len(out)

    def backlog(self) -> Backlog:
        """How much waits."""
        row = self._db.execute("SELECT count(*), total(size), min(window) FROM record").fetchone()
        return Backlog(row[0], int(row[1]), row[2])

    def fact(self, name: str, default: object = None) -> object:
        """What was remembered under this name."""
        row = self._db.execute("SELECT value FROM fact WHERE name = ?", (name,)).fetchone()
        return default if row is None else json.loads(row[0])

    def facts(self) -> dict[str, object]:
        """All that is remembered."""
        return {name: json.loads(value) for name, value in self._db.execute("SELECT * FROM fact")}

    def remember(self, name: str, value: object) -> None:
        """Keep a fact over restarts."""
        with self._db:
            self._remember(name, value)

    def _remember(self, name: str, value: object) -> None:
        self._db.execute("INSERT OR REPLACE INTO fact VALUES (?, ?)", (name, json.dumps(value)))

    def _count(self, name: str, more: int) -> None:
        self._db.execute(
            "INSERT INTO fact VALUES (?, ?) ON CONFLICT (name)"
            " DO UPDATE SET value = CAST(value AS INTEGER) + excluded.value",
            (name, str(more)),
        )

    def _drop_damaged(self) -> None:
        """Compare every record with its checksum; after damage, look for lost ones in the raw file.

        A record that was delivered before may come back by that: the operator
        answers `duplicate`.
        """
        damaged: list[tuple[int]] = []
        there: set[str] = set()
        for number, window, tag, txn_id, body in self._db.execute(
            "SELECT id, window, tag, txn_id, body FROM record"
        ):
            found = unframed(body)
            if found is None or (found[0].window, found[0].tag, found[0].txn_id) != (
                window,
                tag,
                txn_id,
            ):
                damaged.append((number,))
            else:
                there.add(txn_id)
        if not damaged and self.salvaged.kept_at is None:
            return
        with self._db:
            self._db.execute("BEGIN IMMEDIATE")
            self._db.executemany("DELETE FROM record WHERE id = ?", damaged)
            if self.salvaged.kept_at is not None:
                for header, record in frames_in(self.salvaged.kept_at.read_bytes()):
                    if header.txn_id not in there:
                        there.add(header.txn_id)
                        self._add(header, record)
            self._count("dropped_damaged", len(damaged) + self.salvaged.lost)


def read_only(directory: Path) -> sqlite3.Connection:
    """Look into a spool that a running agent may hold; for `agent status`."""
    return sqlite3.connect(f"file:{directory / FILE_NAME}?mode=ro", uri=True, timeout=2)
