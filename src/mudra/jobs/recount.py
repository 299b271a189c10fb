"""The recount of each night, in parts: one that fails stops no other."""

from collections.abc import Sequence
from typing import Final

import structlog

from mudra.jobs.telemetry import RECOUNT_PARTS, RECOUNTS
from mudra.metrics.maintenance import OpenMaintenance
from mudra.metrics.rollup.recount import Compared, RecountPart
from mudra.metrics.rollup.rollup_service import RECOUNTED_DAYS
from mudra.shared.unavailable import Outage, ServiceUnavailable

RECOUNT_S: Final = 300.0
_TRIES: Final = 2
MAX_FAILED: Final = 6
"""So many slow parts mean a slow database: the others wait for the next night as well."""
_OF_ONE_PART: Final = frozenset({Outage.TOO_SLOW, Outage.DISK_FULL, Outage.DAMAGED})
"""Other outages are of the database as a whole."""
_log = structlog.get_logger()


async def recount_days(open_work: OpenMaintenance, days: int = RECOUNTED_DAYS) -> None:
    """Compares sums of the last days with their reports; logs those that differ.

    A part that fails is tried once more after all others. One that fails again waits for the next
    night: this run does not begin again from its first part.
    """
    async with open_work(within_s=RECOUNT_S) as work:
        left = await work.rollups.recount_parts(work.now, days)
    for _ in range(_TRIES):
        left = await _recount_all(open_work, left)
    if left:
        RECOUNT_PARTS.labels("failed").inc(len(left))
        _log.error("sums were not compared with the reports", parts=len(left), **_facts(left[0]))


async def _recount_all(
    open_work: OpenMaintenance, parts: Sequence[RecountPart]
) -> Sequence[RecountPart]:
    """Returns the parts that failed; after some of them, also those that were not begun."""
    failed: list[RecountPart] = []
    for place, part in enumerate(parts):
        if len(failed) == MAX_FAILED:
            return [*failed, *parts[place:]]
        found = await _recount(open_work, part)
        if found is None:
            failed.append(part)
        else:
            _count(part, found)
    return failed


async def _recount(open_work: OpenMaintenance, part: RecountPart) -> Sequence[Compared] | None:
    """Compares a part; returns None where it fails."""
    try:
        async with open_work(within_s=RECOUNT_S) as work:
            return await work.rollups.recount(part)
    except Exception as error:
        if isinstance(error, ServiceUnavailable) and error.cause not in _OF_ONE_PART:
            raise
        _log.exception("a part of the recount failed", **_facts(part))
        return None


def _count(part: RecountPart, found: Sequence[Compared]) -> None:
    RECOUNT_PARTS.labels("compared").inc()
    for one in found:
        sums = one.sums
        RECOUNTS.labels(sums.grain, "equal").inc(one.cells - one.different)
        RECOUNTS.labels(sums.grain, "different").inc(one.different)
        if one.different:
            _log.error(
                "sums differ from the reports; they are made again",
                cells=one.cells,
                different=one.different,
                grain=sums.grain,
                at=sums.ats[0].isoformat(),
                aa_id=sums.aa_id or "all",
                fip_id=part.fip_id or "all",
            )


def _facts(part: RecountPart) -> dict[str, str]:
    return {
        "day": part.day.isoformat(),
        "aa_id": part.aa_id or "all",
        "fip_id": part.fip_id or "all",
    }
