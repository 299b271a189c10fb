"""A task that regularly writes what has been collected in memory."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable

import structlog

_log = structlog.get_logger()


class WriteBehind:
    """Calls `write` every `every_s` seconds; an error is logged and does not end the task.

    `write` requeues what it could not store, so that the next call tries again.
    """

    def __init__(self, name: str, every_s: float, write: Callable[[], Awaitable[None]]) -> None:
        self._name = name
        self._every_s = every_s
        self._write = write
        self._task: asyncio.Task[None] | None = None
        self._stopping = asyncio.Event()

    def start(self) -> None:
        """Write from now on."""
        self._task = asyncio.create_task(self._run(), name=self._name)

    async def stop(self) -> None:
        """Write what is left. A call in progress ends first: cancelled, it might count twice."""
        self._stopping.set()
        if self._task is not None:
            await self._task
        await self._write()

    async def _run(self) -> None:
        while not self._stopping.is_set():
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._stopping.wait(), self._every_s)
            try:
                await self._write()
            except Exception:  # noqa: BLE001  # later events must still be written
                _log.exception("collected events cannot be stored, trying again", task=self._name)
