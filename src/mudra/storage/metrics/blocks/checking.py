"""Reads all blocks and names the damaged ones: those of a wrong checksum, and what cannot be read.

Reports that are held as implausible and wait for a decision are read as well; of those that are
decided nothing is read any more.

Table by table in the order of its key, some blocks in each transaction: a check of a nation takes
minutes and must hold back no vacuum. Blocks that come meanwhile may be left out.
"""

import asyncio
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any, Final

import msgspec
import psycopg
import sqlalchemy as sa
from msgspec import Struct
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.exc import DBAPIError

from mudra.metrics.payload.catalogue import window_number
from mudra.metrics.payload.held_reports import HeldState
from mudra.metrics.rollup.damage import HELD, BlockPlace, Checked, DamagedPlace
from mudra.metrics.sums.block_bytes import DamagedBlock, decoded
from mudra.metrics.sums.buckets import bucket_of
from mudra.metrics.sums.cells import Names
from mudra.shared.text.undecodable import UNDECODABLE
from mudra.storage.database.database import Database
from mudra.storage.database.transaction import Transaction
from mudra.storage.metrics.blocks.grain import Grain
from mudra.storage.metrics.partitions import ALL_PARTITIONED, BLOCK_OF, BLOCK_PREVIOUS, Partitioned
from mudra.storage.metrics.stored_report import buckets_in
from mudra.storage.tables.metrics import metrics_held, metrics_receipt
from mudra.storage.tables.metrics_blocks import metrics_block, metrics_block_previous
from mudra.storage.tables.service import service_fact

CHECK_S: Final = 60.0
"""The time limit of one transaction."""
_TOGETHER: Final = 128
_LATEST: Final = 256
_KEPT: Final = 20
"""Damaged blocks that are remembered of a check."""
_FACT: Final = "metrics-check"
_UNREADABLE: Final = "XX"
"""The class of errors by which PostgreSQL says that a page or a row is damaged."""
_LEAVES: Final = sa.text(
    "SELECT c.relname::text, pg_total_relation_size(c.oid) FROM pg_inherits i"
    " JOIN pg_class c ON c.oid = i.inhrelid WHERE i.inhparent = cast(:parent AS regclass)"
    " ORDER BY 1"
)
_HELD_SIZE: Final = sa.text("SELECT pg_total_relation_size('metrics_held')")
_GRAINS: Final = {part.table: grain for grain, part in BLOCK_OF.items()}
OnProgress = Callable[[int, int], None]
"""Is given how many bytes of how many were read."""


_EVER: Final = (datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC))


class _Source(Struct, frozen=True):
    """A table of blocks, or the held reports that wait."""

    table: sa.FromClause
    replaced: bool = False

    @property
    def key(self) -> list[sa.ColumnElement[Any]]:
        """The columns of the key, in its order."""
        c = self.table.c
        of_version = [c.report_version] if "report_version" in c else []
        return [c.aa_id, c.grain, c.bucket, c.at, c.tag, *of_version]

    def blocks(self, *more: sa.ColumnElement[Any]) -> sa.Select[Any]:
        """Returns the query for the keys of blocks in order, with more columns."""
        return sa.select(*self.key, *more).order_by(*self.key)


_COUNTING: Final = _Source(metrics_block)
_REPLACED: Final = _Source(metrics_block_previous, replaced=True)
_HELD: Final = _Source(
    sa.select(
        *(metrics_receipt.c.aa_id, sa.literal(HELD).label("grain"), sa.literal(0).label("bucket")),
        *(metrics_receipt.c.window_at.label("at"), metrics_receipt.c.tag),
        metrics_receipt.c.version.label("report_version"),
        *(metrics_held.c.buckets.label("numbers"), sa.literal(b"").label("times")),
    )
    .join_from(metrics_held, metrics_receipt)
    .where(metrics_held.c.state == HeldState.WAITING.value)
    .subquery()
)


class _Leaf(Struct, frozen=True):
    """A partition: the service may read it by its parent alone."""

    source: _Source
    grain: str
    begin: datetime
    end: datetime
    size: int
    """Bytes."""

    @property
    def has(self) -> Sequence[sa.ColumnElement[bool]]:
        """Returns what is true of its blocks alone."""
        c = self.source.table.c
        return c.grain == self.grain, c.at >= self.begin, c.at < self.end


class LastCheck(Struct, frozen=True):
    """The result of the last check of all blocks."""

    at: datetime
    blocks: int
    damaged: int
    first: tuple[BlockPlace, ...]
    """The first damaged blocks."""


async def check_blocks(database: Database, on_progress: OnProgress) -> Checked:
    """Reads all blocks, and remembers what it found for `last_check`."""
    async with database.transaction() as tx:
        leaves = [leaf for part in ALL_PARTITIONED for leaf in await _leaves(tx, part)]
        held = await tx.connection.scalar(_HELD_SIZE)
        leaves.append(_Leaf(_HELD, HELD, *_EVER, held or 0))
    total, done, blocks = sum(leaf.size for leaf in leaves), 0, 0
    found: list[DamagedPlace] = []
    for leaf in leaves:
        on_progress(done, total)
        after: tuple[Any, ...] | None = None
        while keys := await _next_keys(database, leaf, after):
            found += await _check(database, leaf, keys)
            blocks, after = blocks + len(keys), keys[-1]
        done += leaf.size
    on_progress(done, total)
    await _remember(database, blocks, found)
    return Checked(blocks, tuple(found))


async def _leaves(tx: Transaction, part: Partitioned) -> Sequence[_Leaf]:
    rows = await tx.connection.execute(_LEAVES, {"parent": part.table})
    source = _REPLACED if part is BLOCK_PREVIOUS else _COUNTING
    grain = _GRAINS.get(part.table, Grain.WINDOW.value)
    found = []
    for name, size in rows:
        begin = part.begin_of(name)
        found.append(_Leaf(source, grain, begin, part.end(begin), size))
    return found


async def _next_keys(
    database: Database, leaf: _Leaf, after: tuple[Any, ...] | None
) -> Sequence[tuple[Any, ...]]:
    query = leaf.source.blocks().where(*leaf.has).limit(_TOGETHER)
    if after is not None:
        query = query.where(sa.tuple_(*leaf.source.key) > _values(leaf.source, after))
    async with database.transaction(within_s=CHECK_S) as tx:
        await tx.take_time(CHECK_S)
        return [tuple(row) for row in await tx.connection.execute(query)]


async def _check(
    database: Database, leaf: _Leaf, keys: Sequence[tuple[Any, ...]]
) -> Sequence[DamagedPlace]:
    """Returns which of these blocks are damaged; those that the database cannot read as well."""
    try:
        async with database.transaction(within_s=CHECK_S) as tx:
            await tx.take_time(CHECK_S)
            return await _read(tx, leaf, keys)
    except DBAPIError as error:
        said = error.orig
        if not isinstance(said, psycopg.Error) or not (said.sqlstate or "").startswith(_UNREADABLE):
            raise
        if len(keys) == 1:
            place = _place(leaf.source, keys[0])
            return [DamagedPlace(place, f"the database cannot read it: {said}")]
    return [one for key in keys for one in await _check(database, leaf, [key])]


async def _read(
    tx: Transaction, leaf: _Leaf, keys: Sequence[tuple[Any, ...]]
) -> Sequence[DamagedPlace]:
    source, c = leaf.source, leaf.source.table.c
    query = source.blocks(c.numbers, c.times).where(
        *leaf.has,
        sa.tuple_(*source.key) >= _values(source, keys[0]),
        sa.tuple_(*source.key) <= _values(source, keys[-1]),
    )
    rows = (await tx.connection.execute(query)).all()
    return await asyncio.to_thread(_damaged, source, rows)


async def damaged_of_latest(tx: Transaction) -> Sequence[DamagedPlace]:
    """Returns which of the latest blocks are damaged, some of each grain."""
    found = list[DamagedPlace]()
    for grain in ("window", "hour", "day", HELD):
        source = _HELD if grain == HELD else _COUNTING
        c = source.table.c
        query = sa.select(*source.key, c.numbers, c.times).where(c.grain == grain)
        rows = await tx.connection.execute(query.order_by(c.at.desc()).limit(_LATEST))
        found += await asyncio.to_thread(_damaged, source, rows.all())
    return found


async def is_damaged(tx: Transaction, aa_id: str, tag: str, window: datetime) -> bool:
    """Returns whether a block of the report that counts for a window is damaged."""
    c = metrics_block.c
    rows = await tx.connection.execute(
        _COUNTING.blocks(c.numbers, c.times).where(
            *(c.grain == "window", c.aa_id == aa_id, c.tag == tag, c.at == window)
        )
    )
    return bool(_damaged(_COUNTING, rows.all()))


async def damaged_held(tx: Transaction, aa_id: str, tag: str, window: datetime) -> Sequence[int]:
    """Returns the versions of the reports of a window that wait and are damaged."""
    c = _HELD.table.c
    query = _HELD.blocks(c.numbers, c.times)
    rows = await tx.connection.execute(query.where(c.aa_id == aa_id, c.tag == tag, c.at == window))
    return [row.report_version for row in rows if _damaged(_HELD, [row])]


async def still_damaged(tx: Transaction, last: LastCheck) -> Sequence[BlockPlace]:
    """Returns which of the damaged blocks that a check found first are damaged still."""
    found = []
    for place in last.first:
        source = _HELD if place.grain == HELD else _REPLACED if place.replaced else _COUNTING
        key = place if place.replaced else place[:5]
        query = source.blocks(source.table.c.numbers, source.table.c.times)
        rows = await tx.connection.execute(
            query.where(*(one == value for one, value in zip(source.key, key, strict=False)))
        )
        found += [one.place for one in _damaged(source, rows.all())]
    return found


async def last_check(tx: Transaction) -> LastCheck | None:
    """Returns what the last check of all blocks found; None before the first."""
    stored = await tx.connection.scalar(
        sa.select(service_fact.c.value).where(service_fact.c.name == _FACT)
    )
    return None if stored is None else msgspec.json.decode(stored, type=LastCheck)


async def _remember(database: Database, blocks: int, found: Sequence[DamagedPlace]) -> None:
    async with database.transaction() as tx:
        first = tuple(one.place for one in found[:_KEPT])
        made = LastCheck(await tx.now(), blocks, len(found), first)
        value = msgspec.json.encode(made).decode()
        await tx.connection.execute(
            insert(service_fact)
            .values(name=_FACT, value=value)
            .on_conflict_do_update(index_elements=[service_fact.c.name], set_={"value": value})
        )


def _damaged(source: _Source, rows: Sequence[Any]) -> Sequence[DamagedPlace]:
    found = []
    for row in rows:
        try:
            _decode(source, row)
        except (DamagedBlock, *UNDECODABLE) as problem:
            found.append(DamagedPlace(_place(source, tuple(row)), str(problem)))
    return found


def _decode(source: _Source, row: Any) -> None:
    """Raises DamagedBlock, or what is undecodable."""
    at = window_number(row.at)
    if source is not _HELD:
        decoded(row.numbers, row.times, Names(), 0, at)
        return
    for bucket, numbers in buckets_in(row.numbers):
        names = Names()
        decoded(numbers, None, names, 0, at)
        fan = 1 << max(bucket.bit_length() - 1, 0)
        if any(bucket_of(fip_id, fan) != bucket for fip_id in names.ids[1:]):  # in no checksum
            raise DamagedBlock("its bucket is not that of its FIPs")


def _place(source: _Source, key: tuple[Any, ...]) -> BlockPlace:
    aa_id, grain, bucket, at, tag = key[:5]
    return BlockPlace(aa_id, grain, bucket, at, tag, key[5] if source.replaced else 0)


def _values(source: _Source, key: tuple[Any, ...]) -> sa.ColumnElement[Any]:
    pairs = zip(source.key, key, strict=True)
    return sa.tuple_(*(sa.literal(value, column.type) for column, value in pairs))
