"""What the jobs process does for network metrics, one transaction for each step."""

import contextlib
from collections.abc import AsyncIterator
from datetime import datetime, timedelta
from typing import Final

import structlog

from mudra.bootstrap.dependencies import Dependencies
from mudra.bootstrap.telemetry import RECOUNTS, SUMS_MADE, WEBHOOK_MESSAGES
from mudra.jobs.deliver_webhooks import deliver_messages
from mudra.jobs.metrics_watch import forget, watch
from mudra.jobs.scheduler import Job
from mudra.storage.metrics.alarms import WEBHOOKS_CHANGED, PostgresWebhooks
from mudra.storage.metrics.partitions import (
    FORMER,
    HOURS,
    PAIR_HOURS,
    RAW,
    day_of,
    drop_before,
    make_ahead,
)
from mudra.storage.metrics.receipts import forget_receipts
from mudra.storage.metrics.recount import RECOUNT_S, mark_stale, recount
from mudra.storage.metrics.rollups import WORK_S, make_anew, next_stale

RECOUNTED_DAYS: Final = 9
"""A window may come 7 days late, so days stay open to change for that long."""
_log = structlog.get_logger()


def metrics_jobs(dependencies: Dependencies) -> list[Job]:
    """Return the jobs for network metrics: rollups, partitions, incidents, webhooks."""
    # A dashboard shows "no data" for a counter that never counted, where 0 is meant.
    for grain in ("hour", "day"):
        for outcome in ("equal", "different"):
            RECOUNTS.labels(grain, outcome).inc(0)

    async def roll_up() -> None:
        await make_all_sums(dependencies, patient=True)

    async def make_partitions() -> None:
        async with dependencies.database.transaction() as transaction:
            await make_ahead(transaction)

    async def drop_old() -> None:
        await drop_old_partitions(dependencies)
        await forget(dependencies)

    async def count_anew() -> None:
        await recount_days(dependencies)

    async def look() -> None:
        await watch(dependencies)

    @contextlib.asynccontextmanager
    async def open_webhooks() -> AsyncIterator[tuple[PostgresWebhooks, datetime]]:
        async with dependencies.database.transaction() as transaction:
            yield PostgresWebhooks(transaction, dependencies.seal), await transaction.now()

    async def tell() -> None:
        await deliver_messages(
            open_webhooks, dependencies.reach, lambda how: WEBHOOK_MESSAGES.labels(how).inc()
        )

    minute, day = timedelta(minutes=1), timedelta(days=1)
    return [
        Job(name="metrics-sums", every=minute, run=roll_up, follows_clock=True),
        Job(name="metrics-watch", every=minute / 3, run=look, follows_clock=True),
        Job(
            name="metrics-webhooks",
            every=minute / 3,
            run=tell,
            wake_on=WEBHOOKS_CHANGED,
            follows_clock=True,
        ),
        Job(name="metrics-partitions", every=60 * minute, offset=7 * minute, run=make_partitions),
        Job(name="metrics-retention", every=day, offset=100 * minute, run=drop_old),
        Job(name="metrics-recount", every=day, offset=140 * minute, run=count_anew),
    ]


async def make_all_sums(dependencies: Dependencies, *, patient: bool = False) -> int:
    """Make all sums that are stale and over; returns how many.

    With `patient`, those that late windows are still arriving for wait.
    """
    made = 0
    while True:
        async with dependencies.database.transaction(within_s=WORK_S) as transaction:
            stale = await next_stale(transaction, patient=patient)
            if stale is None:
                return made
            await make_anew(transaction, stale)
        SUMS_MADE.labels(stale.grain).inc(len(stale.ats))
        made += len(stale.ats)


async def drop_old_partitions(dependencies: Dependencies) -> list[str]:
    """Drop what is older than the settings say; sums by day are kept for good."""
    async with dependencies.database.transaction(within_s=WORK_S) as transaction:
        today = day_of(await transaction.now())
        oldest_raw = today - timedelta(days=dependencies.settings.metrics_raw_days)
        oldest_hour = today - timedelta(days=dependencies.settings.metrics_hour_days)
        dropped = await drop_before(transaction, RAW, oldest_raw)
        dropped += await drop_before(transaction, FORMER, oldest_raw)
        dropped += await drop_before(transaction, HOURS, oldest_hour)
        dropped += await drop_before(transaction, PAIR_HOURS, oldest_hour)
        await forget_receipts(transaction, received=oldest_hour, refused=oldest_raw)
    if dropped:
        _log.info("old metrics dropped", tables=dropped)
    return dropped


async def recount_days(dependencies: Dependencies, days: int = RECOUNTED_DAYS) -> int:
    """Compare sums with raw rows; what differs is told and made anew. Returns how many differ."""
    different = 0
    for ago in range(1, days + 1):
        async with dependencies.database.transaction(within_s=RECOUNT_S) as transaction:
            day = day_of(await transaction.now()) - timedelta(days=ago)
            differs = False
            for found in await recount(transaction, day):
                RECOUNTS.labels(found.grain, "equal").inc(found.rows - found.different)
                RECOUNTS.labels(found.grain, "different").inc(found.different)
                if found.different:
                    differs = True
                    different += found.different
                    _log.error(
                        "sums differ from raw rows; they are made anew",
                        day=day.date().isoformat(),
                        grain=found.grain,
                        rows=found.rows,
                        different=found.different,
                    )
            if differs:
                await mark_stale(transaction, day)
    return different
