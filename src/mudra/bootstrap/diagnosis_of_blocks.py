"""The check of `mudra doctor` of stored metrics: the latest blocks, and what a check found."""

from mudra.bootstrap.dependencies import Dependencies
from mudra.overview.administration import Diagnosis
from mudra.shared.time_text import iso_ms
from mudra.storage.metrics.blocks.checking import (
    CHECK_S,
    damaged_of_latest,
    last_check,
    still_damaged,
)

_NAME = "metrics blocks"
_SHOWN = 5


async def metrics_blocks(dependencies: Dependencies) -> Diagnosis:
    """Read some of the latest blocks, and tell what the last check of all found."""
    async with dependencies.database.transaction(within_s=CHECK_S) as transaction:
        await transaction.take_time(CHECK_S)
        latest = await damaged_of_latest(transaction)
        last = await last_check(transaction)
        known = await still_damaged(transaction, last) if last else ()
    checked = f"all were last checked at {iso_ms(last.at)}" if last else "never checked as a whole"
    if places := {one.place for one in latest} | {*known}:
        shown = "; ".join(sorted(one.words for one in places)[:_SHOWN])
        text = f"{len(places)} damaged ({checked}): {shown}: run mudra metrics remake --damaged"
        return Diagnosis(_NAME, passed=False, text=text)
    return Diagnosis(_NAME, passed=True, text=f"the latest are intact; {checked}, by metrics check")
