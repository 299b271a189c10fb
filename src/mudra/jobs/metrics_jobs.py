"""The scheduled jobs of network metrics: they open transactions, call use cases and count."""

import asyncio
from collections.abc import Callable, Sequence
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Final

import structlog
from msgspec.structs import replace
from prometheus_client import Counter

from mudra.jobs.in_turn import InTurn
from mudra.jobs.metrics_exporter import export_health, forget_health
from mudra.jobs.recount import recount_days
from mudra.jobs.retry_delay import pause_after, public_pause_after
from mudra.jobs.scheduler import Job
from mudra.jobs.telemetry import (
    ALARMS,
    ALARMS_SILENCED,
    BLOCKS_DAMAGED,
    RECOUNT_PARTS,
    RECOUNTS,
    STATUS_WEBHOOK_MESSAGES,
    SUMS_MADE,
    WEBHOOK_MESSAGES,
    count_from_zero,
)
from mudra.jobs.webhook_delivery import (
    Delivery,
    Post,
    deliver_messages,
)
from mudra.metrics.detection.days_again import DaysAgain
from mudra.metrics.incidents.incident import AaReporting
from mudra.metrics.incidents.subject import name_of
from mudra.metrics.maintenance import OpenMaintenance
from mudra.metrics.notifications.incident_notifications import IncidentNotification
from mudra.metrics.notifications.webhook import WEBHOOKS_CHANGED
from mudra.metrics.rollup.damage import BlockDamaged, BlockPlace
from mudra.metrics.rollup.retention import RetentionPolicy, delete_old, drop_next
from mudra.metrics.rollup.stale import ALL_AAS, Stale
from mudra.storage.database.deadline import TRANSACTION_S

WORK_S: Final = 60.0
SUMS_OVER_AAS_S: Final = 300.0
"""A nation's day over all AAs is half a minute of work, next to the judging of its windows."""
DETECT_S: Final = 600.0
"""Most of it is the last step of judging days again, which stores their incidents."""
_NIGHTLY: Final = timedelta(hours=12)
_GRAINS: Final = ("window", "hour", "day")
_OUTCOMES: Final = ("sent", "failed", "given up")
_log = structlog.get_logger()


def metrics_jobs(
    open_work: OpenMaintenance,
    retention: RetentionPolicy,
    post: Post,
    post_to_public: Post,
    telemetry_dir: Path,
    turn: asyncio.Lock,
) -> list[Job]:
    """Returns the jobs for network metrics: rollups, partitions, incidents, webhooks.

    What has labels of members is exported in `telemetry_dir`. What is large in a nation waits for
    its `turn`.
    """
    count_from_zero(RECOUNTS, ("hour", "day"), ("equal", "different"))
    count_from_zero(BLOCKS_DAMAGED, _GRAINS)
    count_from_zero(RECOUNT_PARTS, ("compared", "failed"))
    count_from_zero(WEBHOOK_MESSAGES, _OUTCOMES)
    count_from_zero(STATUS_WEBHOOK_MESSAGES, _OUTCOMES)

    of_many = InTurn(open_work, turn)

    async def watch() -> None:
        await detect_incidents(of_many)
        async with open_work(within_s=WORK_S) as work:
            await export_health(work, telemetry_dir)

    minute = timedelta(minutes=1)
    return [
        Job(
            name="metrics-sums",
            every=minute,
            run=lambda: refresh_rollups(of_many, delayed=True),
            follows_clock=True,
        ),
        Job(
            name="metrics-watch",
            every=minute / 3,
            run=watch,
            follows_clock=True,
            forget=partial(forget_health, telemetry_dir),
        ),
        _webhooks("metrics-webhooks", open_work, post, pause_after, WEBHOOK_MESSAGES),
        # A count of their own: a challenge that a stranger fails is no alarm that was lost.
        _webhooks(
            "status-webhooks",
            open_work,
            post_to_public,
            public_pause_after,
            STATUS_WEBHOOK_MESSAGES,
            of_public=True,
        ),
        *_jobs_of_tables(open_work, of_many, retention),
    ]


def _jobs_of_tables(
    open_work: OpenMaintenance, of_many: OpenMaintenance, retention: RetentionPolicy
) -> list[Job]:
    minute, day = timedelta(minutes=1), timedelta(days=1)

    async def make_partitions() -> None:
        async with open_work(within_s=TRANSACTION_S) as work:
            await work.tables.make_ahead()

    async def drop_old() -> None:
        await drop_old_metrics(open_work, retention)

    async def settle() -> None:
        await settle_sums(of_many)

    return [
        Job(name="metrics-partitions", every=60 * minute, offset=7 * minute, run=make_partitions),
        Job(name="metrics-settle", every=60 * minute, offset=23 * minute, run=settle),
        Job(
            name="metrics-retention",
            every=day,
            offset=100 * minute,
            run=drop_old,
            limit=_NIGHTLY,
        ),
        Job(
            name="metrics-recount",
            every=day,
            offset=140 * minute,
            run=lambda: recount_days(of_many),
            limit=_NIGHTLY,
        ),
    ]


def _webhooks(
    name: str,
    open_work: OpenMaintenance,
    post: Post,
    pause: Callable[[int], timedelta],
    messages: Counter,
    *,
    of_public: bool = False,
) -> Job:
    return Job(
        name=name,
        every=timedelta(seconds=20),
        run=lambda: deliver_messages(
            open_work,
            post,
            pause,
            partial(_report, messages),
            of_public=of_public,
        ),
        wake_on=WEBHOOKS_CHANGED,
        follows_clock=True,
    )


async def refresh_rollups(open_work: OpenMaintenance, *, delayed: bool = False) -> None:
    """Recomputes all stale sums; with `delayed`, those that still receive late windows wait."""
    damaged: list[Stale] = []
    while True:
        async with open_work(within_s=WORK_S) as work:
            stale = await work.rollups.next_stale(delayed=delayed, without=damaged)
        if stale is None:
            return
        damaged += await _refresh(open_work, stale)


async def _refresh(open_work: OpenMaintenance, stale: Stale) -> Sequence[Stale]:
    """Makes sums again; returns those that are made of a damaged block: they stay stale."""
    within_s = SUMS_OVER_AAS_S if stale.aa_id == ALL_AAS else WORK_S
    try:
        async with open_work(within_s=within_s) as work:
            await work.rollups.refresh(stale)
    except BlockDamaged:
        if len(stale.ats) == 1:
            return [stale]
        apart = [replace(stale, ats=(at,)) for at in stale.ats]
        return [left for one in apart for left in await _refresh(open_work, one)]
    SUMS_MADE.labels(stale.grain).inc(len(stale.ats))
    return ()


async def settle_sums(open_work: OpenMaintenance) -> None:
    """Lays out by FIP all sums that can change no more, a day or month of an AA at a time."""
    damaged: list[BlockPlace] = []
    more = True
    while more:
        try:
            async with open_work(within_s=SUMS_OVER_AAS_S) as work:
                more = await work.rollups.settle_next(work.now, without=damaged)
        except BlockDamaged as error:
            damaged.append(error.place)


async def drop_old_metrics(open_work: OpenMaintenance, policy: RetentionPolicy) -> list[str]:
    """Drops metrics older than the settings allow; returns the names of the dropped tables.

    Interrupted anywhere, it goes on with the next run.
    """
    more = True
    while more:
        async with open_work(within_s=WORK_S) as work:
            more = await delete_old(work.tables, policy, work.now)
    dropped: list[str] = []
    while name := await _drop_next(open_work, policy):
        dropped.append(name)
    if dropped:
        _log.info("old metrics dropped", tables=dropped)
    return dropped


async def _drop_next(open_work: OpenMaintenance, policy: RetentionPolicy) -> str | None:
    async with open_work(within_s=WORK_S) as work:
        return await drop_next(work.tables, policy, work.now)


async def detect_incidents(open_work: OpenMaintenance) -> None:
    """Judges windows and detects incidents."""
    days, more = DaysAgain(), True
    while more:
        async with open_work(within_s=DETECT_S) as work:
            detected = await work.detection.detect(work.now, days)
        _count(detected.notifications)
        more = detected.more


def _count(notifications: Sequence[IncidentNotification]) -> None:
    for one in notifications:
        if one.alarm is not None:
            subject = one.incident.subject
            kind = "reporting" if isinstance(subject, AaReporting) else "calls"
            ALARMS.labels(kind, type(one.change).__name__.lower()).inc()
            _log.warning("alarm", entity_id=name_of(subject).entity_id, title=one.alarm.title)
        elif one.silenced:
            ALARMS_SILENCED.inc()


def _report(messages: Counter, delivery: Delivery) -> None:
    if not delivery.problem:
        messages.labels("sent").inc()
        return
    messages.labels("given up" if delivery.gave_up else "failed").inc()
    _log.warning(
        "webhook message not delivered",
        webhook_id=delivery.message.webhook_id,
        message_id=delivery.message.message_id,
        problem=delivery.problem,
        again=not delivery.gave_up,
    )
