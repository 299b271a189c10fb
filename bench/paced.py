"""Requests at an even rate, whatever the answers take: a slow answer makes no request later.

The time of an answer counts from the moment at which its request was due, so that one that
waits for a connection, or for this program, is not flattered.
"""

import asyncio
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

_LENGTH = re.compile(rb"\r\ncontent-length: (\d+)", re.IGNORECASE)
_CLOSES = re.compile(rb"\r\nconnection: close", re.IGNORECASE)
PATIENCE_S = 30.0
MOST_BYTES = 32 << 20
"""Of an answer in chunks."""


@dataclass(frozen=True)
class Answer:
    """One answer: what was asked, when it was due, how long it took, and its status."""

    kind: str
    due: float
    seconds: float
    status: int
    """0 where the connection ended without one."""


@dataclass
class Connections:
    """Connections to one port that stay open, as many as are needed at once."""

    port: int
    idle: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = field(default_factory=list)

    async def ask(self, request: bytes) -> int:
        """Send a request; gives the status of its answer, 0 without one."""
        try:
            return await asyncio.wait_for(self._ask(request), PATIENCE_S)
        except (OSError, EOFError, TimeoutError):
            return 0

    async def _ask(self, request: bytes) -> int:
        # The service closes what is idle for 15 s, as any client sees: that is no failed request.
        while self.idle and self.idle[-1][0].at_eof():
            self.idle.pop()[1].close()
        if self.idle:
            reader, writer = self.idle.pop()
        else:
            reader, writer = await asyncio.open_connection("127.0.0.1", self.port, limit=MOST_BYTES)
        writer.write(request)
        head = await reader.readuntil(b"\r\n\r\n")
        length = _LENGTH.search(head)
        if length:
            await reader.readexactly(int(length[1]))
        else:  # in chunks
            await reader.readuntil(b"0\r\n\r\n")
        if not _CLOSES.search(head):
            self.idle.append((reader, writer))
        else:
            writer.close()
        return int(head[9:12])


async def pace(
    kind: str,
    a_second: float,
    connections: Connections,
    requests: Iterator[bytes],
    answers: Callable[[Answer], None],
    over: asyncio.Event,
) -> None:
    """Ask at this rate until it is over, and for what was asked wait to the end."""

    async def one(request: bytes, due: float) -> None:
        status = await connections.ask(request)
        answers(Answer(kind, due, time.monotonic() - due, status))

    began, place = time.monotonic(), 0
    waiting: set[asyncio.Task[None]] = set()
    while not over.is_set():
        due = began + place / a_second
        await asyncio.sleep(max(0.0, due - time.monotonic()))
        task = asyncio.create_task(one(next(requests), due))
        waiting.add(task)
        task.add_done_callback(waiting.discard)
        place += 1
    await asyncio.gather(*waiting)
