"""Reads the sums of pairs: for the matrix, and for who is outvoted in the status of a FIP."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from sys import intern
from typing import Any, Final

import sqlalchemy as sa
from msgspec.structs import fields
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.engine import RowMapping

from mudra.metrics.health.health import GOOD_ABOVE_PERCENT
from mudra.metrics.payload.catalogue import TIMINGS, Tag
from mudra.metrics.payload.report import RequestBlock
from mudra.metrics.ports import Pair
from mudra.metrics.rollup.grain_selection import Rows, Sources
from mudra.metrics.rollup.pair import (
    ALL_CALLS,
    PairSums,
    add_pairs,
    is_good_in_sums,
    pair_sums_of,
)
from mudra.storage.database.database import Transaction
from mudra.storage.metrics.rollups.raw_pairs import late_blocks_query, soon_pairs_query
from mudra.storage.metrics.rollups.sums import Part, block_of, chosen_rows
from mudra.storage.metrics.rollups.window_sums import WindowSums, chosen, split_at, times_of
from mudra.storage.metrics.tables import (
    metrics_pair_day,
    metrics_pair_hour,
    metrics_pair_window,
    metrics_raw,
)

_PAIR_SUMS: Final = tuple(field.name for field in fields(PairSums))
_TIMING_CODES: Final = [str(code) for code in TIMINGS]
_Sums = Mapping[Pair, PairSums]
_Chosen = Sequence[tuple[sa.Table, Rows]]


class PairQueries:
    """Reads them in a transaction."""

    def __init__(self, transaction: Transaction) -> None:
        self._tx = transaction
        self._windows = WindowSums(transaction)

    async def sums(self, used: Sources, codes: Collection[str]) -> _Sums:
        """Returns the sums of each pair, over some types of request together or all calls."""
        tables, raw = await self._tables(used)
        found = await self._raw(raw, codes)
        if tables:
            rows = (await self._tx.connection.execute(_sums_query(tables, codes))).mappings()
            _add(found, ((_pair_of(row), _sums_of(row)) for row in rows))
        return found

    async def contested(self, used: Sources, codes: Collection[str]) -> Mapping[str, _Sums]:
        """Returns by type the pairs of the FIPs of which not every AA sees good calls.

        One statement for all types: those that are left out are most, and are never sent.
        """
        tables, raw = await self._tables(used)
        found = {code: await self._raw(raw, (code,)) for code in codes}
        names = {
            (code, pair.fip_id)
            for code, pairs in found.items()
            for pair, sums in pairs.items()
            if not is_good_in_sums(sums)
        }
        if tables:
            query = _contested_query(tables, codes, names)
            for row in (await self._tx.connection.execute(query)).mappings():
                names.add((row["type"], row["fip_id"]))
                _add(found[row["type"]], [(_pair_of(row), _sums_of(row))])
        return {
            code: {pair: sums for pair, sums in pairs.items() if (code, pair.fip_id) in names}
            for code, pairs in found.items()
        }

    async def _tables(self, used: Sources) -> tuple[_Chosen, Rows]:
        """Returns the rows of each table of sums, and the windows that must be read raw."""
        summed, raw = await self._summed(used.windows)
        every = (
            (metrics_pair_day, used.days),
            (metrics_pair_hour, used.hours),
            (metrics_pair_window, summed),
        )
        return [(table, rows) for table, rows in every if rows.times or rows.only], raw

    async def _summed(self, rows: Rows) -> tuple[Rows, Rows]:
        """Returns the windows with sums for the matrix that hold, and those to be read raw."""
        recent, old = split_at(rows, await self._windows.since())
        times = times_of(recent)
        if not times:
            return Rows(), old
        part = Part(tag=Tag.REQUESTS)
        versions = chosen(await self._windows.versions(times, part), recent)
        made = await self._windows.headers(times, Tag.REQUESTS)
        good = {
            key
            for key, row in made.items()
            if key in versions and row.made_of == {key.aa_id: versions[key]}
        }
        return Rows(only=frozenset(good)), Rows(
            old.times, old.without, old.only | (versions.keys() - good)
        )

    async def _raw(self, windows: Rows, codes: Collection[str]) -> dict[Pair, PairSums]:
        found: dict[Pair, PairSums] = {}
        if windows.times or windows.only:
            raw = _raw_pairs(windows, codes)
            result = await self._tx.connection.execute(soon_pairs_query(raw))
            _add(found, ((_pair_of(row), _sums_of(row)) for row in result.mappings()))
            result = await self._tx.connection.execute(late_blocks_query(raw))
            blocks: dict[Pair, list[RequestBlock]] = defaultdict(list)
            for row in result.mappings():
                block = block_of(row)
                assert isinstance(block, RequestBlock)  # the query selects request metrics
                blocks[_pair_of(row)].append(block)
            _add(found, ((pair, pair_sums_of(held)) for pair, held in blocks.items()))
        return found


def _every(tables: _Chosen, codes: Collection[str]) -> sa.Subquery:
    """Returns the rows of all tables."""
    return sa.union_all(
        *(
            sa.select(
                table.c.type, table.c.aa_id, table.c.fip_id, *(table.c[n] for n in _PAIR_SUMS)
            )
            .where(table.c.type == sa.any_(sa.literal(sorted(codes))))
            .where(chosen_rows(table, table.c.at, rows))
            for table, rows in tables
        )
    ).subquery()


def _summed(rows: sa.Subquery, *key: str) -> sa.Select[tuple[object, ...]]:
    c = rows.c
    columns: list[sa.ColumnElement[Any]] = [c[name] for name in key]
    for name in _PAIR_SUMS:
        of: sa.ColumnElement[Any] = sa.func.max(c[name])
        columns.append((of if name == "longest" else sa.func.sum(c[name])).label(name))
    return sa.select(*columns).group_by(*(c[name] for name in key))


def _sums_query(tables: _Chosen, codes: Collection[str]) -> sa.Select[tuple[object, ...]]:
    return _summed(_every(tables, codes), "aa_id", "fip_id")


def _contested_query(
    tables: _Chosen, codes: Collection[str], names: Collection[tuple[str, str]]
) -> sa.Select[tuple[object, ...]]:
    """Returns the query for the pairs of `names`, and of all in which `is_good_in_sums` fails."""
    s = _summed(_every(tables, codes), "type", "aa_id", "fip_id").cte().c
    good = sa.and_(
        s.succeeded * 100 > (s.total - s.client_errors) * GOOD_ABOVE_PERCENT,
        s.soon_lower * 2 >= s.answered,
        s.soon_upper * 2 >= s.answered,
    )
    contested = (
        sa.select(s.type, s.fip_id).group_by(s.type, s.fip_id).having(~sa.func.bool_and(good))
    )
    of = sa.tuple_(s.type, s.fip_id)
    wanted: sa.ColumnElement[bool] = of.in_(contested)
    columns = [sa.literal(list(one), ARRAY(sa.Text)) for one in zip(*names, strict=True)]
    if columns:
        named = sa.func.unnest(*columns).table_valued("type", "fip_id").render_derived()
        wanted = sa.or_(wanted, of.in_(sa.select(*named.c)))
    return sa.select(*s).where(wanted)


def _raw_pairs(rows: Rows, codes: Collection[str]) -> sa.ColumnElement[bool]:
    c = metrics_raw.c
    wanted: sa.ColumnElement[bool] = c.type.not_in(_TIMING_CODES)
    if ALL_CALLS not in codes:
        wanted = c.type == sa.any_(sa.literal(sorted(codes)))
    part = Part(tag=Tag.REQUESTS)
    return sa.and_(chosen_rows(metrics_raw, c.window_at, rows), wanted, *part.of(metrics_raw))


def _pair_of(row: RowMapping) -> Pair:
    # One text for all rows of an ID: 80,000 pairs of a nation would have 9 MB of copies.
    return Pair(intern(row["aa_id"]), intern(row["fip_id"]))


def _sums_of(row: RowMapping) -> PairSums:
    # Sums of bigint are numeric to PostgreSQL.
    return PairSums(*(int(row[name]) for name in _PAIR_SUMS))


def _add(found: dict[Pair, PairSums], parts: Iterable[tuple[Pair, PairSums]]) -> None:
    for pair, sums in parts:
        previous = found.get(pair)
        found[pair] = add_pairs(previous, sums) if previous else sums
