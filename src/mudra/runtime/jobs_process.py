"""The process of a node that does timed and queued work."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable

import uvloop

from mudra.audit.ports import Journal
from mudra.jobs.app import Chores, job_app, run_jobs
from mudra.jobs.deliver import deliver_due
from mudra.mail.smtp import mail_server
from mudra.runtime.key_care import look_after_keys
from mudra.runtime.telemetry import MAILS
from mudra.runtime.wiring import Rooms
from mudra.storage.audit import PostgresJournal
from mudra.storage.clear_out import clear_out
from mudra.storage.database import DatabaseUnavailable
from mudra.storage.outbox import OUTBOX_CHANGED, PostgresOutbox


def run_jobs_process(rooms: Rooms, lifeline: int, ready: Callable[[], None]) -> None:
    """Work until told to stop, or until the supervisor is gone."""
    uvloop.run(_work(rooms, lifeline, ready))


async def _work(rooms: Rooms, lifeline: int, ready: Callable[[], None]) -> None:
    loop = asyncio.get_running_loop()
    told = asyncio.Event()
    for number in (2, 15):
        loop.add_signal_handler(number, told.set)
    loop.add_reader(lifeline, told.set)
    due = asyncio.Event()
    rooms.freshness.on_change(lambda key: _wake(key, due))
    await rooms.freshness.start()
    if rooms.settings.sandbox:
        await rooms.time_machine.load()
    chores = _chores(rooms)
    app = job_app(rooms.database.conninfo, chores)
    tasks = [
        asyncio.create_task(run_jobs(app), name="jobs"),
        asyncio.create_task(_at_changes(due, chores), name="changes"),
    ]
    ready()
    await told.wait()
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    await rooms.freshness.stop()
    await rooms.database.close()


def _wake(key: str, due: asyncio.Event) -> None:
    """A letter waits, or the sandbox's clock has moved: do not wait for the schedule."""
    if key in {OUTBOX_CHANGED, "*"} or key.startswith("clock:"):
        due.set()


async def _at_changes(due: asyncio.Event, chores: Chores) -> None:
    while True:
        await due.wait()
        due.clear()
        with contextlib.suppress(DatabaseUnavailable):  # the schedule comes back to it
            await chores.deliver_mail()
            await chores.keep_keys_ready()


def _chores(rooms: Rooms) -> Chores:
    @contextlib.asynccontextmanager
    async def open_outbox() -> AsyncIterator[tuple[PostgresOutbox, Journal]]:
        async with rooms.database.transaction() as transaction:
            yield rooms.outbox(transaction), PostgresJournal(transaction)

    async def deliver_mail() -> None:
        url = rooms.settings.smtp_url
        if url is not None:
            server = mail_server(url, rooms.settings.mail_from)
            await deliver_due(open_outbox, server, lambda how: MAILS.labels(how).inc())

    async def keys() -> None:
        await look_after_keys(rooms)

    async def clear() -> None:
        async with rooms.database.transaction() as transaction:
            await clear_out(transaction)

    return Chores(keep_keys_ready=keys, deliver_mail=deliver_mail, clear_out=clear)
