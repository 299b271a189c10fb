"""The process of a node that runs the periodic jobs."""

import asyncio
import contextlib
import signal
from collections.abc import AsyncIterator, Callable
from datetime import datetime, timedelta

import uvloop

from mudra.audit.ports import AuditLog
from mudra.audit.sealing import BATCH, seal_next
from mudra.bootstrap.clock import ServiceClock
from mudra.bootstrap.dependencies import Dependencies
from mudra.bootstrap.parent_watch import on_parent_exit
from mudra.jobs.key_rotation import maintain_keys
from mudra.jobs.metrics_jobs import metrics_jobs
from mudra.jobs.notification_jobs import (
    deliver_mail,
    notify_guessing,
    raise_mail_alarms,
    remind_members,
    watch_sign_ins,
)
from mudra.jobs.scheduler import Job, Scheduler
from mudra.jobs.telemetry import JOB_RUNS, MAILS, MAILS_FAILING, SIGN_IN_FAILURES
from mudra.mail.mail_server import mail_server
from mudra.mail.smtp import deliver
from mudra.metrics.notifications.webhook import WaitingMessage
from mudra.metrics.rollup.retention import RetentionPolicy
from mudra.overview.mail_delivery import Delivered, Undelivered
from mudra.overview.mail_queue import StoredEmail
from mudra.registry.lifecycle.register import put_due_live
from mudra.storage.audit.audit_log import PostgresAuditLog
from mudra.storage.audit.chain import PostgresLedger
from mudra.storage.database.job_runs import PostgresJobRuns
from mudra.storage.database.purge_expired import purge_expired
from mudra.storage.mail.outbox import OUTBOX_CHANGED, PostgresOutbox


def run_jobs_process(
    dependencies: Dependencies, parent_pipe: int, ready: Callable[[], None]
) -> None:
    """Run jobs until stopped, or until the supervisor is gone."""
    uvloop.run(_work(dependencies, parent_pipe, ready))


async def _work(dependencies: Dependencies, parent_pipe: int, ready: Callable[[], None]) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    on_parent_exit(parent_pipe, stop.set)
    runs = PostgresJobRuns(dependencies.database.conninfo)
    scheduler = Scheduler(
        [*_jobs(dependencies), *_metrics_jobs(dependencies)],
        runs,
        ServiceClock(),  # slots are of real time, also where the sandbox's clock was moved
        lambda job, outcome: JOB_RUNS.labels(job, outcome).inc(),
    )
    dependencies.invalidation.on_change(scheduler.wake)
    await dependencies.invalidation.start()
    if dependencies.settings.sandbox:
        await dependencies.time_machine.load()
    ready()
    await scheduler.run(stop)
    await dependencies.invalidation.stop()
    await runs.close()
    await dependencies.database.close()


def _metrics_jobs(dependencies: Dependencies) -> list[Job]:
    settings = dependencies.settings

    async def post(message: WaitingMessage, now: datetime) -> str:
        # Imported with the first message: most services never send one.
        from mudra.webhook.send import post_signed  # noqa: PLC0415

        return await post_signed(message, now, dependencies.reach)

    return metrics_jobs(
        dependencies.metrics_maintenance,
        RetentionPolicy(settings.metrics_raw_days, settings.metrics_hour_days),
        post,
    )


def _jobs(dependencies: Dependencies) -> list[Job]:
    @contextlib.asynccontextmanager
    async def open_outbox() -> AsyncIterator[tuple[PostgresOutbox, AuditLog]]:
        async with dependencies.database.transaction() as transaction:
            yield dependencies.outbox(transaction), PostgresAuditLog(transaction)

    async def send_mail() -> None:
        url = dependencies.settings.smtp_url
        if url is not None:
            server = mail_server(
                url, dependencies.settings.mail_from, dependencies.settings.network_name
            )

            async def send(mail: StoredEmail) -> Delivered | Undelivered:
                return await deliver(
                    server, mail.email, mail_id=mail.mail_id, written_at=mail.created_at
                )

            await deliver_mail(open_outbox, send, lambda outcome: MAILS.labels(outcome).inc())
        MAILS_FAILING.set(await raise_mail_alarms(dependencies.unit_of_work))

    async def count_failed_sign_ins() -> None:
        SIGN_IN_FAILURES.set(await watch_sign_ins(dependencies.unit_of_work))

    async def remind() -> None:
        await notify_guessing(dependencies.unit_of_work)
        await remind_members(dependencies.unit_of_work)

    async def keys() -> None:
        await maintain_keys(dependencies.unit_of_work)

    async def clear() -> None:
        async with dependencies.database.transaction() as transaction:
            await purge_expired(transaction)

    async def go_live() -> None:
        async with dependencies.unit_of_work() as work:
            await put_due_live(work.registry)

    minute = timedelta(minutes=1)
    return [
        Job(name="keys", every=10 * minute, run=keys, follows_clock=True),
        Job(
            name="mail",
            every=minute,
            run=send_mail,
            wake_on=OUTBOX_CHANGED,
            follows_clock=True,
        ),
        Job(name="go-live", every=minute, run=go_live, follows_clock=True),
        Job(name="clear-out", every=60 * minute, offset=17 * minute, run=clear),
        Job(name="remind", every=10 * minute, run=remind, follows_clock=True),
        Job(name="sign-ins", every=minute, run=count_failed_sign_ins),
        Job(
            name="seal-audit",
            every=minute,
            run=lambda: _seal_audit(dependencies),
            follows_clock=True,
        ),
    ]


async def _seal_audit(dependencies: Dependencies) -> None:
    sealed = BATCH
    while sealed == BATCH:
        async with dependencies.database.transaction(within_s=30) as transaction:
            ledger = PostgresLedger(transaction)
            sealed = await seal_next(ledger, dependencies.witness, await transaction.now())
