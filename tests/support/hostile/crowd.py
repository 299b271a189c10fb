"""One address with many connections, each of which asks again as soon as it is answered.

    python -m tests.support.hostile.crowd PORT CONNECTIONS

Runs in a process of its own until it is killed. Each request on its input, after four bytes of
length, is from then on the one that all send; a line says that they do.
"""

import asyncio
import contextlib
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import uvloop

_LENGTH = re.compile(rb"\r\ncontent-length: (\d+)", re.IGNORECASE)
_NO_BODY = (b" 204 ", b" 304 ")
_AGAIN_S = 0.01
_LOOKS = 100
"""After a second a crowd is there, whether each of it was answered or not."""


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
    def __init__(self, port: int) -> None:
        self._port = port
        self.request = b""
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


async def _attack(port: int, connections: int) -> None:
    crowd, said = _Crowd(port), asyncio.StreamReader()
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(said), sys.stdin)
    while True:
        crowd.request = await said.readexactly(int.from_bytes(await said.readexactly(4)))
        if not crowd.answers:
            for _ in range(connections):
                crowd.come()
        enough = crowd.answers + connections
        for _ in range(_LOOKS):
            if crowd.answers >= enough:
                break
            await asyncio.sleep(_AGAIN_S)
        sys.stdout.write("there\n")
        sys.stdout.flush()


class Crowd:
    """A crowd that is running."""

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self._input, self._lines = process.stdin, process.stdout

    def send(self, request: bytes) -> None:
        """Have all send this request from now on; returns when they do."""
        self._input.write(len(request).to_bytes(4) + request)
        self._input.flush()
        assert self._lines.readline()


@contextlib.contextmanager
def crowd(port: int, connections: int) -> Iterator[Crowd]:
    """Have so many connections from 127.0.0.1 for the length of the block."""
    command = [sys.executable, "-m", __spec__.name, str(port), str(connections)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=Path(__file__).parents[3]
    ) as process:
        try:
            yield Crowd(process)
        finally:
            process.kill()


if __name__ == "__main__":
    os.nice(5)
    uvloop.run(_attack(int(sys.argv[1]), int(sys.argv[2])))
