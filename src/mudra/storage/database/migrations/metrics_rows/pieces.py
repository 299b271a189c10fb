"""Converts a piece of the rows: the day of an AA, or a day of all, in the caller's transaction."""

from collections import defaultdict
from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import groupby
from operator import itemgetter
from typing import Any, Final

from psycopg.sql import SQL, Composed

from mudra.metrics.health.weighing import seen_by_most
from mudra.metrics.payload.catalogue import window_number
from mudra.metrics.sums.adding import RunningSum, added
from mudra.metrics.sums.block_bytes import decoded
from mudra.metrics.sums.cells import Names
from mudra.metrics.sums.totals import Totals
from mudra.storage.database.migrations.metrics_rows.old_rows import (
    RawRow,
    SumsRow,
    held_buckets,
    raw_cells,
    sums_cells,
)
from mudra.storage.database.migrations.metrics_rows.sources import Connection, Part
from mudra.storage.database.migrations.metrics_rows.writing import (
    BY,
    Block,
    Series,
    blocks_of,
    put,
    put_previous,
    sums_of,
)

_TOGETHER: Final = 5_000
"""Rows that are fetched together: some megabytes."""
_CHARTS_KEPT: Final = timedelta(hours=9)
"""Windows of so long ago have sums over all AAs, which a job makes."""
_BLOCK: Final = SQL("tag, fip_id, type, counts, pxx, status, data_bytes")
_SUMS: Final = SQL("tag, fip_id, type, blocks, counts, statuses, data_bytes, distribution, longest")
_Row = tuple[Any, ...]


def convert_reports(connection: Connection, part: Part, aa_id: str) -> None:
    """Converts the reports of an AA of a day, and makes its sums by hour and by day of them."""
    names, blocks, stale = Names(), list[Block](), set[tuple[str, datetime]]()
    query = SQL("SELECT window_at, {} FROM {} WHERE aa_id = %s ORDER BY window_at, tag").format(
        _BLOCK, part.named
    )
    days: dict[str, RunningSum] = defaultdict(lambda: RunningSum(BY))
    newest = _newest(connection)
    reports = groupby(_rows(connection, query, aa_id), itemgetter(0, 1))
    for hour, of_hour in groupby(reports, _hour_of):
        windows: dict[str, RunningSum] = defaultdict(lambda: RunningSum(BY))
        for (at, tag), rows in of_hour:
            cells = raw_cells([RawRow(*row) for _, *row in rows], window_number(at), names)
            blocks += blocks_of(Series(aa_id, "window", tag), at, cells, names)
            windows[tag].add(cells)
            if at >= newest:
                stale.add((tag, at))
        for tag, of_windows in windows.items():
            sums = of_windows.total()
            blocks += sums_of(Series(aa_id, "hour", tag), hour, sums, names)
            days[tag].add(sums)
    for tag, of_hours in days.items():
        blocks += sums_of(Series(aa_id, "day", tag), part.begin, of_hours.total(), names)
    put(connection, blocks)
    for tag, at in sorted(stale):
        connection.execute(
            "INSERT INTO metrics_stale (grain, aa_id, tag, at) VALUES ('window', '', %s, %s)",
            [tag, at],
        )


def convert_previous(connection: Connection, part: Part, aa_id: str) -> None:
    """Converts the reports of an AA of a day that were replaced."""
    names, found = Names(), list[tuple[Block, int]]()
    query = SQL(
        "SELECT window_at, tag, version, {} FROM {} WHERE aa_id = %s"
        " ORDER BY window_at, tag, version"
    ).format(_BLOCK, part.named)
    for (at, tag, version), rows in groupby(_rows(connection, query, aa_id), itemgetter(0, 1, 2)):
        cells = raw_cells([RawRow(*row) for _, _, _, *row in rows], window_number(at), names)
        series = Series(aa_id, "window", tag)
        found += [(one, version) for one in blocks_of(series, at, cells, names)]
    put_previous(connection, found)


def convert_hours(connection: Connection, part: Part, aa_id: str, day: datetime) -> None:
    """Converts the sums by hour of an AA of a day."""
    query = SQL(
        "SELECT at, {} FROM {} WHERE aa_id = %s AND at >= %s AND at < %s ORDER BY at, tag"
    ).format(_SUMS, part.named)
    blocks: list[Block] = []
    names = Names()
    rows = _rows(connection, query, aa_id, day, day + timedelta(days=1))
    for (at, tag), of_hour in groupby(rows, itemgetter(0, 1)):
        cells = sums_cells([SumsRow(*row) for _, *row in of_hour], window_number(at), names)
        blocks += sums_of(Series(aa_id, "hour", tag), at, cells, names)
    put(connection, blocks)


def convert_day(connection: Connection, part: Part, day: datetime) -> None:
    """Converts the sums of a day of each AA but those that were made of its reports."""
    made = set(
        connection.execute(
            "SELECT DISTINCT aa_id, tag FROM metrics_block WHERE grain = 'day' AND at = %s", [day]
        ).fetchall()
    )
    query = SQL(
        "SELECT aa_id, {} FROM {} WHERE aa_id <> '' AND at = %s ORDER BY aa_id, tag"
    ).format(_SUMS, part.named)
    blocks: list[Block] = []
    for key, rows in groupby(_rows(connection, query, day), itemgetter(0, 1)):
        if key not in made:
            names, (aa_id, tag) = Names(), key
            cells = sums_cells([SumsRow(*row) for _, *row in rows], window_number(day), names)
            blocks += sums_of(Series(aa_id, "day", tag), day, cells, names)
    put(connection, blocks)


def add_over_aas(connection: Connection, grain: str, day: datetime) -> None:
    """Makes the sums over all AAs of a day, with what most of them see of it, or of its hours."""
    names, blocks = Names(), list[Block]()
    query = SQL(
        "SELECT at, tag, numbers, times FROM metrics_block WHERE grain = %s AND aa_id <> ''"
        " AND tag IN ('req', 'not') AND at >= %s AND at < %s ORDER BY at, tag"
    )
    rows = _rows(connection, query, grain, day, day + timedelta(days=1), together=64)
    for (at, tag), of_time in groupby(rows, itemgetter(0, 1)):
        number = window_number(at)
        of_aas = RunningSum(BY)
        for _, _, numbers, times in of_time:
            of_aas.add(decoded(numbers, times, names, 0, number))
        blocks += sums_of(Series("", grain, tag), at, of_aas.total(), names)
    if grain == "day":
        blocks += _seen(connection, day)
    put(connection, blocks)


def _seen(connection: Connection, day: datetime) -> Iterator[Block]:
    names, number = Names(), window_number(day)
    query = SQL(
        "SELECT aa_id, numbers FROM metrics_block WHERE grain = 'day' AND tag = 'all' AND at = %s"
    )
    of_each = [
        decoded(numbers, None, names, names.place(aa_id), number)
        for aa_id, numbers in _rows(connection, query, day, together=64)
    ]
    seen = seen_by_most(Totals(added(of_each, ("aa", "fip"), times=False), names.ids))
    return blocks_of(Series("", "day", "seen"), day, seen.cells, names, 1)


def convert_held(connection: Connection, aa_id: str, receipt_id: str) -> None:
    """Converts a report that was held."""
    key = [aa_id, receipt_id]
    row = connection.execute(
        "SELECT rows FROM metrics_held WHERE aa_id = %s AND receipt_id = %s", key
    ).fetchone()
    assert row is not None
    connection.execute(
        "UPDATE metrics_held SET buckets = %s, rows = '' WHERE aa_id = %s AND receipt_id = %s",
        [held_buckets(row[0]), *key],
    )


def _newest(connection: Connection) -> datetime:
    row = connection.execute("SELECT now() - %s", [_CHARTS_KEPT]).fetchone()
    assert row is not None
    since: datetime = row[0]
    return since


def _hour_of(report: tuple[tuple[datetime, str], object]) -> datetime:
    return report[0][0].replace(minute=0)


def _rows(
    connection: Connection, query: SQL | Composed, *values: object, together: int = _TOGETHER
) -> Iterator[_Row]:
    with connection.cursor("rows", binary=True) as cursor:
        cursor.execute(query, values)
        while some := cursor.fetchmany(together):
            yield from some
