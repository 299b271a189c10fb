"""Counts raw rows again, in SQL alone, and compares them with the sums.

The sums are computed in Python, this count in SQL: the comparison finds an error in either. Each
part is one statement, so that rows, sums and stale marks are those of one moment.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

import sqlalchemy as sa

from mudra.metrics.payload.catalogue import day_start
from mudra.metrics.rollup.recount import Compared, RecountPart
from mudra.metrics.rollup.stale import ALL_AAS, DAY, HOUR, Stale
from mudra.storage.database.database import Transaction
from mudra.storage.metrics.copy_rows import long_tag
from mudra.storage.metrics.partitions import RAW, has_partition

RECOUNT_S: Final = 300.0
"""The time limit of one part; at a nation's size it takes half a minute."""
_COUNTS: Final = range(1, 16)
_STATUSES: Final = range(1, 8)
_CELL: Final = "tag, fip_id, type"


def _each(sums: str, numbers: range) -> str:
    return "ARRAY[" + ", ".join(sums.format(n) for n in numbers) + "]"


_OF_RAW: Final = f"""
  count(*) AS blocks, {_each("sum(counts[{}])", _COUNTS)} AS counts,
  {_each("coalesce(sum(status[{}]), 0)", _STATUSES)} AS statuses,
  coalesce(sum(data_bytes), 0) AS data_bytes,
  max(CASE WHEN {" + ".join(f"counts[{n}]" for n in _COUNTS[1:])} > 0
      THEN coalesce(pxx[4], 0) ELSE 0 END) AS longest
FROM metrics_raw WHERE window_at >= :start AND window_at < :end"""
_KEPT: Final = (
    f"SELECT aa_id, {_CELL}, blocks, counts::numeric[], statuses::numeric[], data_bytes, longest"
)
_HOUR: Final = f"""
plain AS (
  SELECT coalesce(metrics_raw.aa_id, '') AS aa_id, {_CELL}, {_OF_RAW}
  GROUP BY GROUPING SETS ((metrics_raw.aa_id, {_CELL}), ({_CELL}))),
kept AS ({_KEPT} FROM metrics_hour WHERE at = :start),
stale AS (
  SELECT aa_id, tag FROM metrics_stale WHERE grain = 'hour' AND at = :start
  UNION SELECT '', tag FROM metrics_stale WHERE grain = 'hour' AND at = :start)
"""  # noqa: S608  # of constants only; values are bound
_DAY_OF_AA: Final = f"""
plain AS (
  SELECT aa_id, {_CELL}, {_OF_RAW} AND aa_id = :aa_id GROUP BY aa_id, {_CELL}),
kept AS ({_KEPT} FROM metrics_day WHERE at = :start AND aa_id = :aa_id),
stale AS (
  SELECT aa_id, tag FROM metrics_stale
  WHERE grain <> 'window' AND aa_id = :aa_id AND at >= :start AND at < :end)
"""  # noqa: S608
_DAY_OVER_AAS: Final = f"""
plain AS (
  SELECT '' AS aa_id, {_CELL}, sum(blocks) AS blocks,
    {_each("sum(counts[{}])", _COUNTS)} AS counts,
    {_each("sum(statuses[{}])", _STATUSES)} AS statuses,
    sum(data_bytes) AS data_bytes, max(longest) AS longest
  FROM metrics_day WHERE at = :start AND aa_id <> '' GROUP BY {_CELL}),
kept AS ({_KEPT} FROM metrics_day WHERE at = :start AND aa_id = ''),
stale AS (
  SELECT '' AS aa_id, tag FROM metrics_stale
  WHERE at >= :start AND at < :end AND (grain = 'day' OR grain = 'hour' AND aa_id <> ''))
"""  # noqa: S608
_COMPARE: Final = f"""
SELECT aa_id, tag, count(*), count(*) FILTER (WHERE
  (p.blocks, p.counts, p.statuses, p.data_bytes, p.longest)
  IS DISTINCT FROM (k.blocks, k.counts, k.statuses, k.data_bytes, k.longest))
FROM plain p FULL JOIN kept k USING (aa_id, {_CELL})
WHERE (aa_id, tag) NOT IN (SELECT aa_id, tag FROM stale)
GROUP BY aa_id, tag ORDER BY aa_id, tag
"""  # noqa: S608
_AAS: Final = """
SELECT aa_id FROM metrics_receipt WHERE window_at >= :start AND window_at < :end
UNION SELECT aa_id FROM metrics_day WHERE at = :start AND aa_id <> ''
ORDER BY aa_id
"""


async def aas_of(tx: Transaction, day: datetime) -> Sequence[str] | None:
    """Returns the AAs that have reports or sums of a day; None without a partition of raw rows.

    Retention dropped it then, and the sums stay.
    """
    await _take_time(tx)
    found = await tx.connection.scalars(sa.text(_AAS), {"start": day, "end": day + DAY})
    return list(found) if await has_partition(tx, RAW, day) else None


async def recount(tx: Transaction, part: RecountPart) -> Sequence[Compared]:
    """Compares sums with what they are made of; those that are stale are left out.

    Nothing where retention has dropped the raw rows meanwhile.
    """
    await _take_time(tx)
    length = HOUR if part.grain == "hour" else DAY
    values: dict[str, object] = {"start": part.at, "end": part.at + length}
    if part.grain == "hour":
        both = _HOUR
    elif part.aa_id == ALL_AAS:
        both = _DAY_OVER_AAS
    else:
        both, values["aa_id"] = _DAY_OF_AA, part.aa_id
    rows = await tx.connection.execute(sa.text(f"WITH {both} {_COMPARE}"), values)
    found = [
        Compared(Stale(part.grain, aa_id, long_tag(tag), (part.at,)), number, different)
        for aa_id, tag, number, different in rows
    ]
    # Asked after they were counted: what is kept now was kept then.
    return found if await has_partition(tx, RAW, day_start(part.at)) else []


async def _take_time(tx: Transaction) -> None:
    # A plan for any hour or day would look at, and lock, the partitions of all days.
    limits = {"statement_timeout": f"{RECOUNT_S:.0f}s", "plan_cache_mode": "force_custom_plan"}
    await tx.connection.execute(
        sa.select(*(sa.func.set_config(name, value, sa.true()) for name, value in limits.items()))
    )
