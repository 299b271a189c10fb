"""The files of the agent on disk: payload files, and one SQLite file as their journal.

- `payloads/`: the payloads that wait for delivery;
- `journal`: events since the last snapshot, so that kill -9 loses none that was acknowledged;
- `snapshot`: the counter at some journal entry;
- `closed`: the windows that are closed;
- `kept`: the counts of the latest closed windows: late events open one again;
- `fact`: statistics that outlive a restart.

To close a window, its payload files are written first; one transaction then
marks it closed, replaces the snapshot and empties the journal. A crash between
the two finds the window open with its files there: `discard_unfinished` deletes
them, and closing the window again writes them again.
"""

import contextlib
import fcntl
import json
import os
import sqlite3
import stat
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import zstandard

from mudra.agent.clock import DAY
from mudra.agent.counting.payload import Payload
from mudra.agent.counting.window import MAX_CLOSED
from mudra.agent.spool.payload_files import Backlog, PayloadFiles, QueuedPayload, sync_folder

MAX_AGE: Final = 7 * DAY
MAX_BYTES: Final = 1 << 30
FILE_NAME: Final = "agent.db"

_VERSION: Final = 3
MAX_KEPT_BYTES: Final = 64 << 20
"""Of counts of closed windows, packed: of a week at most AAs."""
_SCHEMA: Final = f"""
BEGIN;
CREATE TABLE journal (seq INTEGER PRIMARY KEY, crc INTEGER NOT NULL, body BLOB NOT NULL);
CREATE TABLE snapshot (
    slot INTEGER PRIMARY KEY, seq INTEGER NOT NULL, crc INTEGER NOT NULL, body BLOB NOT NULL);
CREATE TABLE closed (window INTEGER PRIMARY KEY);
CREATE TABLE kept (
    window INTEGER PRIMARY KEY, revision INTEGER NOT NULL, crc INTEGER NOT NULL,
    body BLOB NOT NULL);
CREATE TABLE fact (name TEXT PRIMARY KEY, value TEXT NOT NULL);
PRAGMA user_version = {_VERSION};
COMMIT;
"""

Fact = int | str


@dataclass(frozen=True, slots=True)
class ClosedWindow:
    """A window that is closed in memory and not yet on disk."""

    start: int
    payloads: list[Payload]
    revision: int = 0
    counts: bytes = b""
    """What it is opened again from; empty for none."""


@dataclass(frozen=True, slots=True)
class Recovered:
    """The state that a start found: the last snapshot and the journal after it."""

    snapshot: bytes | None
    journal: Sequence[bytes]
    seq: int
    closed: Sequence[int]


class SpoolInUse(OSError):
    """Another agent has this directory."""


class SpoolReadable(OSError):
    """Others than the agent's user can read the spool, which holds what every call was."""


class Spool:
    """The agent's disk. Used by one thread at a time; `event_recorder.py` sees to that."""

    def __init__(self, directory: Path) -> None:
        made = [folder for folder in directory.parents if not folder.exists()]
        directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        refuse_readable(directory)
        self.path = directory / FILE_NAME
        self._lock = os.fdopen(
            os.open(directory / "agent.lock", os.O_RDWR | os.O_CREAT, 0o600), "w"
        )
        # Two agents on one spool would each close the windows with half of the calls.
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self._lock.close()
            raise SpoolInUse(f"another agent uses {directory}; stop that one first") from None
        self._files = PayloadFiles(directory)
        self.damaged_copy: Path | None = None
        """Where a damaged journal was moved; None when there was no damage."""
        self._db = self._open()
        # What is in the spool is as durable as the names on the way to it.
        for folder in (directory, directory.parent, *(folder.parent for folder in made)):
            sync_folder(folder)
        self._packer = zstandard.ZstdCompressor(level=3)
        self._unpacker = zstandard.ZstdDecompressor()

    def close(self) -> None:
        """Close the files."""
        self._db.close()
        self._lock.close()

    def recover(self) -> Recovered:
        """Return the state to start from. Damaged payloads and entries are dropped and counted."""
        for queued in self.queued():
            with contextlib.suppress(OSError):  # unreadable now, perhaps not when it is sent
                self.body(queued)
        row = self._db.execute("SELECT seq, crc, body FROM snapshot WHERE slot = 0").fetchone()
        snapshot, since = None, 0
        if row is not None and _is_intact(row[1], row[2]):
            snapshot, since = self._unpacker.decompress(row[2]), row[0]
        elif row is not None:
            self._count("dropped_damaged", 1)
        journal, last = [], since
        for seq, crc, body in self._db.execute(
            "SELECT seq, crc, body FROM journal WHERE seq > ? ORDER BY seq", (since,)
        ).fetchall():
            last = seq
            if _is_intact(crc, body):
                journal.append(body)
            else:
                self._count("dropped_damaged", 1)
        closed = [row[0] for row in self._db.execute("SELECT window FROM closed")]
        return Recovered(snapshot, journal, last, closed)

    def discard_unfinished(self, open_windows: Mapping[int, int]) -> set[int]:
        """Delete the files of the revisions that are still open; return the windows of all others.

        `open_windows` are starts and revisions. What an earlier revision says of a tag stays: the
        one that is open may change nothing of it.
        """
        for queued in self.queued():
            revision = open_windows.get(queued.window)
            if revision is not None and queued.revision >= revision:
                self._files.remove(queued)
        return {queued.window for queued in self.queued()} - open_windows.keys()

    def write_journal(self, seq: int, entry: bytes) -> None:
        """Append one entry durably. Raises sqlite3.Error."""
        with self._db:
            self._db.execute("BEGIN IMMEDIATE")
            self._db.execute(
                "INSERT INTO journal VALUES (?, ?, ?)", (seq, zlib.crc32(entry), entry)
            )

    def close_windows(
        self, closed: Iterable[ClosedWindow], seq: int, state: bytes, now: int
    ) -> None:
        """Close windows, or none, and replace the snapshot. Raises sqlite3.Error and OSError.

        The journal up to `seq` is in the snapshot and is deleted. `now` is wall time.
        """
        windows = list(closed)
        written = [self._files.write(one) for window in windows for one in window.payloads]
        with self._db:
            self._db.execute("BEGIN IMMEDIATE")
            for window in windows:
                self._db.execute("INSERT OR IGNORE INTO closed VALUES (?)", (window.start,))
                self._set_fact("last_window", window.start)
                if window.counts:
                    body = self._packer.compress(window.counts)
                    self._db.execute(
                        "INSERT OR REPLACE INTO kept VALUES (?, ?, ?, ?)",
                        (window.start, window.revision, zlib.crc32(body), body),
                    )
            self._forget_old(now)
            packed = self._packer.compress(state)
            self._db.execute(
                "INSERT OR REPLACE INTO snapshot VALUES (0, ?, ?, ?)",
                (seq, zlib.crc32(packed), packed),
            )
            self._db.execute("DELETE FROM journal WHERE seq <= ?", (seq,))
        for queued in written:
            self._files.add(queued)

    def kept_windows(self) -> dict[int, int]:
        """Return the closed windows whose counts are kept, and the packed bytes of each."""
        return dict(self._db.execute("SELECT window, length(body) FROM kept"))

    def kept(self, window: int) -> bytes | None:
        """Return the counts of a closed window; None where they are not kept, or damaged."""
        row = self._db.execute("SELECT crc, body FROM kept WHERE window = ?", (window,)).fetchone()
        if row is None or not _is_intact(row[0], row[1]):
            return None
        return self._unpacker.decompress(row[1])

    def queued(self) -> list[QueuedPayload]:
        """Return all payloads that wait for delivery, oldest window first."""
        return self._files.queued()

    def backlog(self) -> Backlog:
        """Return how much waits for delivery."""
        return self._files.backlog()

    def holds(self, queued: QueuedPayload) -> bool:
        """Return whether this payload still waits, and no later one has replaced it."""
        return self._files.holds(queued)

    def body(self, queued: QueuedPayload) -> bytes | None:
        """Return the payload; None when it is damaged, and then it is dropped and counted.

        None also when a later one has replaced it.
        """
        if not self.holds(queued):
            return None
        body = self._files.read(queued)
        if body is None:
            self._files.remove(queued)
            self._count("dropped_damaged", 1)
        return body

    def remove(self, queued: QueuedPayload, facts: Mapping[str, Fact], count: str) -> None:
        """Remove a payload that was delivered or refused, and store facts about it."""
        self._files.remove(queued)
        with self._db:
            self._db.execute("BEGIN IMMEDIATE")
            for name, value in facts.items():
                self._set_fact(name, value)
            self._count(count, 1)

    def requeue(self, payload: Payload) -> None:
        """Queue a payload again, once, unless a later one replaced it. Raises OSError."""
        latest = self._db.execute(
            "SELECT revision FROM kept WHERE window = ?", (payload.window,)
        ).fetchone()
        if latest is not None and latest[0] > payload.revision:
            return
        self._files.add(self._files.write(payload))

    def enforce_limits(self, now: int, max_bytes: int = MAX_BYTES) -> int:
        """Drop payloads over 7 days or beyond the room, oldest first; return how many.

        They are as old as the newest window says that is not in the future, which took ten minutes
        to close: neither a clock that jumps ahead for a moment nor a window that closed while it
        was ahead must cost the backlog.
        """
        total, dropped, waiting = 0, 0, self.queued()
        past = [queued.window for queued in waiting if queued.window <= now]
        newest = max([self._last_closed(now), *past])
        for queued in reversed(waiting):
            total += queued.size
            if total > max_bytes or queued.window <= newest - MAX_AGE:
                self._files.remove(queued)
                dropped += 1
        if dropped:
            self._count("dropped_full", dropped)
        return dropped

    def _last_closed(self, now: int) -> int:
        """Return the start of the newest closed window that is not in the future; 0 without any."""
        newest = self._db.execute("SELECT max(window) FROM closed WHERE window <= ?", (now,))
        return int(newest.fetchone()[0] or 0)

    def _forget_old(self, now: int) -> None:
        """Forget closed windows as `Windows.forget_old` does."""
        self._db.execute(
            "DELETE FROM closed WHERE window < (SELECT window FROM closed WHERE window <= ?"
            " ORDER BY window DESC LIMIT 1 OFFSET ?)",
            (now, MAX_CLOSED - 1),
        )
        self._db.execute(
            "DELETE FROM kept WHERE window < ? OR window IN (SELECT window FROM (SELECT window,"
            " sum(length(body)) OVER (ORDER BY window DESC) AS total FROM kept) WHERE total > ?)",
            (self._last_closed(now) - MAX_AGE, MAX_KEPT_BYTES),
        )

    def fact(self, name: str) -> Fact | None:
        """Return what was stored under this name."""
        return self.facts().get(name)

    def facts(self) -> dict[str, Fact]:
        """Return all that is stored."""
        return read_facts(self._db)

    def _set_fact(self, name: str, value: Fact) -> None:
        self._db.execute("INSERT OR REPLACE INTO fact VALUES (?, ?)", (name, json.dumps(value)))

    def _count(self, name: str, more: int) -> None:
        self._db.execute(
            "INSERT INTO fact VALUES (?, ?) ON CONFLICT (name)"
            " DO UPDATE SET value = CAST(value AS INTEGER) + excluded.value",
            (name, str(more)),
        )

    def _open(self) -> sqlite3.Connection:
        """Open the journal; a damaged one is moved aside, so that it never prevents a start."""
        try:
            db = _connect(self.path)
            if _is_usable(db):
                return db
            db.close()
        except sqlite3.DatabaseError as error:
            if isinstance(error, sqlite3.OperationalError) and "malformed" not in str(error):
                raise  # no room, no permission, locked: not damage
        self.damaged_copy = _move_aside(self.path)
        self._db = _connect(self.path)
        if not _is_usable(self._db):
            raise sqlite3.DatabaseError(f"{self.path} cannot be created")
        self._count("dropped_damaged", 1)
        return self._db


def read_facts(db: sqlite3.Connection) -> dict[str, Fact]:
    """Return the stored statistics; those that are damaged are left out."""
    facts: dict[str, Fact] = {}
    for name, value in db.execute("SELECT name, value FROM fact"):
        with contextlib.suppress(ValueError, TypeError):
            facts[name] = json.loads(value)
    return facts


def read_only(directory: Path) -> sqlite3.Connection:
    """Open the journal that a running agent may hold; for `agent status`."""
    return sqlite3.connect(f"file:{directory / FILE_NAME}?mode=ro", uri=True, timeout=2)


def refuse_readable(directory: Path) -> None:
    """Raise SpoolReadable when others may look into the directory or the file."""
    for path in (directory, directory / FILE_NAME):
        with contextlib.suppress(FileNotFoundError):
            mode = stat.S_IMODE(path.stat().st_mode)
            if mode & (stat.S_IRWXG | stat.S_IRWXO):
                raise SpoolReadable(
                    f"{path} has mode {mode:04o} and is open to others: chmod -R go= {directory}"
                )


def _connect(path: Path) -> sqlite3.Connection:
    # SQLite gives its other files the mode of this one.
    os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
    db = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=5)
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("PRAGMA synchronous = FULL")
    db.execute("PRAGMA journal_size_limit = 67108864")
    return db


def _is_usable(db: sqlite3.Connection) -> bool:
    """Create the tables of a new file; return whether the file is whole and of this version."""
    if db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0:
        db.executescript(_SCHEMA)
    version = db.execute("PRAGMA user_version").fetchone()[0]
    checked = db.execute("PRAGMA integrity_check").fetchone()[0]
    return (version, checked) == (_VERSION, "ok")


def _move_aside(path: Path) -> Path:
    number = 1
    while (copy := path.with_name(f"{path.name}.damaged-{number}")).exists():
        number += 1
    # The log first: a new file would take over the log that it finds next to it.
    for suffix in ("-wal", "-shm", ""):
        with contextlib.suppress(FileNotFoundError):
            Path(f"{path}{suffix}").replace(f"{copy}{suffix}")
    return copy


def _is_intact(crc: object, body: object) -> bool:
    return isinstance(body, bytes) and zlib.crc32(body) == crc
