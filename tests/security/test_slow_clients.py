"""Clients that take their time: each connection ends by its limit."""

import asyncio
import select
import socket
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlsplit

import pytest
import uvicorn
import uvloop
from tests.support.depth import examples, with_every_change
from tests.support.http_clients import new_address
from tests.support.members import Member, new_member
from tests.support.service import Service
from tests.support.until import PATIENCE_S

from mudra.http.server.fast_path_protocol import FastPath, fast_path_protocol
from mudra.server_protocol.connection_limits import ConnectionLimits

OF_EACH_KIND = examples(2)
EARLY_S = 0.5
"""Clocks of two processes are compared; an end this much before its limit is none too early."""
LATE_S = 30.0
"""A machine that runs other tests as well is late, never deaf: without a limit nothing ends at all."""
PATH = "/iam/v1/entity/token/generate"
HEAD = (
    f"POST {PATH} HTTP/1.1\r\nhost: x\r\ncontent-type: application/x-www-form-urlencoded\r\n"
).encode()

IDLE_S = 1.0
PIECE = b"a" * 65_536
PIECES = 512
"""32 MiB: several times what the kernel takes for a client that reads nothing."""

Talk = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


async def says_nothing(_: asyncio.StreamReader, __: asyncio.StreamWriter) -> None:
    await asyncio.sleep(0)


async def drips_its_header(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await drip(writer, HEAD + b"x-slow: " + b"s" * 100)


async def announces_a_body_and_sends_none(
    _: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> None:
    writer.write(HEAD + b"content-length: 50\r\n\r\n")


async def drips_its_body(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(HEAD + b"content-length: 500\r\n\r\nid=")
    await drip(writer, b"a" * 400)


async def drips_chunks(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(HEAD + b"transfer-encoding: chunked\r\n\r\n3\r\nid=\r\n")
    await drip(writer, b"1\r\na\r\n" * 40, at_once=6)


async def stays_after_its_answer(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> None:
    writer.write(b"GET /livez HTTP/1.1\r\nhost: x\r\n\r\n")
    assert (await reader.readline()).startswith(b"HTTP/1.1 200")


async def stays_after_being_answered_at_once(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> None:
    writer.write(HEAD + b"content-length: 4\r\n\r\nid=a")
    assert (await reader.readline()).startswith(b"HTTP/1.1 400")


async def drip(writer: asyncio.StreamWriter, text: bytes, at_once: int = 4) -> None:
    """Send a little twice a second, until the other end has had enough."""
    for start in range(0, len(text), at_once):
        writer.write(text[start : start + at_once])
        await writer.drain()
        await asyncio.sleep(0.5)


STAYING = (stays_after_its_answer, stays_after_being_answered_at_once)


async def lasted(port: int, talk: Talk) -> tuple[float, bytes]:
    """Seconds until the service ended the connection, and what it said."""
    began = time.monotonic()
    reader, writer = await asyncio.open_connection("127.0.0.1", port, local_addr=(new_address(), 0))

    async def talking() -> None:
        try:
            await talk(reader, writer)
        except ConnectionError:
            return  # the end that this test waits for

    speaking = asyncio.create_task(talking())
    try:
        if talk in STAYING:
            await speaking
            began = time.monotonic()
        heard = await asyncio.wait_for(reader.read(), 60)
    except ConnectionError:
        heard = b""
    finally:
        speaking.cancel()
        writer.close()
    return time.monotonic() - began, heard


@pytest.mark.deeper
def test_each_kind_of_slow_client_is_ended_by_its_limit(service: Service) -> None:
    member = new_member(service)
    port = urlsplit(service.issuer).port
    assert port is not None
    limits: dict[Talk, tuple[float, bytes]] = {
        says_nothing: (10, b""),
        drips_its_header: (10, b"HTTP/1.1 408"),
        announces_a_body_and_sends_none: (5, b"HTTP/1.1 408"),
        drips_its_body: (5, b"HTTP/1.1 408"),
        drips_chunks: (5, b"HTTP/1.1 408"),
        stays_after_its_answer: (15, b""),
        stays_after_being_answered_at_once: (15, b""),
    }

    ends = asyncio.run(with_a_good_client(member, port, list(limits)))

    for talk, (limit_s, answer) in limits.items():
        assert len(ends[talk]) == OF_EACH_KIND
        for seconds, heard in ends[talk]:
            assert limit_s - EARLY_S <= seconds <= limit_s + LATE_S, talk.__name__
            if talk not in STAYING:
                assert heard[:12] == answer, talk.__name__
            if answer:
                assert b'"errorCode"' in heard


async def with_a_good_client(
    member: Member, port: int, talks: list[Talk]
) -> dict[Talk, list[tuple[float, bytes]]]:
    """End all kinds at once, while a member gets its tokens as ever."""
    secret = await asyncio.to_thread(member.secret)
    slow = {
        talk: asyncio.gather(*(lasted(port, talk) for _ in range(OF_EACH_KIND))) for talk in talks
    }
    while not all(task.done() for task in slow.values()):
        assert (await asyncio.to_thread(member.entity_token, secret)).status_code == 200
        await asyncio.sleep(0.5)
    return {talk: list(await task) for talk, task in slow.items()}


@pytest.mark.parametrize("pieces", [1, 2, 7])
def test_a_body_in_pieces_is_read_whole(member: Member, pieces: int) -> None:
    secret = member.secret()
    body = f"id={member.entity_id}&secret={secret}".encode()
    port = urlsplit(member.service.issuer).port
    assert port is not None

    answer = asyncio.run(in_pieces(port, body, pieces))

    assert answer.startswith(b"HTTP/1.1 200")
    assert b'"accessToken"' in answer


async def in_pieces(port: int, body: bytes, pieces: int) -> bytes:
    reader, writer = await asyncio.open_connection("127.0.0.1", port, local_addr=(new_address(), 0))
    writer.write(HEAD + f"content-length: {len(body)}\r\nconnection: close\r\n\r\n".encode())
    size = -(-len(body) // pieces)
    for start in range(0, len(body), size):
        await writer.drain()
        await asyncio.sleep(0.05)  # so that each is a packet of its own
        writer.write(body[start : start + size])
    heard = await reader.read()
    writer.close()
    return heard


async def large(scope: dict[str, Any], _: object, send: Callable[..., Awaitable[None]]) -> None:
    """Answer with much, in one piece or in many, by the address."""
    pieces = {"/whole": [PIECE * PIECES], "/pieces": [PIECE] * PIECES}[scope["path"]]
    length = str(len(PIECE) * PIECES).encode()
    headers = [(b"content-length", length)]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    for piece in pieces:
        await send({"type": "http.response.body", "body": piece, "more_body": True})
    await send({"type": "http.response.body"})


@pytest.fixture(scope="module")
def large_answers() -> Iterator[tuple[str, int]]:
    """A server of large answers, whose patience is short."""
    listener = socket.create_server(("127.0.0.1", 0))
    limits = ConnectionLimits(idle_s=IDLE_S)
    protocol = fast_path_protocol(
        limits, lambda: datetime.now(UTC), FastPath("/none", lambda *_: None)
    )
    config = uvicorn.Config(
        large,  # type: ignore[arg-type]  # uvicorn names each message
        http=protocol,
        ws="none",
        lifespan="off",
        log_config=None,
        timeout_graceful_shutdown=0,
    )
    server = uvicorn.Server(config)
    serving = threading.Thread(target=lambda: uvloop.run(server.serve(sockets=[listener])))
    serving.start()
    yield listener.getsockname()
    server.should_exit = True
    serving.join(PATIENCE_S)


@pytest.mark.parametrize("last", with_every_change([""], ["", "connection: close\r\n"]))
@pytest.mark.parametrize("path", ["/whole", "/pieces"])
def test_a_client_that_reads_nothing_of_its_answer_is_ended(
    large_answers: tuple[str, int], path: str, last: str
) -> None:
    with socket.create_connection(large_answers) as client:
        client.sendall(f"GET {path} HTTP/1.1\r\nhost: x\r\n{last}\r\n".encode())
        end = select.poll()
        end.register(client, 0)  # to see its end without a look at what came

        ended = end.poll((2 * IDLE_S + LATE_S) * 1000)

    assert [events & select.POLLHUP for _, events in ended] == [select.POLLHUP]


def read_slowly(client: socket.socket) -> bytes:
    """Read a little at a time for longer than the server is patient, then the rest."""
    until = time.monotonic() + 3 * IDLE_S
    heard = b""
    while time.monotonic() < until:
        heard += client.recv(10_000)
        time.sleep(IDLE_S / 20)
    return heard + client.makefile("rb").read()


@pytest.mark.parametrize("path", ["/whole", "/pieces"])
def test_a_client_that_reads_slowly_gets_its_whole_answer(
    large_answers: tuple[str, int], path: str
) -> None:
    with socket.create_connection(large_answers, LATE_S) as client:
        request = f"GET {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n"
        client.sendall(request.encode())
        _, body = read_slowly(client).split(b"\r\n\r\n", 1)

    assert len(body) == PIECES * len(PIECE)
