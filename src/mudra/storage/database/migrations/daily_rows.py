"""Fills `metrics_daily` from the days over all AAs that are stored (revision 0027).

A damaged day is left out: its rows come when it is made again.
"""

from typing import Final

import sqlalchemy as sa
import structlog

from mudra.metrics.payload.catalogue import window_number
from mudra.metrics.sums.block_bytes import DamagedBlock, decoded
from mudra.metrics.sums.cells import Names
from mudra.storage.metrics.blocks.sums.daily import OF_SERIES, daily_rows
from mudra.storage.tables.metrics import metrics_daily
from mudra.storage.tables.metrics_blocks import metrics_block

_C: Final = metrics_block.c
_DAYS: Final = (
    sa.select(_C.at, _C.bucket, _C.numbers, _C.times)
    .where(
        *(_C.aa_id == OF_SERIES.aa_id, _C.grain == OF_SERIES.grain.value),
        _C.tag == OF_SERIES.tag,
    )
    .order_by(_C.at, _C.bucket)
)
_TOGETHER: Final = 16
_log = structlog.get_logger()


def fill(connection: sa.Connection) -> None:
    """Adds the rows of all days."""
    found = connection.execute(_DAYS, execution_options={"yield_per": _TOGETHER})
    for row in found:
        names = Names()
        try:
            cells = decoded(row.numbers, row.times, names, 0, window_number(row.at))
        except DamagedBlock as problem:
            _log.error(
                "a block of metrics is damaged: its days are not in metrics_daily",
                at=row.at.isoformat(),
                bucket=row.bucket,
                problem=str(problem),
            )
            continue
        columns = metrics_daily.c.keys()
        rows = [dict(zip(columns, one, strict=True)) for one in daily_rows(cells, names.ids)]
        if rows:
            connection.execute(sa.insert(metrics_daily), rows)
