"""Waits for a socket without waking meanwhile."""

import asyncio


class Quiet:
    """A wait that something to read ends, or `end`.

    psycopg's own wait wakes ten times a second, in each process of a machine.
    """

    def __init__(self) -> None:
        self._woken: asyncio.Future[None] | None = None

    def end(self) -> None:
        """End the wait that is going on, if any."""
        if self._woken is not None and not self._woken.done():
            self._woken.set_result(None)

    async def until_readable(self, fd: int, seconds: float) -> None:
        """Return when there is something to read, after `end`, or after `seconds`."""
        loop = asyncio.get_running_loop()
        self._woken = loop.create_future()
        loop.add_reader(fd, self.end)
        timer = loop.call_later(seconds, self.end)
        try:
            await self._woken
        finally:
            timer.cancel()
            loop.remove_reader(fd)
