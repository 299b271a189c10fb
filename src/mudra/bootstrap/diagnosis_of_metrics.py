"""The check of `mudra doctor` of the second database, which has the metrics."""

from datetime import timedelta
from typing import Final

import psycopg
import sqlalchemy as sa
from msgspec import Struct

from mudra.bootstrap.clock import ServiceClock
from mudra.bootstrap.dependencies import Dependencies
from mudra.overview.administration import Diagnosis
from mudra.shared.unavailable import DatabaseUnavailable
from mudra.storage.database.database import MAX_CONNECTIONS, Database
from mudra.storage.database.roles import excess_rights
from mudra.storage.database.running import running_processes
from mudra.storage.metrics.apart.tables import handover

_NAME: Final = "metrics database"
_MAX_CLOCK_OFFSET: Final = timedelta(seconds=1)
_MAX_WAIT: Final = timedelta(minutes=5)


class _Found(Struct, frozen=True):
    ahead: timedelta
    waited: timedelta
    connections: int


async def processes_at_most(dependencies: Dependencies) -> int:
    """Return how many processes of all nodes open connections: those that run, or this node's."""
    async with dependencies.database.transaction() as transaction:
        running = await running_processes(transaction)
    return max(running, dependencies.settings.workers + 1)


async def metrics_database(dependencies: Dependencies) -> Diagnosis:
    """It answers, by the same clock, and what it handed over has come to the first one."""
    own = dependencies.metrics.own
    assert own is not None, "there is one"
    try:
        found = await _ask(own)
    except DatabaseUnavailable as outage:
        return Diagnosis(
            _NAME,
            passed=False,
            text=f"{outage.sentence}: pushes and health pages answer 503, the rest goes on",
        )
    needed = await processes_at_most(dependencies) * MAX_CONNECTIONS
    faults = []
    if abs(found.ahead) >= _MAX_CLOCK_OFFSET:
        faults.append(f"its clock differs by {found.ahead.total_seconds():.1f} s: set up NTP")
    if found.waited > _MAX_WAIT:
        faults.append(
            f"what it handed over has waited for {found.waited.total_seconds() / 60:.0f} minutes: "
            "see the job metrics-handover"
        )
    if needed > found.connections:
        faults.append(
            f"all nodes open {needed} connections at most, it takes {found.connections}: raise "
            "max_connections"
        )
    with psycopg.connect(own.conninfo, connect_timeout=5) as connection:
        if excess := excess_rights(connection):
            faults.append(f"the service's role may {', '.join(excess)}: see mudra database prepare")
    return Diagnosis(_NAME, not faults, "; ".join(faults) or "answers, and nothing waits in it")


async def _ask(own: Database) -> _Found:
    machine = ServiceClock()
    async with own.transaction() as transaction:
        before = machine()
        now = sa.func.clock_timestamp()
        since = sa.select(sa.func.min(handover.c.noted_at)).scalar_subquery()
        row = (
            await transaction.connection.execute(
                sa.select(
                    now,
                    sa.func.coalesce(transaction.this_moment - since, timedelta()),
                    sa.func.current_setting("max_connections").cast(sa.Integer),
                )
            )
        ).one()
    return _Found(row[0] - before, row[1], row[2])
