"""Counts raw rows again, in SQL alone, and compares them with the sums.

The sums are computed in Python, this count in SQL: the comparison finds an error in either.
"""

from datetime import datetime
from typing import Final

import sqlalchemy as sa

from mudra.metrics.rollup.stale import DAY, Recount
from mudra.storage.database.database import Transaction
from mudra.storage.metrics.partitions import RAW, has_partition

RECOUNT_S: Final = 600.0
_COUNTS: Final = "ARRAY[" + ", ".join(f"sum(counts[{n}])" for n in range(1, 16)) + "]"
_STATUSES: Final = "ARRAY[" + ", ".join(f"coalesce(sum(status[{n}]), 0)" for n in range(1, 8)) + "]"
_RECOUNT: Final = f"""
WITH plain AS (
  SELECT date_trunc(:grain, window_at, 'UTC') AS at,
         coalesce(metrics_raw.aa_id, '') AS aa_id, tag, fip_id, type,
         count(*) AS blocks, {_COUNTS} AS counts, {_STATUSES} AS statuses,
         coalesce(sum(data_bytes), 0) AS data_bytes,
         max(CASE WHEN counts[2] + counts[3] + counts[4] + counts[5] + counts[6] + counts[7]
             + counts[8] + counts[9] + counts[10] + counts[11] + counts[12] + counts[13]
             + counts[14] + counts[15] > 0 THEN coalesce(pxx[4], 0) ELSE 0 END) AS longest
  FROM metrics_raw WHERE window_at >= :start AND window_at < :end
  GROUP BY GROUPING SETS ((1, metrics_raw.aa_id, tag, fip_id, type), (1, tag, fip_id, type))),
kept AS (
  SELECT at, aa_id, tag, fip_id, type, blocks, counts::numeric[], statuses::numeric[],
         data_bytes, longest
  FROM {{table}} WHERE at >= :start AND at < :end)
SELECT count(*), count(*) FILTER (WHERE
  (p.blocks, p.counts, p.statuses, p.data_bytes, p.longest)
  IS DISTINCT FROM (k.blocks, k.counts, k.statuses, k.data_bytes, k.longest))
FROM plain p FULL JOIN kept k USING (at, aa_id, tag, fip_id, type)
WHERE NOT EXISTS (SELECT FROM metrics_stale s
  WHERE s.grain <> 'window'
  AND coalesce(p.aa_id, k.aa_id) IN (s.aa_id, '') AND s.tag = coalesce(p.tag, k.tag)
  AND s.at >= date_trunc('day', at, 'UTC') AND s.at < date_trunc('day', at, 'UTC') + '1 day')
"""  # noqa: S608  # of constants only; values are bound
_TABLES: Final = {"hour": "metrics_hour", "day": "metrics_day"}


async def recount(tx: Transaction, day: datetime) -> list[Recount]:
    """Compares the sums of a day with its raw rows; stale hours and days are left out.

    Nothing for a day without a partition of raw rows: retention dropped it, and the sums stay.
    """
    await tx.connection.execute(sa.text(f"SET LOCAL statement_timeout = '{RECOUNT_S:.0f}s'"))
    found = []
    for grain, table in _TABLES.items():
        row = (
            await tx.connection.execute(
                sa.text(_RECOUNT.format(table=table)),
                {"grain": grain, "start": day, "end": day + DAY},
            )
        ).one()
        found.append(Recount(grain, row[0], row[1]))
    # Asked after they were counted: what is kept now was kept then.
    return found if await has_partition(tx, RAW, day) else []


async def mark_day_stale(tx: Transaction, day: datetime) -> None:
    """Marks all sums of a day as stale, also those without raw rows."""
    await tx.connection.execute(
        sa.text(
            "INSERT INTO metrics_stale (grain, aa_id, tag, at)"
            " SELECT DISTINCT 'hour', aa_id, tag, date_trunc('hour', window_at, 'UTC')"
            " FROM metrics_raw WHERE window_at >= :start AND window_at < :end"
            " UNION SELECT DISTINCT 'hour', aa_id, tag, at FROM metrics_hour"
            " WHERE at >= :start AND at < :end"
            " UNION SELECT DISTINCT 'day', aa_id, tag, at FROM metrics_day WHERE at = :start"
        ),
        {"start": day, "end": day + DAY},
    )
