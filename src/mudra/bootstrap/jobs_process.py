"""The process of a node that does timed and queued work."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence

import structlog
import uvloop

from mudra.audit.ports import AuditLog
from mudra.audit.sealing import BATCH, seal_next
from mudra.bootstrap.dependencies import Dependencies
from mudra.bootstrap.parent_watch import on_parent_exit
from mudra.bootstrap.telemetry import MAILS, MAILS_FAILING, SIGN_IN_FAILURES
from mudra.jobs.app import STOP_S, Jobs, job_app, run_jobs
from mudra.jobs.deliver_mail import deliver_due
from mudra.jobs.key_rotation import maintain_keys
from mudra.jobs.metrics_jobs import metrics_jobs
from mudra.jobs.notification_jobs import (
    notify_guessing,
    raise_mail_alarms,
    remind_members,
    watch_sign_ins,
)
from mudra.mail.smtp import mail_server
from mudra.registry.lifecycle.register import put_due_live
from mudra.shared.unavailable import DatabaseUnavailable
from mudra.storage.audit.audit_log import PostgresAuditLog
from mudra.storage.audit.chain import PostgresLedger
from mudra.storage.database.purge_expired import purge_expired
from mudra.storage.mail.outbox import OUTBOX_CHANGED, PostgresOutbox
from mudra.storage.metrics.alarms import WEBHOOKS_CHANGED

_log = structlog.get_logger()


def run_jobs_process(dependencies: Dependencies, lifeline: int, ready: Callable[[], None]) -> None:
    """Work until told to stop, or until the supervisor is gone."""
    uvloop.run(_work(dependencies, lifeline, ready))


async def _work(dependencies: Dependencies, lifeline: int, ready: Callable[[], None]) -> None:
    loop = asyncio.get_running_loop()
    told = asyncio.Event()
    for number in (2, 15):
        loop.add_signal_handler(number, told.set)
    on_parent_exit(lifeline, told.set)
    due, messages, sums = asyncio.Event(), asyncio.Event(), asyncio.Event()
    dependencies.invalidation.on_change(lambda key: _wake(key, due, OUTBOX_CHANGED))
    dependencies.invalidation.on_change(lambda key: _wake(key, messages, WEBHOOKS_CHANGED))
    dependencies.invalidation.on_change(lambda key: _wake(key, sums))
    await dependencies.invalidation.start()
    if dependencies.settings.sandbox:
        await dependencies.time_machine.load()
    chores = _chores(dependencies)
    app = job_app(dependencies.database.conninfo, chores)
    tasks = [
        asyncio.create_task(run_jobs(app), name="jobs"),
        asyncio.create_task(_at_changes(due, _in_order(chores)), name="changes"),
        # Apart: a receiver may let us wait, and alarms must not.
        asyncio.create_task(_at_changes(messages, [chores.metrics.tell]), name="messages"),
        # Apart: those of a long past take minutes, and mails and alarms must not wait for them.
        asyncio.create_task(_at_changes(sums, [chores.metrics.roll_up]), name="sums"),
    ]
    ready()
    telling = asyncio.create_task(told.wait(), name="told")
    await asyncio.wait([telling, *tasks], return_when=asyncio.FIRST_COMPLETED)
    dead = [task for task in tasks if task.done()]
    pending = {telling, *tasks}
    while pending:  # once may be too little: a lost database can take the cancellation's place
        for task in pending:
            task.cancel()
        _, pending = await asyncio.wait(pending, timeout=STOP_S + 1)
    await dependencies.invalidation.stop()
    await dependencies.database.close()
    for task in dead:
        await task  # what ended it ends this process, and the supervisor starts another


def _wake(key: str, due: asyncio.Event, outbox: str = "*") -> None:
    """Something waits to be sent, or the sandbox's clock has moved: no waiting for the schedule."""
    if key in {outbox, "*"} or key.startswith("clock:"):
        due.set()


def _in_order(chores: Jobs) -> Sequence[Callable[[], Awaitable[None]]]:
    return (
        chores.remind,
        chores.deliver_mail,
        chores.keep_keys_ready,
        chores.put_due_live,
        chores.metrics.watch,
        chores.seal_audit,
    )


async def _at_changes(due: asyncio.Event, chores: Sequence[Callable[[], Awaitable[None]]]) -> None:
    """Do at once what waits for the schedule otherwise; one that fails stops no other."""
    while True:
        await due.wait()
        due.clear()
        for chore in chores:
            try:
                await chore()
            except DatabaseUnavailable as error:
                _log.warning("chore waits for the database", error=str(error))
            except Exception:  # noqa: BLE001  # whatever it was, the others must go on
                _log.exception("chore failed; the schedule comes back to it")


def _chores(dependencies: Dependencies) -> Jobs:
    @contextlib.asynccontextmanager
    async def open_outbox() -> AsyncIterator[tuple[PostgresOutbox, AuditLog]]:
        async with dependencies.database.transaction() as transaction:
            yield dependencies.outbox(transaction), PostgresAuditLog(transaction)

    async def deliver_mail() -> None:
        url = dependencies.settings.smtp_url
        if url is not None:
            server = mail_server(
                url, dependencies.settings.mail_from, dependencies.settings.network_name
            )
            await deliver_due(open_outbox, server, lambda how: MAILS.labels(how).inc())

    async def look_after_mail() -> None:
        await deliver_mail()
        MAILS_FAILING.set(await raise_mail_alarms(dependencies))

    async def look_at_sign_ins() -> None:
        SIGN_IN_FAILURES.set(await watch_sign_ins(dependencies))

    async def remind() -> None:
        await notify_guessing(dependencies)
        await remind_members(dependencies)

    async def keys() -> None:
        await maintain_keys(dependencies)

    async def clear() -> None:
        async with dependencies.database.transaction() as transaction:
            await purge_expired(transaction)

    async def go_live() -> None:
        async with dependencies.unit_of_work() as work:
            await put_due_live(work.registry)

    return Jobs(
        keep_keys_ready=keys,
        deliver_mail=look_after_mail,
        clear_out=clear,
        remind=remind,
        watch_sign_ins=look_at_sign_ins,
        metrics=metrics_jobs(dependencies),
        seal_audit=lambda: _seal_audit(dependencies),
        put_due_live=go_live,
    )


async def _seal_audit(dependencies: Dependencies) -> None:
    sealed = BATCH
    while sealed == BATCH:
        async with dependencies.database.transaction(within_s=30) as transaction:
            ledger = PostgresLedger(transaction)
            sealed = await seal_next(ledger, dependencies.witness, await transaction.now())
