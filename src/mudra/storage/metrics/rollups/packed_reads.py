"""Reads packed sums: those of hours and days, and which of the last hours' windows hold.

A row of sums names the reports that it is made of, each by its version. It holds where these are
the reports that are counted now, so that no one has to mark what a late or replaced report changes.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Collection, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from functools import cache
from typing import Any, Final

import sqlalchemy as sa
from msgspec import Struct
from msgspec.structs import replace

from mudra.metrics.payload.catalogue import Tag
from mudra.metrics.payload.held_reports import HeldState
from mudra.metrics.rollup.grain_selection import Rows, SeriesKey
from mudra.metrics.rollup.stale import ALL_AAS, WINDOWS_KEPT
from mudra.shared.recent_values import RecentValues
from mudra.storage.database.among import is_among_given
from mudra.storage.database.database import Transaction
from mudra.storage.metrics.copy_rows import short_tag
from mudra.storage.metrics.rollups.packed_rows import EVERY, OF_FIPS
from mudra.storage.metrics.rollups.packed_sums import add
from mudra.storage.metrics.rollups.sums import (
    Part,
    at_times,
    chosen_rows,
    times_given,
    within_times,
)
from mudra.storage.metrics.tables import (
    metrics_held,
    metrics_packed,
    metrics_receipt,
    metrics_window,
)

HEADER: Final = ""
"""The type of the row that says what the others of a window are made of."""
Versions = Mapping[SeriesKey, int]
"""The version of each report that is counted, by AA, tag and window."""
_C: Final = metrics_window.c
_R: Final = metrics_receipt.c
_H: Final = metrics_held.c
_OfTimes = Mapping[tuple[str, str], Mapping[datetime, str]]
"""The versions of rows, by short tag and type."""
_P: Final = metrics_packed.c
_TOGETHER: Final = 6
"""Rows that are unpacked at a time: 2,000 FIPs are some megabytes each as arrays."""
_HOURS_TOGETHER: Final = 40
"""Values of AAs' hours that are added up at a time: of 2,000 FIPs some 20 KB each."""
_added: Final = RecentValues[tuple[str, ...], bytes](64)
"""Sums of the rows with these versions, of which there are as many a day as APIs."""
_MAX_KEYS: Final = 2000
"""Raw rows of so many reports are looked up one by one where few rows of each are wanted."""


@cache
def _versions(*, of_aa: bool, of_tag: bool) -> sa.Select[Any]:
    held = sa.and_(_H.aa_id == _R.aa_id, _H.receipt_id == _R.receipt_id)
    return (
        sa.select(_R.aa_id, _R.tag, _R.window_at, sa.func.max(_R.version))
        .join_from(metrics_receipt, metrics_held, held, isouter=True)
        .where(
            at_times(_R.window_at),
            sa.or_(_H.state.is_(None), _H.state == HeldState.ADMITTED.value),
            *([_R.aa_id == sa.bindparam("aa_id")] if of_aa else []),
            *([_R.tag == sa.bindparam("tag")] if of_tag else []),
        )
        .group_by(_R.aa_id, _R.tag, _R.window_at)
    )


@cache
def _rows(*, of_tag: bool, of_types: bool, of_aas: bool) -> sa.Select[Any]:
    return sa.select(_C.aa_id, _C.tag, _C.window_at, _C.type, _C.made_of, _C.sums).where(
        at_times(_C.window_at),
        *([_C.tag == sa.bindparam("tag")] if of_tag else []),
        *([is_among_given(_C.type, "types")] if of_types else []),
        is_among_given(_C.aa_id, "aas") if of_aas else _C.aa_id != ALL_AAS,
    )


_PACKED_VERSIONS: Final = (
    sa.select(_P.tag, _P.type, _P.at, _P.version)
    .where(
        *(_P.aa_id == sa.bindparam("aa_id"), _P.kind == OF_FIPS),
        *(_P.grain == sa.bindparam("grain"), at_times(_P.at)),
        is_among_given(_P.tag, "tags"),
    )
    .order_by(_P.at)
)


class WindowRow(Struct, frozen=True):
    """The sums of one AA, or of all, and tag in one window, packed by type."""

    key: SeriesKey
    made_of: Mapping[str, int]
    types: Mapping[str, bytes]


class WindowSums:
    """Reads them in a transaction."""

    def __init__(self, transaction: Transaction) -> None:
        self._tx = transaction

    async def since(self, within: timedelta = WINDOWS_KEPT) -> datetime | None:
        """Returns the first window of the last hours with sums; None without any.

        Older ones are for charts, and of hours that are being summed, of one AA each.
        """
        kept = self._tx.this_moment - sa.literal(within, sa.Interval)
        oldest = sa.select(sa.func.date_trunc("hour", kept, "UTC")).scalar_subquery()
        first: datetime | None = await self._tx.connection.scalar(
            sa.select(sa.func.min(_C.window_at)).where(_C.window_at >= oldest)
        )
        return first

    async def versions(self, times: Collection[datetime], part: Part) -> Versions:
        """Returns the reports of these windows that are counted; a held one is not."""
        if not times:
            return {}
        query = _versions(of_aa=bool(part.aa_id), of_tag=part.tag is not None)
        values = {"aa_id": part.aa_id, "tag": part.tag and short_tag(part.tag)}
        found = await self._tx.connection.execute(query, {**times_given(times), **values})
        return {SeriesKey(aa_id, tag, at): version for aa_id, tag, at, version in found}

    async def rows(
        self, times: Collection[datetime], part: Part, aa_ids: Collection[str] | None = None
    ) -> Mapping[SeriesKey, WindowRow]:
        """Returns the sums of windows, of the types of a part; of these AAs where they are given.

        One statement: a row is never next to another one's header.
        """
        of = [part.aa_id] if part.aa_id is not None else aa_ids
        query = _rows(
            of_tag=part.tag is not None, of_types=part.types is not None, of_aas=of is not None
        )
        values = {
            "tag": part.tag and short_tag(part.tag),
            "types": [HEADER, *sorted(part.types or ())],
            "aas": sorted(of or ()),
        }
        found = await self._tx.connection.execute(query, {**times_given(times), **values})
        headers: dict[SeriesKey, Mapping[str, int]] = {}
        packed: dict[SeriesKey, dict[str, bytes]] = {}
        for aa_id, tag, at, type_, made_of, sums in found:
            key = SeriesKey(aa_id, tag, at)
            if type_ == HEADER:
                headers[key] = made_of
            else:
                packed.setdefault(key, {})[type_] = sums
        return {
            key: WindowRow(key, made_of, packed.get(key, {})) for key, made_of in headers.items()
        }

    async def headers(self, times: Collection[datetime], tag: Tag) -> Mapping[SeriesKey, WindowRow]:
        """Returns what the sums of each AA are made of, without them."""
        return await self.rows(times, Part(tag=tag, types=frozenset()))

    async def read(
        self, rows: Rows, part: Part, *, over_aas: bool
    ) -> tuple[Sequence[WindowRow], Rows]:
        """Returns the sums of windows that hold, and the rows that must be read raw.

        With `over_aas` they are those over all AAs where there are any.
        """
        if not rows.times and not rows.only:
            return (), rows
        if not over_aas and part.fip_id is not None:
            # Few rows of each report, which are looked up by its key.
            versions = chosen(await self.versions(times_of(rows), part), rows)
            return (), Rows(only=frozenset(versions)) if len(versions) <= _MAX_KEYS else rows
        return await self.read_since(await self.since(), rows, part, over_aas=over_aas)

    async def read_since(
        self, since: datetime | None, rows: Rows, part: Part, *, over_aas: bool
    ) -> tuple[Sequence[WindowRow], Rows]:
        """Returns the same, where no window before `since` is looked for among the sums."""
        recent, old = split_at(rows, since)
        times = times_of(recent)
        versions = chosen(await self.versions(times, part), recent)
        if not versions:
            return (), old
        left, found = dict(versions), list[WindowRow]()
        if over_aas:
            of_all = await self.rows(times, replace(part, aa_id=ALL_AAS))
            found += _of_all(of_all, versions, left)
        if left:
            by_aa = await self.rows({key.at for key in left}, part, {key.aa_id for key in left})
            for key, row in by_aa.items():
                if key in left and row.made_of == {key.aa_id: left[key]}:
                    del left[key]
                    found.append(row)
        return found, Rows(old.times, old.without, old.only | frozenset(left))


def split_at(rows: Rows, since: datetime | None) -> tuple[Rows, Rows]:
    """Returns the rows from this window on, and those before."""
    if since is None:
        return Rows(), rows

    def those(is_chosen: Callable[[datetime], bool]) -> Rows:
        only = frozenset(one for one in rows.only if is_chosen(one.at))
        return Rows(tuple(filter(is_chosen, rows.times)), rows.without, only)

    return those(lambda at: at >= since), those(lambda at: at < since)


def times_of(rows: Rows) -> frozenset[datetime]:
    """Returns all windows of these rows."""
    return frozenset(rows.times) | {one.at for one in rows.only}


def chosen(versions: Versions, rows: Rows) -> dict[SeriesKey, int]:
    """Returns the reports that these rows are of."""
    is_wanted = is_of(rows)
    return {key: version for key, version in versions.items() if is_wanted(key)}


def is_of(rows: Rows) -> Callable[[SeriesKey], bool]:
    """Returns what says whether a report, or a sum of an AA, is among these rows."""
    times = frozenset(rows.times)
    return lambda key: (key.at in times and key not in rows.without) or key in rows.only


def holds(made_of: Mapping[str, int], key: SeriesKey, versions: Versions) -> bool:
    """Returns whether the reports that a row is made of are the ones that are counted."""
    return all(
        versions.get(SeriesKey(aa_id, key.tag, key.at)) == version
        for aa_id, version in made_of.items()
    )


def _of_all(
    found: Mapping[SeriesKey, WindowRow], versions: Versions, left: dict[SeriesKey, int]
) -> Iterator[WindowRow]:
    for key, row in found.items():
        if holds(row.made_of, key, versions):
            for aa_id in row.made_of:
                del left[SeriesKey(aa_id, key.tag, key.at)]
            yield row


class PackedSums:
    """The packed sums of one AA, or over all, at some hours or days."""

    def __init__(self, tx: Transaction, grain: str, part: Part, versions: _OfTimes) -> None:
        """`find_packed` makes it."""
        self._tx, self._grain, self._part = tx, grain, part
        self._versions = versions

    async def together(self) -> Mapping[tuple[str, str], bytes]:
        """Returns the sums of all times by short tag and type.

        They are kept in memory until one of the times has other sums.
        """
        sums = {(tag, type_): await self._sum_of(tag, type_) for tag, type_ in self._series()}
        return {series: packed for series, packed in sums.items() if packed is not None}

    async def each(self) -> AsyncIterator[Sequence[WindowRow]]:
        """Returns the sums of each time, some at a time."""
        aa_id = self._part.aa_id or ALL_AAS
        for tag, type_ in self._series():
            async for rows in self._tx.in_parts(self._query(tag, type_), _TOGETHER):
                yield [
                    WindowRow(SeriesKey(aa_id, tag, row.at), {}, {type_: row.sums}) for row in rows
                ]

    def _series(self) -> Sequence[tuple[str, str]]:
        types = self._part.types
        return [
            (tag, type_)
            for tag, type_ in self._versions
            if type_ != EVERY and (types is None or type_ in types)
        ]

    async def _sum_of(self, tag: str, type_: str) -> bytes | None:
        if (kept := _added.get(tuple(self._versions[tag, type_].values()))) is not None:
            return kept
        made_of, total = list[str](), list[bytes]()
        async for rows in self._tx.in_parts(self._query(tag, type_), _TOGETHER):
            made_of += [row.version for row in rows]
            total = [await asyncio.to_thread(add, [*total, *(row.sums for row in rows)])]
        if not total:  # dropped since the versions were read, as all of that age are
            return None
        # Those of a later statement: others may have been written since the versions were read.
        _added.put(tuple(made_of), total[0])
        return total[0]

    def _query(self, tag: str, type_: str) -> sa.Select[tuple[datetime, str, bytes]]:
        aa_id, times = self._part.aa_id or ALL_AAS, sorted(self._versions[tag, type_])
        return (
            sa.select(_P.at, _P.version, _P.sums)
            .where(
                *(_P.aa_id == aa_id, _P.kind == OF_FIPS, _P.grain == self._grain),
                *(_P.tag == tag, _P.type == type_, within_times(_P.at, times)),
            )
            .order_by(_P.at)
        )


async def packed_by_type(
    tx: Transaction, grain: str, rows: Rows, part: Part
) -> AsyncIterator[tuple[str, str, bytes]]:
    """Gives short tag, type and the sums over the AAs of these rows, some values at a time."""
    async for some in _packed_of_aas(tx, grain, rows, part, _P.tag, _P.type):
        of_series: dict[tuple[str, str], list[bytes]] = {}
        for key, type_, sums in some:
            of_series.setdefault((key.tag, type_), []).append(sums)
        for (tag, type_), many in of_series.items():
            yield tag, type_, await asyncio.to_thread(add, many)


async def packed_by_aa(
    tx: Transaction, grain: str, rows: Rows, part: Part
) -> AsyncIterator[Sequence[WindowRow]]:
    """Gives the sums of each AA at these hours or days, some at a time."""
    async for some in _packed_of_aas(tx, grain, rows, part, _P.aa_id, _P.tag, _P.type):
        yield [WindowRow(key, {}, {type_: sums}) for key, type_, sums in some]


async def _packed_of_aas(
    tx: Transaction, grain: str, rows: Rows, part: Part, *order: sa.ColumnElement[str]
) -> AsyncIterator[Sequence[tuple[SeriesKey, str, bytes]]]:
    if not (rows.times or rows.only):
        return
    query: sa.Select[tuple[str, str, datetime, str, bytes]] = (
        sa.select(_P.aa_id, _P.tag, _P.at, _P.type, _P.sums)
        .where(
            *(_P.kind == OF_FIPS, _P.grain == grain, _P.type != EVERY),
            chosen_rows(metrics_packed, _P.at, rows),
            *part.of(metrics_packed),
        )
        .order_by(*order)
    )
    async for some in tx.in_parts(query, _HOURS_TOGETHER):
        yield [(SeriesKey(row.aa_id, row.tag, row.at), row.type, row.sums) for row in some]


async def find_packed(tx: Transaction, grain: str, rows: Rows, part: Part) -> PackedSums:
    """Finds the sums of one AA, or over all, of all FIPs at these hours or days."""
    aa_id = part.aa_id
    assert aa_id is not None, "of one AA, or over all"
    tags = [short_tag(tag) for tag in Tag if part.tag in {None, tag}]
    times = {SeriesKey(aa_id, tag, at) for tag in tags for at in rows.times}
    wanted = (times - rows.without) | {
        one for one in rows.only if one.aa_id == aa_id and one.tag in tags
    }
    if not wanted:
        return PackedSums(tx, grain, part, {})
    of_aa = {"aa_id": aa_id, "grain": grain, "tags": tags}
    of_times = times_given({one.at for one in wanted})
    found = await tx.connection.execute(_PACKED_VERSIONS, of_aa | of_times)
    versions: dict[tuple[str, str], dict[datetime, str]] = {}
    for tag, type_, at, version in found:
        if SeriesKey(aa_id, tag, at) in wanted:
            versions.setdefault((tag, type_), {})[at] = version
    return PackedSums(tx, grain, part, versions)
