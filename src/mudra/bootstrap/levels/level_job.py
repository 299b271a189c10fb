"""The jobs of service levels and of notices about capacity, with the keys of this node."""

import asyncio
from datetime import timedelta
from typing import Final

from mudra.bootstrap.dependencies import Dependencies
from mudra.comparison.capacity import look_for_notices
from mudra.http.levels.signing import signing
from mudra.jobs.in_turn import InTurn
from mudra.jobs.scheduler import Job
from mudra.levels.budgets.budget_run import work_out_budgets
from mudra.levels.monthly import make_last_month
from mudra.levels.months import MADE_AT
from mudra.tokens.signing_keys.node_keys import NodeKeys

_DAY: Final = timedelta(days=1)
_BUDGETS_AT: Final = timedelta(hours=2, minutes=10)
"""07:40 in India: people read their alarms by day."""
_WEEK: Final = timedelta(days=7)
_NOTICES_AT: Final = timedelta(days=2, hours=2, minutes=40)
"""Mondays, as weeks of jobs begin on Saturdays: a forecast is of whole weeks."""
_LIMIT: Final = timedelta(hours=6)


def level_jobs(dependencies: Dependencies, turn: asyncio.Lock) -> list[Job]:
    """Returns the jobs; each share of FIPs of a job takes its `turn` among large work.

    Late reports and decisions change the last month, and a budget is that of a month.
    """
    found, of_many = dependencies, InTurn(dependencies.transaction, turn)
    keys = NodeKeys(
        *(found.database, found.invalidation, found.clock), found.settings.token_type_header
    )

    async def run() -> None:
        await keys.ready()
        await make_last_month(of_many, signing(keys))

    async def budgets() -> None:
        await work_out_budgets(of_many)

    async def notices() -> None:
        await look_for_notices(of_many)

    return [
        Job(name="level-reports", every=_DAY, offset=MADE_AT, run=run, limit=_LIMIT),
        Job(name="level-budgets", every=_DAY, offset=_BUDGETS_AT, run=budgets, limit=_LIMIT),
        Job(name="capacity-notices", every=_WEEK, offset=_NOTICES_AT, run=notices, limit=_LIMIT),
    ]
