"""Opens the agent's file, and saves what can be saved when the disk damaged it.

A damaged file never blocks a start (quality G1): every row that can still be
read goes into a new file, the damaged one is kept beside it, and what could
not be read is counted.
"""

import contextlib
import shutil
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_WAL: Final = ("-wal", "-shm")
_FIRST_PAGE: Final = 16_384
_PROBE: Final = 1_024


@dataclass(frozen=True, slots=True)
class Table:
    """The statements by which one table is read out of a damaged file and written anew."""

    name: str
    upward: str
    downward: str
    one: str
    insert: str


@dataclass(frozen=True, slots=True)
class Salvaged:
    """What a start had to do."""

    rows: int = 0
    lost: int = 0
    """Rows that are known to have been there and could not be read; at least 1 after damage."""
    kept_at: Path | None = None
    """Where the damaged file lies; None when there was no damage."""


def open_or_salvage(
    path: Path, schema: str, tables: Sequence[Table]
) -> tuple[sqlite3.Connection, Salvaged]:
    """Open the file, made anew when it is missing, rebuilt from its readable rows when damaged."""
    try:
        db = _open(path)
        known = {name for (name,) in db.execute("SELECT name FROM sqlite_master")}
        if not known:
            db.executescript(schema)
        if not known or (
            known.issuperset(table.name for table in tables)
            and db.execute("PRAGMA quick_check").fetchone()[0] == "ok"
        ):
            return db, Salvaged()
        db.close()
    except sqlite3.DatabaseError as error:
        if isinstance(error, sqlite3.OperationalError) and "malformed" not in str(error):
            raise  # no room, no right, locked: not damage
    return _salvage(path, schema, tables)


def _open(path: Path) -> sqlite3.Connection:
    db = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=5)
    db.execute("PRAGMA page_size = 16384")
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("PRAGMA synchronous = FULL")
    db.execute("PRAGMA journal_size_limit = 67108864")
    return db


def _salvage(
    path: Path, schema: str, tables: Sequence[Table]
) -> tuple[sqlite3.Connection, Salvaged]:
    """Build a new file beside the damaged one and put it in its place when it is complete."""
    kept = _copied_aside(path)
    new = path.with_suffix(".new")
    _remove(new)
    db = _open(new)
    db.executescript(schema)
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    # What cannot be read as it is may be readable with a first page that fits
    # (it is the same in every file of this schema) and with the last page made whole.
    patched = _patched(new, kept)
    rows = lost = 0
    db.execute("BEGIN")
    for source in (kept, patched):
        copied, lost = _copy_rows(source, db, tables)
        rows += copied
    db.execute("COMMIT")
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    db.close()
    _remove(patched)
    for suffix in _WAL:
        Path(f"{path}{suffix}").unlink(missing_ok=True)
    new.replace(path)
    return _open(path), Salvaged(rows, lost, kept)


def _remove(path: Path) -> None:
    for suffix in ("", *_WAL):
        Path(f"{path}{suffix}").unlink(missing_ok=True)


def _copied_aside(path: Path) -> Path:
    number = 1
    while (kept := path.with_name(f"{path.name}.damaged-{number}")).exists():
        number += 1
    for suffix in ("", "-wal"):
        with contextlib.suppress(FileNotFoundError):
            shutil.copyfile(f"{path}{suffix}", f"{kept}{suffix}")
    return kept


def _patched(template: Path, damaged: Path) -> Path:
    patched = damaged.with_name("agent.patched")
    empty = template.read_bytes()
    first = bytearray(empty[:_FIRST_PAGE])
    body = damaged.read_bytes()[_FIRST_PAGE:]
    body += bytes(-len(body) % _FIRST_PAGE)
    body += empty[_FIRST_PAGE + len(body) :]  # every table needs its first page
    pages = 1 + len(body) // _FIRST_PAGE
    first[28:32] = pages.to_bytes(4, "big")  # the header's own count of pages
    first[32:40] = bytes(8)  # no free pages: nobody will write into this copy
    patched.write_bytes(bytes(first) + body)
    return patched


def _copy_rows(
    source: Path, target: sqlite3.Connection, tables: Sequence[Table]
) -> tuple[int, int]:
    copied = lost = 0
    damaged = sqlite3.connect(source, isolation_level=None)
    try:
        damaged.execute("PRAGMA cell_size_check = ON")
        for table in tables:
            rows, failed = _readable(damaged, table)
            lost += failed
            for row in rows:
                with contextlib.suppress(sqlite3.IntegrityError):
                    target.execute(table.insert, row)
                    copied += 1
    except sqlite3.DatabaseError:
        lost += 1
    finally:
        damaged.close()
    return copied, max(lost, 1)


def _readable(db: sqlite3.Connection, table: Table) -> tuple[list[tuple[object, ...]], int]:
    """Every row that can be read from either end or by its number; 1 when some could not."""
    found: dict[object, tuple[object, ...]] = {}
    failed = 0
    for statement in (table.upward, table.downward):
        cursor = db.cursor()
        try:
            cursor.execute(statement)
            for row in _rows(cursor):
                found[row[0]] = row[1:]
        except sqlite3.DatabaseError:
            failed = 1
    if failed:
        for number in _between(found):
            with contextlib.suppress(sqlite3.DatabaseError):
                row = db.execute(table.one, (number,)).fetchone()
                if row is not None:
                    found[row[0]] = row[1:]
    return list(found.values()), failed


def _rows(cursor: sqlite3.Cursor) -> Iterator[tuple[object, ...]]:
    while (row := cursor.fetchone()) is not None:
        yield row


def _between(found: dict[object, tuple[object, ...]]) -> range:
    """Row numbers worth trying one by one."""
    numbers = [number for number in found if isinstance(number, int)]
    low, high = min(numbers, default=1), max(numbers, default=_PROBE)
    return range(max(low - _PROBE, 1), min(high, low + 64 * _PROBE) + _PROBE)
