"""Runs periodic jobs: each once per time slot in the network, with any number of nodes.

A job that a change wakes (an email was queued, the sandbox's clock was moved) runs at
once, as well as in its slots.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from datetime import UTC, datetime, timedelta
from math import inf
from time import monotonic
from typing import Final, Protocol

import structlog
from msgspec import Struct

from mudra.shared.clock import Clock
from mudra.shared.unavailable import ServiceUnavailable

STOP_S: Final = 5.0
"""The time for a run to finish after the stop; then its transaction is rolled back."""
_MAX_WAIT_S: Final = 60.0
"""The delay after which another node takes over a slot that failed or was killed."""
_OLD_AFTER: Final = 3
"""Periods."""
_HEAD_START_S: Final = 0.1
"""A run that takes longer has others begin next to it."""
_EPOCH: Final = datetime(2000, 1, 1, tzinfo=UTC)
_log = structlog.get_logger()


class Job(Struct, frozen=True, kw_only=True):
    """One periodic job. Run twice, it must do no more than once."""

    name: str
    every: timedelta
    offset: timedelta = timedelta()
    """The time of its run within its period, counted from midnight of UTC."""
    run: Callable[[], Awaitable[None]]
    wake_on: str = ""
    """The change after which it runs at once, in addition to its period."""
    follows_clock: bool = False
    """True for a job that runs at once when the sandbox's clock is moved."""

    limit: timedelta = timedelta(hours=1)
    """A run that takes longer waits for what does not answer: it is ended, and counts as failed."""

    on_every_node: bool = False
    """True for a job that each node runs for itself, in every period and at its start."""

    forget: Callable[[], None] | None = None
    """Called while others have run the job for some periods: drops what this process shows of it.

    Else each node would go on showing to Prometheus what was so when it ran the job last.
    """

    def is_woken_by(self, change: str) -> bool:
        """Returns whether a change makes it run at once; `*` is any change, after an outage."""
        if change == self.wake_on != "":
            return True
        return self.follows_clock and (change == "*" or change.startswith("clock:"))


class JobRuns(Protocol):
    """The record of runs that all nodes share."""

    async def begin(self, name: str, every: timedelta, offset: timedelta) -> datetime | None:
        """Claims the run of the current time slot; None when it is done, or another node has it."""

    async def end(self, name: str, slot: datetime, error: str) -> None:
        """Records the end of a claimed run (`error` is empty after a success), and releases it."""


class Scheduler:
    """Runs the jobs of this process next to each other, but each job only once at a time.

    A job begins once the one before it has ended, at most 100 ms later. So the many that have
    nothing to do, and are woken at the same moment, share a few database connections.
    """

    def __init__(
        self,
        jobs: Sequence[Job],
        runs: JobRuns,
        clock: Clock,
        count: Callable[[str, str], None],
    ) -> None:
        """`count` is called with a job's name and `succeeded` or `failed` after each run."""
        self._jobs = jobs
        self._runs = runs
        self._clock = clock
        self._count = count
        self._woken = {job.name: asyncio.Event() for job in jobs}
        self._changed = {job.name: False for job in jobs}
        self._ran_at = {job.name: -inf for job in jobs}
        """When this process ran each job last, by the monotonic clock."""
        self._begin = asyncio.Lock()
        self._stopping = False

    def wake(self, change: str) -> None:
        """Runs the jobs that follow this change at once."""
        for job in self._jobs:
            if job.is_woken_by(change):
                self._changed[job.name] = True
                self._woken[job.name].set()

    async def run(self, stop: asyncio.Event) -> None:
        """Runs jobs until `stop` is set; a run in progress has some seconds to finish."""
        tasks = [asyncio.create_task(self._repeat(job), name=job.name) for job in self._jobs]
        stopped = asyncio.create_task(stop.wait())
        await asyncio.wait([stopped, *tasks], return_when=asyncio.FIRST_COMPLETED)
        self._stopping = True
        for event in self._woken.values():
            event.set()
        _, pending = await asyncio.wait(tasks, timeout=STOP_S)
        while pending:  # repeatedly: an error of a lost database can replace the cancellation
            for task in pending:
                task.cancel()
            _, pending = await asyncio.wait(pending, timeout=1)
        stopped.cancel()
        for task in tasks:
            if not task.cancelled():
                task.result()  # an error in the scheduler itself ends the process

    async def _repeat(self, job: Job) -> None:
        woken = self._woken[job.name]
        while True:
            async with self._turn():
                if self._stopping:
                    return
                woken.clear()  # what has woken it until now is seen to by this run
                if self._changed[job.name] or job.on_every_node:
                    self._changed[job.name] = False
                    await self._attempt(job)
                else:
                    await self._run_slot(job)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(woken.wait(), self._wait_s(job))

    @contextlib.asynccontextmanager
    async def _turn(self) -> AsyncIterator[None]:
        """Wait until the job before has ended or has had its head start."""
        await self._begin.acquire()
        over = False

        def let_the_next_begin() -> None:
            nonlocal over
            if not over:
                over = True
                self._begin.release()

        head_start = asyncio.get_running_loop().call_later(_HEAD_START_S, let_the_next_begin)
        try:
            yield
        finally:
            head_start.cancel()
            let_the_next_begin()

    async def _run_slot(self, job: Job) -> None:
        try:
            slot = await self._runs.begin(job.name, job.every, job.offset)
            if slot is not None:
                await self._runs.end(job.name, slot, await self._attempt(job))
            elif job.forget is not None and self._has_not_run(job):
                job.forget()
        except ServiceUnavailable as error:
            _log.warning("job waits", job=job.name, error=str(error))

    def _has_not_run(self, job: Job) -> bool:
        since = monotonic() - self._ran_at[job.name]
        return since > _OLD_AFTER * job.every.total_seconds()

    async def _attempt(self, job: Job) -> str:
        """Runs the job; returns the kind of its failure, empty after a success."""
        self._ran_at[job.name] = monotonic()
        try:
            async with asyncio.timeout(job.limit.total_seconds()):
                await job.run()
        except ServiceUnavailable as error:
            _log.warning("job waits", job=job.name, error=str(error))
            failure = type(error).__name__
        except Exception as error:  # noqa: BLE001  # logged; the other jobs must go on
            _log.exception("job failed; it is tried again", job=job.name)
            failure = type(error).__name__
        else:
            failure = ""
        self._count(job.name, "failed" if failure else "succeeded")
        return failure

    def _wait_s(self, job: Job) -> float:
        """Returns the seconds until the next slot, or until a slot not claimed is checked again."""
        since = (self._clock() - _EPOCH - job.offset) % job.every
        return min(_MAX_WAIT_S, (job.every - since).total_seconds() + 0.02)
