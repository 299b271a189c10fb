"""A task that writes what has been collected in memory."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable

import structlog

_log = structlog.get_logger()


class WriteBehind:
    """Calls `write` within `every_s` seconds of `due`; while nothing is due it sleeps.

    An error is logged and does not end the task: it is tried again. A `write` that puts back
    what it could not store says `due` too.
    """

    def __init__(self, name: str, every_s: float, write: Callable[[], Awaitable[None]]) -> None:
        self._name = name
        self._every_s = every_s
        self._write = write
        self._task: asyncio.Task[None] | None = None
        self._due = asyncio.Event()
        self._stopping = asyncio.Event()

    def due(self) -> None:
        """Say that there is something to write."""
        self._due.set()

    def start(self) -> None:
        """Write from now on."""
        self._task = asyncio.create_task(self._run(), name=self._name)

    async def stop(self) -> None:
        """Write what is left. A call in progress ends first: cancelled, it might count twice."""
        self._stopping.set()
        self._due.set()
        if self._task is not None:
            await self._task
        await self._write()

    async def _run(self) -> None:
        while not self._stopping.is_set():
            await self._due.wait()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._stopping.wait(), self._every_s)
            self._due.clear()
            try:
                await self._write()
            except Exception:  # noqa: BLE001  # later events must still be written
                _log.exception("collected events cannot be stored, trying again", task=self._name)
                self._due.set()
