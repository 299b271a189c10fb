"""The process of a node that runs the periodic jobs."""

import asyncio
import os
import secrets
import signal
from datetime import datetime, timedelta
from functools import partial
from math import nan
from typing import Final

import structlog
import uvloop

from mudra.audit.audit_chain import AuditChain
from mudra.audit.audit_log_store import AuditLog, record_anonymous, record_refused
from mudra.audit.horizon_store import sealing_delay
from mudra.audit.packing import drop_over_age, pack_next
from mudra.audit.proof.archive import drop_archived
from mudra.audit.proof.checkpoint_store import CHECKPOINT_ADDED
from mudra.audit.proof.sealing import BATCH, copy_checkpoints, seal_next
from mudra.audit.proof.verification import MAX_WAIT
from mudra.bootstrap.clock import ServiceClock
from mudra.bootstrap.dependencies import Dependencies
from mudra.bootstrap.levels.level_job import level_jobs
from mudra.bootstrap.node.free_memory import allocate_apart, give_back_regularly
from mudra.bootstrap.node.heartbeat import EVERY_S, Report
from mudra.bootstrap.node.mail_jobs import mail_jobs
from mudra.bootstrap.node.parent_watch import SupervisorWatch, on_parent_exit
from mudra.bootstrap.observability.open_tracing import open_tracing
from mudra.bootstrap.observability.telemetry import DATABASE_FAILURES, count_database_failure
from mudra.bootstrap.separate_process.key_search_process import search_apart
from mudra.bootstrap.watching.audit_export_job import audit_export_jobs
from mudra.bootstrap.watching.readiness_board import ReadinessBoard
from mudra.bootstrap.watching.watch_jobs import watch_jobs
from mudra.identity.accounts.link_request_store import LINK_ASKED
from mudra.jobs.dispute_jobs import pass_deadlines
from mudra.jobs.key_rotation import maintain_keys
from mudra.jobs.metrics_jobs import metrics_jobs
from mudra.jobs.notification_jobs import notify_people, send_links, watch_sign_ins
from mudra.jobs.probe_jobs import run_probes
from mudra.jobs.registry_jobs import put_due_live
from mudra.jobs.scheduler import Job, Scheduler
from mudra.jobs.telemetry import (
    AUDIT_CONTRADICTED,
    AUDIT_UNSEALED,
    JOB_RUNS,
    MAILS,
    SIGN_IN_FAILURES,
    WEAK_KEYS,
    count_damaged_block,
    count_from_zero,
)
from mudra.metrics.notifications.webhook import WaitingMessage
from mudra.metrics.rollup.damage import count_damage
from mudra.metrics.rollup.retention import RetentionPolicy
from mudra.metrics.subscriptions.subscription_store import SUBSCRIPTION_ASKED
from mudra.metrics.subscriptions.write_emails import StatusEmails
from mudra.overview.purge_store import purge_expired
from mudra.overview.retention_store import Days
from mudra.registry.key_search.key_search import search_next
from mudra.registry.probe.challenge import new_challenge
from mudra.registry.probe.probe import ProbeResult, WaitingProbe
from mudra.registry.probe.probe_store import PROBE_ASKED
from mudra.shared.build_version import version
from mudra.shared.garbage import set_aside_what_is_loaded
from mudra.shared.unavailable import Outage
from mudra.storage.database.job_runs import PostgresJobRuns
from mudra.timeline.release_note import note_release
from mudra.tokens.claims import TokenKind
from mudra.tokens.signing_keys.node_keys import NodeKeys

_NONCE_BYTES = 32


class ProbeRunner:
    """Signs challenges as the issuer of entity tokens does, whose keys members know."""

    def __init__(self, dependencies: Dependencies) -> None:
        self._dependencies = dependencies
        self._keys: NodeKeys | None = None

    async def run(self, waiting: WaitingProbe) -> ProbeResult:
        """Run one probe."""
        # Imported with the first probe: most services never run one.
        from mudra.webhook.probe import probe  # noqa: PLC0415  # most services never need it

        found = self._dependencies
        if self._keys is None:
            self._keys = NodeKeys(
                *(found.database, found.invalidation, found.clock),
                found.settings.token_type_header,
            )
        await self._keys.ready()
        nonce = secrets.token_urlsafe(_NONCE_BYTES)
        challenge = new_challenge(waiting, found.settings.issuer, nonce, found.clock())
        signature = self._keys.sign_detached(TokenKind.ENTITY, challenge.body)
        return await probe(waiting, challenge, signature, found.probe_reach)


OUTWARD: Final = frozenset(
    {"mail", "metrics-webhooks", "status-webhooks", "probes", "audit-export"}
)
"""Jobs that reach others: none of them runs on a database that was restored for a look."""
_SEAL_S: Final = 120.0
"""Seconds; what came with a restored database is sealed in one transaction."""
_log = structlog.get_logger()


def run_jobs_process(
    dependencies: Dependencies, parent_pipe: int, report: Report, board: ReadinessBoard
) -> None:
    """Run jobs until stopped, or until the supervisor is gone."""
    allocate_apart()
    uvloop.run(_work(dependencies, parent_pipe, report, board))


async def _work(
    dependencies: Dependencies, parent_pipe: int, report: Report, board: ReadinessBoard
) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    on_parent_exit(parent_pipe, stop.set)
    runs = PostgresJobRuns(dependencies.database.direct)
    tracing = open_tracing(dependencies, "jobs")
    turn = asyncio.Lock()
    jobs = [
        *_jobs(dependencies),
        *watch_jobs(dependencies, board),
        *audit_export_jobs(dependencies),
        *_metrics_jobs(dependencies, turn),
        *level_jobs(dependencies, turn),
    ]
    if dependencies.settings.rehearsal:
        jobs = [job for job in jobs if job.name not in OUTWARD]
    count_from_zero(JOB_RUNS, [job.name for job in jobs], ("succeeded", "failed"))
    count_from_zero(MAILS, ("sent", "failed"))
    count_from_zero(DATABASE_FAILURES, (Outage.READ_ONLY, Outage.DISK_FULL))
    dependencies.database.outages.count = count_database_failure
    count_damage(count_damaged_block)
    scheduler = Scheduler(
        jobs if tracing is None else tracing.jobs(jobs),
        runs,
        ServiceClock(),  # slots are of real time, also where the sandbox's clock was moved
        lambda job, outcome: JOB_RUNS.labels(job, outcome).inc(),
    )
    dependencies.invalidation.on_change(scheduler.wake)
    await dependencies.invalidation.start()
    if dependencies.settings.sandbox:
        await dependencies.time_machine.load()
    if not dependencies.settings.rehearsal:
        async with dependencies.transaction() as tx:
            await note_release(tx, version())
    report()
    beating = asyncio.create_task(_beat_always(report), name="heartbeat")
    giving_back = asyncio.create_task(give_back_regularly(), name="give-back")
    set_aside_what_is_loaded()
    await scheduler.run(stop)
    beating.cancel()
    giving_back.cancel()
    await dependencies.invalidation.stop()
    await runs.close()
    await dependencies.close()
    if tracing is not None:
        tracing.close()


async def _beat_always(report: Report) -> None:
    supervisor = SupervisorWatch(os.getppid())
    while True:
        report.beat()
        supervisor.check()
        await asyncio.sleep(EVERY_S)


def _metrics_jobs(dependencies: Dependencies, turn: asyncio.Lock) -> list[Job]:
    settings = dependencies.settings

    async def post(message: WaitingMessage, now: datetime) -> str:
        # Imported with the first message: most services never send one.
        from mudra.webhook.send import post_signed  # noqa: PLC0415  # most services never need it

        return await post_signed(message, now, dependencies.reach)

    async def post_to_public(message: WaitingMessage, now: datetime) -> str:
        from mudra.webhook.public_calls import post_public  # noqa: PLC0415  # as above

        return await post_public(message, now, dependencies.public_reach)

    return metrics_jobs(
        dependencies.metrics_maintenance,
        RetentionPolicy(settings.metrics_raw_days, settings.metrics_hour_days),
        post,
        post_to_public,
        settings.telemetry_dir,
        turn,
    )


def _jobs(dependencies: Dependencies) -> list[Job]:
    async def count_failed_sign_ins() -> None:
        SIGN_IN_FAILURES.set(await watch_sign_ins(dependencies.transaction))

    minute = timedelta(minutes=1)
    return [
        Job(name="keys", every=10 * minute, run=lambda: _keys(dependencies), follows_clock=True),
        *mail_jobs(dependencies),
        Job(
            name="links",
            every=minute,
            run=partial(send_links, dependencies.transaction),
            wake_on=LINK_ASKED,
            follows_clock=True,
        ),
        Job(
            name="clear-out",
            every=60 * minute,
            offset=17 * minute,
            run=lambda: _clear(dependencies),
        ),
        Job(
            name="remind",
            every=10 * minute,
            run=partial(notify_people, dependencies.transaction),
            follows_clock=True,
        ),
        Job(
            name="sign-ins",
            every=minute,
            run=count_failed_sign_ins,
            forget=lambda: SIGN_IN_FAILURES.set(nan),
        ),
        Job(
            name="disputes",
            every=10 * minute,
            run=partial(pass_deadlines, dependencies.transaction),
            follows_clock=True,
        ),
        *_jobs_of_subscribers(dependencies),
        *_jobs_of_registry(dependencies),
        *_jobs_of_proof(dependencies),
    ]


def _jobs_of_subscribers(dependencies: Dependencies) -> list[Job]:
    emails = StatusEmails(
        dependencies.transaction, dependencies.languages, dependencies.public_status
    )
    return [
        Job(
            name="subscriptions",
            every=timedelta(minutes=1),
            run=emails.write,
            wake_on=SUBSCRIPTION_ASKED,
            follows_clock=True,
        )
    ]


def _jobs_of_registry(dependencies: Dependencies) -> list[Job]:
    minute = timedelta(minutes=1)
    probes = ProbeRunner(dependencies)

    async def search_keys() -> None:
        WEAK_KEYS.set(await search_next(dependencies.transaction, search_apart))

    return [
        Job(
            name="key-search",
            every=minute,
            run=search_keys,
            forget=lambda: WEAK_KEYS.set(nan),
        ),
        Job(
            name="go-live",
            every=minute,
            run=partial(put_due_live, dependencies.transaction),
            follows_clock=True,
        ),
        Job(
            name="probes",
            every=minute,
            run=partial(run_probes, dependencies.transaction, probes.run),
            wake_on=PROBE_ASKED,
        ),
    ]


def _jobs_of_proof(dependencies: Dependencies) -> list[Job]:
    minute = timedelta(minutes=1)
    return [
        Job(
            name="anonymous",
            every=minute,
            run=lambda: _record_anonymous(dependencies),
            follows_clock=True,
        ),
        Job(
            name="seal-audit",
            every=minute,
            run=lambda: _seal_audit(dependencies),
            follows_clock=True,
        ),
        Job(
            name="watch-audit",
            every=minute,
            run=lambda: _watch_audit(dependencies),
            wake_on=CHECKPOINT_ADDED,
            on_every_node=True,
        ),
    ]


async def _clear(dependencies: Dependencies) -> None:
    settings = dependencies.settings
    days = Days(mail=settings.mail_days, sums=settings.metrics_day_days)
    if deleted := await purge_expired(dependencies.database, days):
        _log.info("rows over age deleted", **deleted)
    await _drop_old_audit(dependencies)


async def _drop_old_audit(dependencies: Dependencies) -> None:
    """Drop blocks of token issues that are over age, then what was archived, in batches."""
    tokens = timedelta(days=dependencies.settings.audit_token_days)
    archived = dependencies.settings.audit_archived_days
    dropped = 1
    while dropped:
        async with dependencies.database.transaction(within_s=_SEAL_S) as transaction:
            chain, log = transaction.service(AuditChain), AuditLog(transaction)
            now = await transaction.now()
            dropped = await drop_over_age(chain.token_issues, log, tokens, now)
            if not dropped and archived is not None:
                dropped = await drop_archived(chain, log, timedelta(days=archived), now)


async def _record_anonymous(dependencies: Dependencies) -> None:
    async with dependencies.database.transaction() as transaction:
        await record_anonymous(transaction)
        await record_refused(transaction)


async def _keys(dependencies: Dependencies) -> None:
    await maintain_keys(dependencies.transaction)


async def _seal_audit(dependencies: Dependencies) -> None:
    packed = 1
    while packed:
        async with dependencies.database.transaction() as transaction:
            issues = transaction.service(AuditChain).token_issues
            log, now = AuditLog(transaction), await transaction.now()
            packed = await pack_next(issues, log, now)
    sealed = BATCH
    while sealed == BATCH:
        async with dependencies.database.transaction(within_s=_SEAL_S) as transaction:
            sealed = await seal_next(
                transaction.service(AuditChain),
                AuditLog(transaction),
                await transaction.now(),
            )


async def _watch_audit(dependencies: Dependencies) -> None:
    """Copy checkpoints to this node's second place; raise the alarms of a chain in trouble."""
    # First, and apart: a second place that fails must not hide that sealing has stopped.
    async with dependencies.database.transaction() as transaction:
        delay = await sealing_delay(transaction)
    AUDIT_UNSEALED.set(delay.seconds)
    if delay.seconds > MAX_WAIT.total_seconds():
        _log.error("sealing of the audit has stopped", seconds=delay.seconds, by=delay.held_by)
    async with dependencies.database.transaction(within_s=_SEAL_S) as transaction:
        agrees = await copy_checkpoints(transaction.service(AuditChain))
    AUDIT_CONTRADICTED.set(0 if agrees else 1)
    if not agrees:
        _log.error("the audit contradicts its second place: run mudra audit verify")
