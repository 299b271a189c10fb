"""Converts rows of sums (hours, days) and raw rows from and to metrics/rollup/rollup.py."""

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from functools import lru_cache
from operator import add
from typing import Final, NamedTuple, cast

import msgspec
import sqlalchemy as sa
from msgspec import UNSET, Struct
from psycopg.sql import SQL, Identifier
from sqlalchemy.engine import RowMapping

from mudra.metrics.payload.catalogue import Tag
from mudra.metrics.payload.report import (
    Block,
    Counts,
    NotificationBlock,
    Percentiles,
    RequestBlock,
    Statuses,
)
from mudra.metrics.rollup.grain_selection import Rows, SeriesKey
from mudra.metrics.rollup.latency_distribution import Dense, add_dense, coarsen, dense, merge_dense
from mudra.metrics.rollup.rollup import EMPTY, Cell, Rollup
from mudra.metrics.rollup.stale import ALL_AAS
from mudra.storage.database.among import is_among_given
from mudra.storage.database.database import Transaction
from mudra.storage.metrics.copy_rows import long_tag, short_tag
from mudra.storage.metrics.tables import metrics_raw

SUMS: Final = (
    *("at", "aa_id", "tag", "fip_id", "type", "blocks"),
    *("counts", "statuses", "data_bytes", "distribution", "longest"),
)
"""Columns of a row of sums, in the order of `row_of`."""
ROWS_AT_ONCE: Final = 4_000
"""Rows that are read together: their values are made in the event loop, in some 15 to 40 ms."""
_FEW: Final = 8
_MANY: Final = 32
"""Rows that are added up, and cached, together: some 10 and 40 KB."""
_LARGEST: Final = 2**63 - 1
_NUMBERS: Final = ("blocks", "counts", "statuses", "data_bytes", "longest")
_Key = tuple[str, str, str, str]
"""AA, FIP, tag and type."""
Row = tuple[str, str, str, str, str, bytes]
"""AA, FIP, tag, type, numbers (see `_NUMBERS`), distribution."""
_Packed = tuple[str, bytes]
"""Numbers and distribution of a row, as the driver returned them."""
_pack: Final = msgspec.msgpack.Encoder().encode
_unpack: Final = msgspec.msgpack.Decoder(Dense).decode


class Part(Struct, frozen=True):
    """Narrows a query to one AA, one FIP, one tag, some type codes; None for all.

    `ALL_AAS` as AA selects the rows with the sums over all AAs.
    """

    aa_id: str | None = None
    fip_id: str | None = None
    tag: Tag | None = None
    types: frozenset[str] | None = None

    def of(self, table: sa.Table) -> list[sa.ColumnElement[bool]]:
        """Returns the conditions on a table with the columns of a cell."""
        wanted = {
            "aa_id": self.aa_id,
            "fip_id": self.fip_id,
            "tag": None if self.tag is None else short_tag(self.tag),
        }
        found = [table.c[name] == value for name, value in wanted.items() if value is not None]
        if self.types is not None:
            found.append(table.c.type == sa.any_(sa.literal(sorted(self.types))))
        return found if self.aa_id is not None else [*found, table.c.aa_id != ALL_AAS]


def within_times(column: sa.Column[object], times: Sequence[datetime]) -> sa.ColumnElement[bool]:
    """Matches one of these times; the bounds let the planner skip other partitions."""
    return sa.and_(
        column >= min(times), column <= max(times), column == sa.any_(sa.literal(list(times)))
    )


def at_times(column: sa.Column[object]) -> sa.ColumnElement[bool]:
    """Matches as `within_times` does, in a statement that is built once: with `times_given`."""
    return sa.and_(
        column >= sa.bindparam("first_time"),
        column <= sa.bindparam("last_time"),
        is_among_given(column, "times"),
    )


def times_given(times: Collection[datetime]) -> dict[str, object]:
    """Returns the values of the parameters of `at_times`."""
    return {"first_time": min(times), "last_time": max(times), "times": list(times)}


def mappings_of(rows: Sequence[sa.Row[tuple[object, ...]]]) -> Sequence[RowMapping]:
    """Returns rows of `Transaction.in_parts` by the names of their columns."""
    return [row._mapping for row in rows]  # noqa: SLF001  # is of SQLAlchemy's public interface


def cell_of(row: RowMapping) -> Cell:
    """Returns the cell of a row."""
    return Cell(row["aa_id"], row["fip_id"], long_tag(row["tag"]), row["type"])


def block_of(row: RowMapping) -> Block:
    """Returns the block of a raw row."""
    counts = cast("Counts", tuple(row["counts"]))
    if row["pxx"] is not None:
        size = row["data_bytes"]
        return RequestBlock(
            row["type"],
            cast("Percentiles", tuple(row["pxx"])),
            counts,
            UNSET if size is None else str(int(size)),
        )
    status = row["status"]
    return NotificationBlock(
        row["type"], counts, UNSET if status is None else cast("Statuses", tuple(status))
    )


class _Sums(NamedTuple):
    """A row of sums as it is added up; its times are coarse."""

    blocks: int
    counts: tuple[int, ...]
    statuses: tuple[int, ...]
    data_bytes: int
    longest: int
    times: Dense


def merged(rows: Sequence[Row], others: Rollup = EMPTY) -> Rollup:
    """Returns the sum of rows of hours or days, at least one, and of `others`."""
    packed = tuple((numbers, distribution) for *_, numbers, distribution in rows)
    sums = _added([_many(packed[at : at + _MANY]) for at in range(0, len(packed), _MANY)])
    times = [sums.times]
    if others.times.cells:
        times.append(dense(coarsen(others.times)))
    return Rollup(
        sums.blocks + others.blocks,
        tuple(map(add, sums.counts, others.counts)),
        tuple(map(add, sums.statuses, others.statuses)),
        sums.data_bytes + others.data_bytes,
        merge_dense(times, max(sums.longest, others.times.longest)),
    )


@lru_cache(maxsize=512)
def _many(packed: tuple[_Packed, ...]) -> _Sums:
    """Returns the sum of some rows, cached by their content, so that it is never out of date.

    The same days and hours are read again and again, and only the last of them change.
    """
    return _added([_few(packed[at : at + _FEW]) for at in range(0, len(packed), _FEW)])


@lru_cache(maxsize=512)
def _few(packed: tuple[_Packed, ...]) -> _Sums:
    return _added([_read(numbers, distribution) for numbers, distribution in packed])


def _read(numbers: str, distribution: bytes) -> _Sums:
    blocks, counts, statuses, size, longest = numbers.split("|")
    return _Sums(
        int(blocks), _list(counts), _list(statuses), int(size), int(longest), _unpack(distribution)
    )


def _list(text: str) -> tuple[int, ...]:
    """Parses an array of PostgreSQL as text, such as {1,2}."""
    return tuple(map(int, text[1:-1].split(",")))


def _added(parts: Sequence[_Sums]) -> _Sums:
    """Returns the sum of at least one."""
    if len(parts) == 1:
        return parts[0]
    blocks, counts, statuses, sizes, longest, times = zip(*parts, strict=True)
    return _Sums(
        sum(blocks),
        tuple(map(sum, zip(*counts, strict=True))),
        tuple(map(sum, zip(*statuses, strict=True))),
        sum(sizes),
        max(longest),
        add_dense(times),
    )


def row_of(at: datetime, cell: Cell, sums: Rollup) -> tuple[object, ...]:
    """Returns a row of hours or days; its times must be coarse. MessagePack packs them."""
    times = sums.times
    assert times.coarse or not times.cells
    return (
        at,
        cell.aa_id,
        short_tag(cell.tag),
        cell.fip_id,
        cell.type,
        sums.blocks,
        bounded(sums.counts),
        bounded(sums.statuses),
        sums.data_bytes,
        _pack(dense(times)),
        times.longest,
    )


def bounded(counts: Iterable[int]) -> list[int]:
    """Returns counts within the range of a column.

    A count may be 2^53, so that sums of false counts could exceed 2^63. They stop there: they
    mean nothing, and must not make the sums of all others fail.
    """
    return [min(count, _LARGEST) for count in counts]


async def copy_in(
    tx: Transaction, table: sa.Table, names: Sequence[str], rows: Iterable[tuple[object, ...]]
) -> None:
    """Writes rows by COPY."""
    into = SQL("COPY {} ({}) FROM STDIN").format(
        Identifier(table.name), SQL(", ").join(map(Identifier, names))
    )
    async with tx.copying(into) as copy:
        for row in rows:
            await copy.write_row(row)


def raw_query(rows: Rows, part: Part) -> sa.Select[tuple[object, ...]]:
    """Returns the query for raw rows."""
    wanted = chosen_rows(metrics_raw, metrics_raw.c.window_at, rows)
    return sa.select(metrics_raw).where(wanted, *part.of(metrics_raw))


def chosen_rows(table: sa.Table, column: sa.Column[object], rows: Rows) -> sa.ColumnElement[bool]:
    """Returns the condition that a row of a table, with its time in this column, is chosen."""
    wanted: list[sa.ColumnElement[bool]] = []
    if rows.times:
        base = within_times(column, rows.times)
        without = rows.without
        wanted.append(sa.and_(base, ~_among(table, column, without)) if without else base)
    if rows.only:
        times = sorted({one.at for one in rows.only})
        wanted.append(sa.and_(within_times(column, times), _among(table, column, rows.only)))
    return sa.or_(*wanted)


def _among(
    table: sa.Table, column: sa.Column[object], rows: Collection[SeriesKey]
) -> sa.ColumnElement[bool]:
    """Selects the rows of these AAs, tags and times, sent as a list for each column.

    One parameter per value would make a new statement for each number of rows, never reused.
    """
    lists = {
        "aa_id": [one.aa_id for one in rows],
        "tag": [one.tag for one in rows],
        column.name: [one.at for one in rows],
    }
    columns = [table.c[name] for name in lists]
    values = (
        sa.func.unnest(*(sa.literal(lists[one.name], sa.ARRAY(one.type)) for one in columns))
        .table_valued(*(one.name for one in columns))
        .render_derived()
    )
    return sa.tuple_(*columns).in_(sa.select(*values.c))


def sums_query(
    table: sa.Table, wanted: sa.ColumnElement[bool], part: Part
) -> sa.Select[tuple[object, ...]]:
    """Returns the query for rows of sums, as `by_cell` and `merged` read them.

    Their numbers are one text: most sums are cached by it and need not be parsed.
    """
    c = table.c
    numbers = sa.func.concat_ws("|", *(c[name] for name in _NUMBERS)).label("numbers")
    return sa.select(c.aa_id, c.fip_id, c.tag, c.type, numbers, c.distribution).where(
        wanted, *part.of(table)
    )
