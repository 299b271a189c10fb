"""The schedule of network metrics: sums, partitions, retention, recount, incidents, messages."""

from collections.abc import Awaitable, Callable

import procrastinate
from msgspec import Struct


class MetricsJobs(Struct, frozen=True):
    """What the schedule calls; jobs/metrics_jobs.py fills it."""

    roll_up: Callable[[], Awaitable[None]]
    make_partitions: Callable[[], Awaitable[None]]
    drop_old: Callable[[], Awaitable[None]]
    recount: Callable[[], Awaitable[None]]
    watch: Callable[[], Awaitable[None]]
    tell: Callable[[], Awaitable[None]]


def add_metrics_tasks(app: procrastinate.App, chores: MetricsJobs) -> None:
    """Put the tasks into the schedule (times in UTC)."""

    @app.periodic(cron="* * * * *")
    @app.task(name="metrics-sums", queueing_lock="metrics-sums", pass_context=False)
    async def roll_up(timestamp: int) -> None:
        del timestamp
        await chores.roll_up()

    @app.periodic(cron="* * * * * */20")
    @app.task(name="metrics-watch", queueing_lock="metrics-watch", pass_context=False)
    async def watch(timestamp: int) -> None:
        del timestamp
        await chores.watch()

    @app.periodic(cron="* * * * * */20")
    @app.task(name="metrics-webhooks", queueing_lock="metrics-webhooks", pass_context=False)
    async def tell(timestamp: int) -> None:
        del timestamp
        await chores.tell()

    @app.periodic(cron="7 * * * *")
    @app.task(name="metrics-partitions", queueing_lock="metrics-partitions", pass_context=False)
    async def make_partitions(timestamp: int) -> None:
        del timestamp
        await chores.make_partitions()

    @app.periodic(cron="40 1 * * *")
    @app.task(name="metrics-retention", queueing_lock="metrics-retention", pass_context=False)
    async def drop_old(timestamp: int) -> None:
        del timestamp
        await chores.drop_old()

    @app.periodic(cron="20 2 * * *")
    @app.task(name="metrics-recount", queueing_lock="metrics-recount", pass_context=False)
    async def recount(timestamp: int) -> None:
        del timestamp
        await chores.recount()
