"""Writes blocks: by COPY in binary form, each set of them in place of the one before."""

import uuid
from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from typing import Final, NamedTuple

import sqlalchemy as sa

from mudra.metrics.payload.catalogue import window_number
from mudra.metrics.rollup.stale import ALL_AAS
from mudra.metrics.sums.block_bytes import encoded
from mudra.metrics.sums.buckets import split
from mudra.metrics.sums.cells import Cells
from mudra.storage.database.among import is_among_given
from mudra.storage.database.transaction import Transaction
from mudra.storage.metrics.blocks.grain import Grain
from mudra.storage.tables.metrics_blocks import metrics_block

_C: Final = metrics_block.c
_COPY: Final = (
    "COPY metrics_block (aa_id, grain, bucket, at, until, tag, version, numbers, times)"
    " FROM STDIN (FORMAT BINARY)"
)
_TYPES: Final = (
    *("text", "text", "int2", "timestamptz", "timestamptz", "text", "uuid", "bytea", "bytea"),
)
_DELETE: Final = sa.delete(metrics_block).where(
    *(_C.aa_id == sa.bindparam("aa_id"), _C.grain == sa.bindparam("grain")),
    *(is_among_given(_C.tag, "tags"), is_among_given(_C.at, "ats")),
    # The bounds let the planner skip all other partitions.
    *(_C.at >= sa.bindparam("first"), _C.at <= sa.bindparam("last")),
)


_DELETE_OF_EACH: Final = sa.delete(metrics_block).where(
    *(_C.grain == sa.bindparam("grain"), _C.at == sa.bindparam("at")),
    *(_C.aa_id != ALL_AAS, is_among_given(_C.tag, "tags")),
)


class Series(NamedTuple):
    """Cells of one AA, or of all together, of one grain and tag."""

    aa_id: str
    grain: Grain
    tag: str


class Row(NamedTuple):
    """One block, in the order of its columns."""

    aa_id: str
    grain: str
    bucket: int
    at: datetime
    until: datetime
    tag: str
    version: uuid.UUID
    numbers: bytes
    times: bytes


def rows_of(
    series: Series, span: tuple[datetime, datetime], cells: Cells, ids: Sequence[str], fan: int
) -> list[Row]:
    """Returns the blocks of the cells of one time, or of the several times of a span."""
    (at, until), version = span, uuid.uuid4()
    first = None if until - at == series.grain.length else window_number(at)
    return [
        Row(*series[:2], bucket, at, until, series.tag, version, *encoded(part, ids, first))
        for bucket, part in split(cells, ids, fan)
    ]


def report_rows(
    series: Series, window: datetime, buckets: Iterable[tuple[int, bytes]]
) -> list[Row]:
    """Returns the blocks of a report that the check encoded."""
    version, until = uuid.uuid4(), window + series.grain.length
    return [
        Row(series.aa_id, series.grain, bucket, window, until, series.tag, version, numbers, b"")
        for bucket, numbers in buckets
    ]


async def put(tx: Transaction, rows: Collection[Row]) -> None:
    """Stores new blocks; their partitions exist."""
    if not rows:
        return
    async with tx.copying(_COPY) as copy:
        copy.set_types(_TYPES)
        for row in rows:
            await copy.write_row(row)


async def delete(
    tx: Transaction, series: Series, ats: Collection[datetime], tags: Collection[str] = ()
) -> None:
    """Deletes the blocks of a series that begin at these times: of its tag, or of these."""
    if ats:
        await tx.connection.execute(
            _DELETE,
            {
                "aa_id": series.aa_id,
                "grain": series.grain,
                "tags": [*tags] or [series.tag],
                "ats": sorted(ats),
                "first": min(ats),
                "last": max(ats),
            },
        )


async def delete_of_each(tx: Transaction, grain: Grain, tags: Sequence[str], at: datetime) -> None:
    """Deletes the blocks of each AA with these tags that begin at a time."""
    await tx.connection.execute(_DELETE_OF_EACH, {"grain": grain, "at": at, "tags": list(tags)})
