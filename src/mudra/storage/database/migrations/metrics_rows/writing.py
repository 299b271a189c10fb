"""Writes blocks as since_1_0_0.sql makes their tables, and adds up those that are there."""

import uuid
from collections.abc import Collection, Iterator, Sequence
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from mudra.metrics.sums.block_bytes import encoded
from mudra.metrics.sums.buckets import fan_of, split
from mudra.metrics.sums.cells import Cells, Names
from mudra.storage.database.migrations.metrics_rows.sources import Connection
from mudra.storage.metrics.blocks.sums.derived import derived

LENGTHS: Final = {
    "window": timedelta(minutes=10),
    "hour": timedelta(hours=1),
    "day": timedelta(days=1),
}
_COLUMNS: Final = "aa_id, grain, bucket, at, until, tag, version, numbers, times"
_TYPES: Final = (
    *("text", "text", "int2", "timestamptz", "timestamptz", "text", "uuid", "bytea", "bytea"),
)
BY: Final = ("type", "fip")
"""The keys of sums of one AA, or of all together."""


class Block(NamedTuple):
    """A row of `metrics_block`."""

    aa_id: str
    grain: str
    bucket: int
    at: datetime
    until: datetime
    tag: str
    version: uuid.UUID
    numbers: bytes
    times: bytes


class Series(NamedTuple):
    """Cells of one AA, or of all together (an empty ID), of one grain and tag."""

    aa_id: str
    grain: str
    tag: str


def blocks_of(
    series: Series, at: datetime, cells: Cells, names: Names, fan: int = 0
) -> Iterator[Block]:
    """Yields the blocks of one time, as many as there are cells for unless `fan` says how many."""
    version, until = uuid.uuid4(), at + LENGTHS[series.grain]
    for bucket, part in split(cells, names.ids, fan or fan_of(len(cells))):
        numbers, times = encoded(part, names.ids)
        yield Block(
            series.aa_id, series.grain, bucket, at, until, series.tag, version, numbers, times
        )


def sums_of(series: Series, at: datetime, cells: Cells, names: Names) -> Iterator[Block]:
    """Yields the blocks of the sums of an hour or a day; of an AA what is derived of them too."""
    yield from blocks_of(series, at, cells, names)
    if series.aa_id:
        for tag, part in derived(series.tag, cells):
            if len(part):
                yield from blocks_of(series._replace(tag=tag), at, part, names, 1)


def put(connection: Connection, blocks: Sequence[Block]) -> None:
    """Stores blocks, and makes the partitions that they need."""
    _make(connection, {(f"metrics_block_{one.grain}", _month_or_day(one)) for one in blocks})
    into = f"COPY metrics_block ({_COLUMNS}) FROM STDIN (FORMAT BINARY)"
    with connection.cursor().copy(into.encode()) as copy:
        copy.set_types(_TYPES)
        for one in blocks:
            copy.write_row(one)


def put_previous(connection: Connection, blocks: Sequence[tuple[Block, int]]) -> None:
    """Stores the blocks of reports that were replaced, each with the version of its report."""
    _make(connection, {("metrics_block_previous", _month_or_day(one)) for one, _ in blocks})
    into = f"COPY metrics_block_previous ({_COLUMNS}, report_version) FROM STDIN (FORMAT BINARY)"
    with connection.cursor().copy(into.encode()) as copy:
        copy.set_types((*_TYPES, "int4"))
        for one, version in blocks:
            copy.write_row((*one, version))


def _month_or_day(one: Block) -> datetime:
    """Returns a moment of the partition of a block, the same for most of them."""
    day = one.at.replace(hour=0, minute=0)
    return day if one.grain == "window" else day.replace(day=1)


def _make(connection: Connection, partitions: Collection[tuple[str, datetime]]) -> None:
    for table, at in sorted(partitions):
        connection.execute("SELECT metrics_partition_make(%s, %s)", [table, at])
