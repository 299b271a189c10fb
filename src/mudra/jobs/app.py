"""The timed work of a node, on procrastinate: queue and schedule live in PostgreSQL.

Each task calls one use case. A periodic task runs once in the network, however
many nodes there are.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

import procrastinate
import structlog
from msgspec import Struct

from mudra.jobs.metrics_tasks import MetricsJobs, add_metrics_tasks

STOP_S: Final = 5.0
"""What is under way at the end has so long; then its transaction is undone and done anew later."""
_log = structlog.get_logger()


class Jobs(Struct, frozen=True):
    """What the schedule calls; wiring.py fills it."""

    keep_keys_ready: Callable[[], Awaitable[None]]
    deliver_mail: Callable[[], Awaitable[None]]
    clear_out: Callable[[], Awaitable[None]]
    remind: Callable[[], Awaitable[None]]
    watch_sign_ins: Callable[[], Awaitable[None]]
    metrics: MetricsJobs
    seal_audit: Callable[[], Awaitable[None]]
    put_due_live: Callable[[], Awaitable[None]]


def job_app(conninfo: str, chores: Jobs) -> procrastinate.App:
    """Make the procrastinate app with the schedule (times in UTC)."""
    app = procrastinate.App(
        connector=procrastinate.PsycopgConnector(conninfo=conninfo, min_size=1, max_size=3)
    )

    @app.periodic(cron="*/10 * * * *")
    @app.task(name="keys", queueing_lock="keys", pass_context=False)
    async def keys(timestamp: int) -> None:
        del timestamp
        await chores.keep_keys_ready()

    @app.periodic(cron="* * * * *")
    @app.task(name="mail", queueing_lock="mail", pass_context=False)
    async def mail(timestamp: int) -> None:
        del timestamp
        await chores.deliver_mail()

    @app.periodic(cron="* * * * *")
    @app.task(name="go-live", queueing_lock="go-live", pass_context=False)
    async def go_live(timestamp: int) -> None:
        del timestamp
        await chores.put_due_live()

    @app.periodic(cron="17 * * * *")
    @app.task(name="clear-out", queueing_lock="clear-out", pass_context=False)
    async def clear_out(timestamp: int) -> None:
        del timestamp
        await chores.clear_out()

    @app.periodic(cron="*/10 * * * *")
    @app.task(name="remind", queueing_lock="remind", pass_context=False)
    async def remind(timestamp: int) -> None:
        del timestamp
        await chores.remind()

    @app.periodic(cron="* * * * *")
    @app.task(name="sign-ins", queueing_lock="sign-ins", pass_context=False)
    async def sign_ins(timestamp: int) -> None:
        del timestamp
        await chores.watch_sign_ins()

    add_metrics_tasks(app, chores.metrics)

    @app.periodic(cron="* * * * *")
    @app.task(name="seal-audit", queueing_lock="seal-audit", pass_context=False)
    async def seal_audit(timestamp: int) -> None:
        del timestamp
        await chores.seal_audit()

    return app


async def run_jobs(app: procrastinate.App) -> None:
    """Work until cancelled; starts anew when the database was away."""
    while True:
        try:
            async with app.open_async():
                await app.run_worker_async(
                    name="mudra",
                    install_signal_handlers=False,
                    delete_jobs="successful",
                    listen_notify=True,
                    shutdown_graceful_timeout=STOP_S,
                )
        except (procrastinate.exceptions.ConnectorException, OSError) as error:
            _log.warning("job queue lost its database", error=type(error).__name__)
        await asyncio.sleep(1)
