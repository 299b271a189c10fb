"""Keeps `metrics_daily`: the requests to each FIP by day, over all AAs, as plain rows for SQL.

Its rows are written with the day over all AAs of which they are made, in one transaction.
"""

from collections.abc import Iterator, Sequence
from datetime import date, datetime
from itertools import repeat
from typing import Final

import sqlalchemy as sa

from mudra.metrics.payload.catalogue import FIRST_4XX, FIRST_5XX, Position, window_at
from mudra.metrics.rollup.stale import ALL_AAS
from mudra.metrics.sums.cells import COUNTS, TYPES, Cells, across
from mudra.metrics.sums.table_rows import times_of
from mudra.storage.database.transaction import Transaction
from mudra.storage.metrics.blocks.grain import REQ, Grain
from mudra.storage.metrics.blocks.writing import Series
from mudra.storage.tables.metrics import metrics_daily

DailyRow = tuple[date, str, str, int, int, int, int, int | None, int | None, int | None]
"""In the order of the columns of the table."""
COPY: Final = f"COPY metrics_daily ({', '.join(metrics_daily.c.keys())}) FROM STDIN"
OF_SERIES: Final = Series(ALL_AAS, Grain.DAY, REQ)
"""The sums of which the rows are made."""
_D: Final = metrics_daily.c


def daily_rows(cells: Cells, ids: Sequence[str]) -> Iterator[DailyRow]:
    """Yields the rows of days over all AAs, timings included."""
    days = {at: window_at(at).date() for at in set(cells.keys["at"].tolist())}
    rows = len(cells)
    p50, p95, p99, _ = times_of(cells) if cells.rises is not None else repeat([None] * rows, 4)
    return zip(
        (days[at] for at in cells.keys["at"].tolist()),
        (ids[place] for place in cells.keys["fip"].tolist()),
        (TYPES[place] for place in cells.keys["type"].tolist()),
        cells.of(COUNTS[Position.TOTAL]).tolist(),
        cells.of(COUNTS[Position.OK_200]).tolist(),
        _errors(cells, FIRST_4XX, FIRST_5XX),
        _errors(cells, FIRST_5XX, len(COUNTS)),
        p50,
        p95,
        p99,
        strict=True,
    )


async def replace_daily(tx: Transaction, day: datetime, rows: Sequence[DailyRow]) -> None:
    """Stores the rows of a day in place of those that are there."""
    await tx.connection.execute(sa.delete(metrics_daily).where(_D.day == day.date()))
    async with tx.copying(COPY) as copy:
        for row in rows:
            await copy.write_row(row)


def _errors(cells: Cells, first: int, end: int) -> list[int]:
    counted: list[int] = across([cells.of(name) for name in COUNTS[first:end]], len(cells)).tolist()
    return counted
