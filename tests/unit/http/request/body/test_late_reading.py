"""A body that was sent in time is not refused because the process was too busy to read it."""

import asyncio
import contextlib
import socket
import time
from collections.abc import Mapping

import pytest
import uvloop

from mudra.server_protocol.body_errors import BodyReadLate, BodyRefused, BodyTooSlow
from mudra.server_protocol.body_reader import BodyLimits, read_typed_body

HEADERS = [(b"content-type", b"application/json")]
LIMITS = BodyLimits(1024, whole_s=0.2, free_s=0.2)
STALL_S = 1.0


class Arriving(asyncio.Protocol):
    """What came is kept until it is asked for, as uvicorn does."""

    def __init__(self, whole: bytes) -> None:
        self.left = len(whole)
        self.pieces = b""
        self.came = asyncio.Event()

    def data_received(self, data: bytes) -> None:
        self.left -= len(data)
        self.pieces += data
        self.came.set()

    async def receive(self) -> Mapping[str, object]:
        await self.came.wait()
        self.came.clear()
        piece, self.pieces = self.pieces, b""
        return {"type": "http.request", "body": piece, "more_body": self.left > 0}


def read(
    sent: bytes, whole: bytes, *, stalled: bool, kind: type[asyncio.AbstractEventLoop]
) -> object:
    """Read a body of which `sent` comes at once, while something else keeps the loop busy."""

    async def reading() -> bytes | BodyRefused:
        loop = asyncio.get_running_loop()
        ours, theirs = socket.socketpair()
        transport, arriving = await loop.create_connection(lambda: Arriving(whole), sock=ours)

        def stall() -> None:
            theirs.send(sent)
            time.sleep(STALL_S)

        with theirs, contextlib.closing(transport):
            if stalled:
                loop.call_later(0.05, stall)
            elif sent:
                theirs.send(sent)
            return await read_typed_body(arriving.receive, HEADERS, LIMITS)

    with asyncio.Runner(loop_factory=kind) as runner:
        return runner.run(reading())


@pytest.mark.parametrize("kind", [asyncio.SelectorEventLoop, uvloop.Loop])
@pytest.mark.parametrize(
    ("sent", "stalled", "result"),
    [
        (b"{}  ", True, b"{}  "),
        (b"{}", True, BodyReadLate()),
        (b"", True, BodyTooSlow(0.2, 1024)),
        (b"{}", False, BodyTooSlow(0.2, 1024)),
    ],
    ids=["whole", "in part", "nothing", "in part, not busy"],
)
def test_who_is_late_is_named(
    kind: type[asyncio.AbstractEventLoop], sent: bytes, stalled: bool, result: object
) -> None:
    assert read(sent, b"{}  ", stalled=stalled, kind=kind) == result
