"""Metrics as version 1.0.0 stored them and as blocks, each read into one plain form to compare.

`1.0.0-metrics.sql.gz` was written by the code of 1.0.0: reports by chance of three AAs (times at
every side of the limit, sizes beyond 64 bits, blocks and reports without traffic), added up, some of
them replaced, one held, and two that came after the sums.
"""

import gzip
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import psycopg

from mudra.metrics.payload.report import Block as ReportedBlock
from mudra.metrics.payload.report import NotificationBlock, RequestBlock
from mudra.metrics.sums.block_bytes import decoded
from mudra.metrics.sums.cells import POINTS, TYPES, Cells, Names
from mudra.metrics.sums.plain_recount import PlainSums, plain_recount, plain_rows

RELEASED = Path(__file__).parent / "released"
SCHEMA = RELEASED / "1.0.0.sql"
METRICS = RELEASED / "1.0.0-metrics.sql.gz"
_CELL = "window_at, aa_id, tag, fip_id, type"
_BLOCK = "counts, pxx, status, data_bytes"


class Key(NamedTuple):
    """A cell at a time; an empty AA means all together, an empty type all calls."""

    grain: str
    aa_id: str
    at: datetime
    tag: str
    fip_id: str
    type: str


Sums = Mapping[Key, PlainSums]
Block = tuple[Any, ...]
"""A row of `metrics_block`."""
Values = tuple[list[int], tuple[int, ...], list[int], int]
"""Counts, times, statuses and size of a reported block."""


def fill(url: str) -> None:
    """Make an empty database one of 1.0.0 with metrics."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(SCHEMA.read_bytes())
        connection.execute(gzip.decompress(METRICS.read_bytes()))


def reported(connection: psycopg.Connection) -> dict[Key, ReportedBlock]:
    """Read the rows of reports."""
    rows = connection.execute(f"SELECT {_CELL}, {_BLOCK} FROM metrics_raw")
    return dict(map(_reported, rows))


def replaced_reports(connection: psycopg.Connection) -> dict[tuple[int, Key], ReportedBlock]:
    """Read the rows of reports that were replaced, with their versions."""
    rows = connection.execute(f"SELECT version, {_CELL}, {_BLOCK} FROM metrics_previous")
    found = {}
    for version, *row in rows:
        key, block = _reported(row)
        found[version, key] = block
    return found


def held_reports(connection: psycopg.Connection) -> dict[Key, ReportedBlock]:
    """Read the reports that wait for a decision, as the server reads their lines."""
    lines = connection.execute("SELECT rows FROM metrics_held").fetchall()
    connection.execute("CREATE TEMPORARY TABLE lines (LIKE metrics_raw)")
    with connection.cursor().copy("COPY lines FROM STDIN") as copy:
        for (some,) in lines:
            copy.write(some)
    rows = connection.execute(f"SELECT {_CELL}, {_BLOCK} FROM lines")
    return dict(map(_reported, rows))


def new_held(connection: psycopg.Connection) -> dict[Key, Values]:
    """Read the same after the upgrade."""
    rows = connection.execute(
        "SELECT r.aa_id, r.window_at, r.tag, h.buckets FROM metrics_held h"
        " JOIN metrics_receipt r USING (aa_id, receipt_id)"
    ).fetchall()
    found: dict[Key, Values] = {}
    for aa_id, at, tag, buckets in rows:
        for bucket, numbers in msgspec.msgpack.decode(buckets):
            row = (aa_id, "window", bucket, at, None, tag, None, numbers, b"")
            found |= new_reports([row])
    return found


def values_of(block: ReportedBlock) -> Values:
    """Give what is counted of a reported block."""
    if isinstance(block, RequestBlock):
        return [*block.counts], block.pxx, [0] * 7, int(block.counted_size or 0)
    statuses = [0] * 7 if block.status is msgspec.UNSET else [*block.status]
    return [*block.counts], (0, 0, 0, 0), statuses, 0


def _reported(row: Sequence[Any]) -> tuple[Key, ReportedBlock]:
    at, aa_id, tag, fip_id, code, counts, pxx, status, size = row
    key = Key("window", aa_id, at, tag, fip_id, code)
    if pxx is None:
        ended = msgspec.UNSET if status is None else tuple(status)
        return key, NotificationBlock(code, tuple(counts), ended)
    data = msgspec.UNSET if size is None else str(int(size))
    return key, RequestBlock(code, tuple(pxx), tuple(counts), data)


def recounted(reports: Mapping[Key, ReportedBlock]) -> Sums:
    """Add reports up in plain loops: by hour and day, of each AA and of all, of pairs."""
    parts = []
    for key, block in reports.items():
        for grain in ("hour", "day"):
            at = key.at.replace(minute=0) if grain == "hour" else key.at.replace(hour=0, minute=0)
            own = key._replace(grain=grain, at=at)
            parts += [(own, block), (own._replace(aa_id=""), block)]
            parts.append((own._replace(tag=f"{key.tag}-fips", fip_id=""), block))
            if key.tag == "req" and key.type not in {"sfireqnot", "ffireqnot", "hbt"}:
                parts.append((own._replace(tag="all", type=""), block))
                if grain == "day":  # no AA says other than most
                    parts.append((own._replace(aa_id="", tag="seen", type=""), block))
    return plain_recount(parts)


def old_sums(connection: psycopg.Connection) -> Sums:
    """Read the rows of sums; they say nothing of late calls."""
    found = {}
    for grain in ("hour", "day"):
        rows = connection.execute(
            "SELECT aa_id, at, tag, fip_id, type, blocks, counts, statuses, data_bytes, longest"
            f" FROM metrics_{grain}"
        )
        for *cell, blocks, counts, statuses, size, longest in rows:
            sums = PlainSums(blocks, counts, statuses, int(size), longest, 0, 0)
            found[Key(grain, *cell)] = sums
    return found


def stale_marks(connection: psycopg.Connection) -> set[tuple[str, str, str, datetime]]:
    """Read the stale marks."""
    return set(connection.execute("SELECT grain, aa_id, tag, at FROM metrics_stale"))


def blocks_in(connection: psycopg.Connection, table: str = "metrics_block") -> list[Block]:
    """Read all blocks as they are stored."""
    return connection.execute(f"SELECT * FROM {table} ORDER BY 1, 2, 3, 4, 6").fetchall()


def cells_of(rows: list[Block]) -> list[tuple[Block, Cells, Names]]:
    """Decode stored blocks."""
    found = []
    for row in rows:
        names = Names()
        at = int(row[3].timestamp()) // 600
        found.append((row, decoded(row[7], row[8], names, 0, at), names))
    return found


def new_reports(rows: list[Block]) -> dict[Key, Values]:
    """Give counts, times, status and size of each reported block, by its cell."""
    found = {}
    for row, cells, names in cells_of(rows):
        if row[1] != "window":
            continue
        points = zip(*(cells.points[name].tolist() for name in POINTS), strict=True)
        for key, sums, pxx in zip(
            keys_of(row, cells, names), plain_rows(cells), points, strict=True
        ):
            assert key not in found
            found[key] = (sums.counts, pxx, sums.statuses, sums.data_bytes)
    return found


def new_sums(rows: list[Block]) -> dict[Key, PlainSums]:
    """Give the sums of each hour and day, by cell; without those that repeat calls not good."""
    found = {}
    for row, cells, names in cells_of(rows):
        if row[1] == "window" or row[5] == "bad":
            continue
        for key, sums in zip(keys_of(row, cells, names), plain_rows(cells), strict=True):
            assert key not in found
            found[key] = sums
    return found


def not_good(rows: list[Block]) -> dict[Key, PlainSums]:
    """Give the calls of each hour and day that are stored as not certainly good, by cell."""
    return {
        key: sums
        for row, cells, names in cells_of(rows)
        if row[5] == "bad"
        for key, sums in zip(keys_of(row, cells, names), plain_rows(cells), strict=True)
    }


def keys_of(row: Block, cells: Cells, names: Names) -> list[Key]:
    """Give the key of each cell of a block."""
    aa_id, grain, tag = row[0], row[1], row[5]
    return [
        Key(grain, aa_id, datetime.fromtimestamp(at * 600, UTC), tag, names.ids[fip], TYPES[place])
        for at, fip, place in zip(
            *(cells.keys[name].tolist() for name in ("at", "fip", "type")), strict=True
        )
    ]


def without_late(sums: Sums) -> Sums:
    """The same as rows of sums say it."""
    return {
        key: msgspec.structs.replace(one, late_lower=0, late_upper=0) for key, one in sums.items()
    }


def without_versions(rows: list[Block]) -> list[Block]:
    """The same whenever it is written."""
    return [(*row[:6], *row[7:]) for row in rows]
