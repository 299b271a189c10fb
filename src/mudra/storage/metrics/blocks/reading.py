"""Reads blocks: the only query for cells, whatever is asked.

Blocks come in the order of their buckets, so that the cells of a FIP are next to each other and can
be added up before all are here. They are decoded in a thread.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from datetime import datetime
from functools import cache
from itertools import compress
from typing import Any, Final, NamedTuple, TypeVar

import numpy as np
import sqlalchemy as sa
from msgspec import Struct

from mudra.metrics.payload.catalogue import CODES, Tag, window_number
from mudra.metrics.rollup.damage import BlockDamaged, BlockPlace, damaged
from mudra.metrics.sums.adding import RunningSum
from mudra.metrics.sums.block_bytes import DamagedBlock, decoded
from mudra.metrics.sums.buckets import FANS, bucket_of, buckets_of, fan_with
from mudra.metrics.sums.cells import Cells, Names, type_place
from mudra.metrics.sums.selection import SeriesKey
from mudra.storage.database.among import is_among_given
from mudra.storage.database.transaction import Transaction
from mudra.storage.metrics.blocks.grain import SHORTER, Grain
from mudra.storage.tables.metrics_blocks import metrics_block

_C: Final = metrics_block.c
_TOGETHER: Final = 4
"""Blocks that are read and decoded together: some 16,000 cells of a nation, which take 14 MB."""
_WITHOUT_TIMES: Final = 4
"""How many times as many blocks are read together without times: they have a fifth of the bytes."""
_OF_FEW: Final = 8
"""The same of those of which few FIPs or types are decoded: packed, a block has 0.1 MB."""
_FEW_FIPS: Final = 16
_FEW_TYPES: Final = 2

T = TypeVar("T")


class Wanted(Struct, frozen=True):
    """Some times of one grain: of `times` all series but `without`, and in addition `only`.

    `aa_id` None is for each AA apart, `ALL_AAS` for the sums over all of them.
    """

    grain: Grain
    tags: tuple[str, ...]
    aa_id: str | None = None
    times: frozenset[datetime] = frozenset()
    without: frozenset[SeriesKey] = frozenset()
    only: frozenset[SeriesKey] = frozenset()

    def has(self, aa_id: str, tag: str, at: datetime) -> bool:
        """Returns whether these cells are wanted."""
        key = SeriesKey(aa_id, tag, at)
        return (at in self.times and key not in self.without) or key in self.only

    @property
    def all_times(self) -> frozenset[datetime]:
        """All times of which some series is wanted."""
        return self.times | {key.at for key in self.only}


class Share(Struct, frozen=True):
    """The FIPs of one of so many buckets, whatever the fan of a block is: a power of two."""

    place: int
    of: int

    def __contains__(self, fip_id: object) -> bool:
        """Returns whether a FIP is one of these."""
        return isinstance(fip_id, str) and bucket_of(fip_id, self.of) == self.of + self.place

    def buckets(self) -> list[int]:
        """Returns the buckets that have such FIPs, of all fans."""
        smaller = [fan + self.place % fan for fan in FANS if fan <= self.of]
        larger = [
            fan + place
            for fan in FANS
            if fan > self.of
            for place in range(self.place, fan, self.of)
        ]
        return smaller + larger


class Form(Struct, frozen=True):
    """The choice of cells of a block that are decoded, and what of them."""

    times: bool = True
    """With the response times of sums."""
    fip_ids: frozenset[str] | None = None
    """None for all."""
    types: frozenset[int] | None = None
    """Places in `TYPES`; None for all."""
    share: Share | None = None
    at: Mapping[datetime, frozenset[str]] | None = None
    """Those of `fip_ids` that are decoded of each time with a block of its own; None for all."""

    @property
    def buckets(self) -> list[int] | None:
        """The buckets to read; None for all."""
        if self.fip_ids is not None:
            return sorted({bucket for one in self.fip_ids for bucket in buckets_of(one)})
        return None if self.share is None else self.share.buckets()

    @property
    def few_fips(self) -> bool:
        """Returns whether few FIPs are decoded of each block."""
        most = max(map(len, self.at.values())) if self.at else len(self.fip_ids or ())
        return self.fip_ids is not None and most <= _FEW_FIPS

    @property
    def together(self) -> int:
        """The number of blocks that are read and decoded together."""
        few = self.few_fips or (self.types is not None and len(self.types) <= _FEW_TYPES)
        return _TOGETHER * (1 if self.times else _WITHOUT_TIMES) * (_OF_FEW if few else 1)


class Span(NamedTuple):
    """The times of the blocks of an AA's sums."""

    aa_id: str
    tag: str
    at: datetime
    until: datetime
    """The end of the last one."""


class Found(NamedTuple):
    """The cells of one block that are wanted."""

    aa_id: str
    tag: str
    bucket: int
    at: datetime
    """The first time in the block."""
    cells: Cells


class Blocks:
    """Reads cells in one transaction; the numbers of their names hold for all that it reads."""

    def __init__(self, transaction: Transaction) -> None:
        self._tx = transaction
        self.names = Names()

    async def summed(
        self, wanted: Sequence[Wanted], by: Sequence[str], form: Form | None = None
    ) -> Cells:
        """Returns the sums of what is wanted, by these keys."""
        form = Form() if form is None else form
        total = RunningSum(by, times=form.times)
        for one in wanted:
            await self.add(total, one, form)
        return await asyncio.to_thread(total.total)

    async def add(self, total: RunningSum, wanted: Wanted, form: Form) -> set[SeriesKey]:
        """Adds what is wanted to a sum; returns the series with blocks, and their begins."""
        found = set[SeriesKey]()
        async for some in self._read(wanted, form):
            found |= await asyncio.to_thread(_add, total, some)
            del some  # or they were kept while the next ones are decoded
        return found

    async def each(self, wanted: Wanted, form: Form) -> AsyncIterator[Cells]:
        """Gives the cells of each block as they are stored: single ones or sums.

        Raises BlockDamaged for a block that is not as it was written; it is logged as well.
        """
        async for some in self._read(wanted, form):
            for found in some:
                yield found.cells

    async def parts(self, wanted: Wanted, form: Form) -> AsyncIterator[Sequence[Cells]]:
        """Gives the same, the cells of some blocks together."""
        async for some in self._read(wanted, form):
            if some:
                yield [found.cells for found in some]

    async def spans(self, wanted: Wanted, longer: Sequence[str], form: Form) -> Sequence[Span]:
        """Returns what is stored of these times, by the tags of longer sums too."""
        buckets, tags = form.buckets, [*wanted.tags, *longer]
        query = _spans_query(of_aas=wanted.aa_id is None, in_buckets=buckets is not None)
        values = {**_parameters(wanted), "tags": tags, "buckets": buckets}
        return [Span(*row) for row in await self._tx.connection.execute(query, values)]

    async def shares(self, wanted: Wanted) -> Sequence[Share]:
        """Returns shares of all FIPs by which to read what is wanted, each of two buckets.

        Settled blocks of many times are in as many more buckets, whose sums are as few as others.
        """
        conditions = _conditions(of_aas=wanted.aa_id is None, in_buckets=False)
        query = sa.select(_C.bucket, _C.until - _C.at).where(*conditions)
        largest = query.order_by(_C.bucket.desc()).limit(1)
        found = (await self._tx.connection.execute(largest, _parameters(wanted))).first()
        bucket, span = found or (FANS[0], wanted.grain.length)
        number = fan_with(max(fan_with(bucket) // 2 // (span // wanted.grain.length), 1))
        return [Share(place, number) for place in range(number)]

    async def by_bucket(self, wanted: Wanted) -> AsyncIterator[tuple[int, Cells]]:
        """Gives the same with the bucket of each block, as it is stored, with all its FIPs."""
        async for some in self._read(wanted, Form()):
            for found in some:
                yield found.bucket, found.cells

    async def intact(
        self, wanted: Wanted, form: Form, make: Callable[[Cells], T]
    ) -> tuple[Sequence[T], frozenset[tuple[str, str]]]:
        """Returns what is made of each block, and AA and tag of each damaged report, left out."""
        lost, keys, made = set[tuple[str, str]](), list[tuple[str, str]](), list[T]()
        async for some in self._read(wanted, form, lost):
            keys += [(one.aa_id, one.tag) for one in some]
            made += await asyncio.to_thread(list, map(make, [one.cells for one in some]))
            del some  # or they were kept while the next ones are decoded
        kept = (key not in lost for key in keys)
        return [*compress(made, kept)], frozenset(lost)

    async def _read(
        self, wanted: Wanted, form: Form, lost: set[tuple[str, str]] | None = None
    ) -> AsyncIterator[Sequence[Found]]:
        if not wanted.all_times:
            return
        buckets = form.buckets
        query = _query(
            of_aas=wanted.aa_id is None, in_buckets=buckets is not None, times=form.times
        ).params(**_parameters(wanted), buckets=buckets)
        async for rows in self._tx.in_parts(query, form.together):
            yield await asyncio.to_thread(self._decoded, rows, wanted, form, lost)

    def _decoded(
        self,
        rows: Sequence[sa.Row[Any]],
        wanted: Wanted,
        form: Form,
        lost: set[tuple[str, str]] | None,
    ) -> Sequence[Found]:
        found, times = [], wanted.all_times
        for row in rows:
            single = row.tag in SHORTER or row.until - row.at == wanted.grain.length
            if single and not wanted.has(row.aa_id, row.tag, row.at):
                continue
            try:
                cells = self._cells(row, wanted.grain, form)
            except BlockDamaged:
                if lost is None:
                    raise
                lost.add((row.aa_id, row.tag))
                continue
            if not single:
                asked = [window_number(at) for at in times if wanted.has(row.aa_id, row.tag, at)]
                cells = cells.chosen(np.isin(cells.keys["at"], asked))
            if len(cells) or row.tag in SHORTER:  # without cells nothing shorter has any either
                found.append(Found(row.aa_id, row.tag, row.bucket, row.at, cells))
        return found

    def _cells(self, row: sa.Row[Any], grain: Grain, form: Form) -> Cells:
        aa, times = self.names.place(row.aa_id), row.times if form.times else None
        mixed = form.share is not None and row.bucket < form.share.of
        fips = form.share if mixed else form.fip_ids
        if form.at is not None and row.until - row.at == grain.length:
            fips = form.at[row.at]
        try:
            at = window_number(row.at)
            return decoded(row.numbers, times, self.names, aa, at, fips, form.types)
        except DamagedBlock as problem:
            place = BlockPlace(row.aa_id, grain.value, row.bucket, row.at, row.tag)
            raise damaged(place, str(problem)) from problem


def _add(total: RunningSum, some: Sequence[Found]) -> set[SeriesKey]:
    for found in some:
        total.add(found.cells, found.bucket)
    return {SeriesKey(one.aa_id, one.tag, one.at) for one in some}


def only(fip_id: str | None) -> frozenset[str] | None:
    """Returns the FIPs of a form: one of them, or all for None."""
    return None if fip_id is None else frozenset({fip_id})


def types_of(codes: Collection[str], tag: Tag | None = Tag.REQUESTS) -> frozenset[int]:
    """Returns the places of these types in `TYPES`: those of a tag, or of both for None."""
    return frozenset(
        type_place(of, code)
        for of in Tag
        for code in codes
        if tag in {None, of} and code in CODES[of]
    )


def _parameters(wanted: Wanted) -> dict[str, Any]:
    times = wanted.all_times
    ats = sorted(times | {wanted.grain.settled_start(at) for at in times})
    return {
        "grain": wanted.grain.value,
        "aa_id": wanted.aa_id or "",
        "tags": list(wanted.tags),
        "ats": ats,
        "first": ats[0],
        "last": ats[-1],
    }


def _conditions(*, of_aas: bool, in_buckets: bool) -> Sequence[sa.ColumnElement[bool]]:
    return (
        _C.grain == sa.bindparam("grain"),
        _C.aa_id != "" if of_aas else _C.aa_id == sa.bindparam("aa_id"),
        is_among_given(_C.tag, "tags"),
        is_among_given(_C.at, "ats"),
        *(_C.at >= sa.bindparam("first"), _C.at <= sa.bindparam("last")),
        *([is_among_given(_C.bucket, "buckets")] if in_buckets else []),
    )


@cache
def _query(*, of_aas: bool, in_buckets: bool, times: bool) -> sa.Select[Any]:
    stored_times: sa.ColumnElement[bytes] = _C.times if times else sa.literal(b"").label("times")
    return (
        sa.select(_C.aa_id, _C.bucket, _C.at, _C.until, _C.tag, _C.numbers, stored_times)
        .where(*_conditions(of_aas=of_aas, in_buckets=in_buckets))
        .order_by(_C.bucket)
    )


@cache
def _spans_query(*, of_aas: bool, in_buckets: bool) -> sa.Select[Any]:
    conditions = _conditions(of_aas=of_aas, in_buckets=in_buckets)
    return sa.select(_C.aa_id, _C.tag, _C.at, _C.until).distinct().where(*conditions)
