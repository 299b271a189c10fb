"""An ended connection leaves nothing in memory that only the collector of garbage would find.

Connections live for seconds, so their garbage gets old, and old garbage is looked for rarely: it
would fill memory for many minutes, and keep the pages next to it from being given back.
"""

import asyncio
import contextlib
import gc
import socket
import weakref
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
import uvicorn
import uvloop

from mudra.http.response.json_response import JsonResponse
from mudra.http.server.fast_path_protocol import FastPath, ReadyResponse, fast_path_protocol
from mudra.server_protocol.connection_limits import ConnectionLimits

NOW = datetime(2026, 1, 1, tzinfo=UTC)
GET = b"GET / HTTP/1.1\r\nhost: x\r\n\r\n"
LAST = b"GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n"
POST = b"POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\n"
PROMPT = b"POST /prompt HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\n\r\n1"
OFFER = b"GET / HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: h2c\r\n\r\n"


async def answered_when_asked(scope: object, receive: object, send: object) -> None:
    """Reads all of a request, then answers."""
    more = True
    while more:
        message = await receive()  # type: ignore[operator]
        more = message.get("more_body", False)
    for message in (
        {"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]},
        {"type": "http.response.body", "body": b"ok"},
    ):
        await send(message)  # type: ignore[operator]


@pytest.fixture
def uncollected() -> Iterator[None]:
    """A time without the collector of garbage."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


async def left_of_connections(sent: bytes, answers: int) -> int:
    """How many of 20 connections are in memory after they sent this, got answers and ended."""
    seen = list[weakref.ref[object]]()
    protocol = fast_path_protocol(
        ConnectionLimits(),
        lambda: NOW,
        FastPath("/prompt", lambda *_: ReadyResponse(JsonResponse(200, b"{}"))),
    )

    class Watched(protocol):  # type: ignore[misc, valid-type]
        def connection_made(self, transport: asyncio.Transport) -> None:
            seen.append(weakref.ref(self))
            super().connection_made(transport)

    listener = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(
        answered_when_asked,  # type: ignore[arg-type]  # uvicorn names each message
        http=Watched,
        ws="none",
        lifespan="off",
        log_config=None,
    )
    server = uvicorn.Server(config)
    serving = asyncio.create_task(server.serve([listener]))
    for _ in range(20):
        reader, writer = await asyncio.open_connection(*listener.getsockname())
        writer.write(sent)
        for _ in range(answers):
            head = await reader.readuntil(b"\r\n\r\n")
            assert head.startswith(b"HTTP/1.1 "), head
        writer.close()
        with contextlib.suppress(ConnectionError):
            await writer.wait_closed()
    server.should_exit = True
    await serving  # which waits for all connections, and requests, to end
    assert len(seen) == 20
    return sum(one() is not None for one in seen)


@pytest.mark.parametrize(
    ("sent", "answers"),
    [
        pytest.param(GET, 1, id="answered"),
        pytest.param(LAST, 1, id="answered and closed"),
        pytest.param(GET + GET, 1, id="pipelined"),
        pytest.param(GET, 0, id="left before the answer"),
        pytest.param(POST, 0, id="left within the body"),
        pytest.param(b"POST / HT", 0, id="left within the header"),
        pytest.param(PROMPT, 1, id="answered at once"),
        pytest.param(OFFER, 1, id="offered another protocol"),
        pytest.param(b"no HTTP\r\n\r\n", 1, id="refused"),
        pytest.param(b"", 0, id="without a word"),
    ],
)
@pytest.mark.usefixtures("uncollected")
def test_an_ended_connection_is_gone_at_once(sent: bytes, answers: int) -> None:
    assert uvloop.run(left_of_connections(sent, answers)) == 0
