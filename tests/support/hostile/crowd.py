"""One address with many connections, each of which asks again as soon as it is answered.

    python -m tests.support.hostile.crowd PORT CONNECTIONS < REQUEST

Runs in a process of its own until it is killed, and writes the number of answers each second.
"""

import asyncio
import contextlib
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO, cast

import uvloop

_LENGTH = re.compile(rb"\r\ncontent-length: (\d+)", re.IGNORECASE)
_NO_BODY = (b" 204 ", b" 304 ")
_AGAIN_S = 0.01


class _Member(asyncio.Protocol):
    """One connection of the crowd."""

    def __init__(self, crowd: "_Crowd") -> None:
        self._crowd = crowd
        self._got = bytearray()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self._transport.write(self._crowd.request)

    def data_received(self, data: bytes) -> None:
        self._got += data
        if self._is_whole():
            self._got.clear()
            self._crowd.answers += 1
            self._transport.write(self._crowd.request)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002  # a lost one is replaced
        asyncio.get_running_loop().call_later(_AGAIN_S, self._crowd.come)

    def _is_whole(self) -> bool:
        head, end, body = bytes(self._got[:8192]).partition(b"\r\n\r\n")
        if not end:
            return False
        length = _LENGTH.search(head)
        if length:
            return len(self._got) - len(head) - 4 >= int(length[1])
        return head[8:13] in _NO_BODY or self._got.endswith(b"0\r\n\r\n") or not body


class _Crowd:
    def __init__(self, port: int, request: bytes) -> None:
        self._port = port
        self.request = request
        self.answers = 0
        self._coming = set[asyncio.Task[None]]()

    def come(self) -> None:
        """Have one more connection."""
        task = asyncio.get_running_loop().create_task(self._connect())
        self._coming.add(task)
        task.add_done_callback(self._coming.discard)

    async def _connect(self) -> None:
        loop = asyncio.get_running_loop()
        try:
            await loop.create_connection(lambda: _Member(self), "127.0.0.1", self._port)
        except OSError:
            loop.call_later(_AGAIN_S, self.come)


async def _attack(port: int, connections: int, request: bytes) -> None:
    crowd = _Crowd(port, request)
    for _ in range(connections):
        crowd.come()
    while True:
        await asyncio.sleep(1)
        sys.stdout.write(f"{crowd.answers}\n")
        sys.stdout.flush()


@contextlib.contextmanager
def crowd(port: int, connections: int, request: bytes) -> Iterator[IO[bytes]]:
    """Have so many connections from 127.0.0.1 send a request for the length of the block.

    Gives what it writes: a line for each second.
    """
    command = [sys.executable, "-m", __spec__.name, str(port), str(connections)]
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=Path(__file__).parents[3]
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        process.stdin.write(request)
        process.stdin.close()
        yield process.stdout
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


if __name__ == "__main__":
    os.nice(5)
    uvloop.run(_attack(int(sys.argv[1]), int(sys.argv[2]), sys.stdin.buffer.read()))
