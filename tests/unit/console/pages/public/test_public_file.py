"""A large file is sent in small pieces to a reader who cannot unpack it."""

import asyncio
from typing import Any

import pytest
from litestar import Litestar, Response, get
from litestar.types import Message

from mudra.console.pages.public.public_response import pack, public_file
from mudra.http.request.request_context import AnyRequest

BODY = b"0123456789" * 300_000
FILE = pack(BODY)
LARGEST = 262_144


@get("/network.json")
async def network(request: AnyRequest) -> Any:
    return public_file(request, Response(b"", media_type="application/json"), FILE)


APP = Litestar([network], openapi_config=None, logging_config=None)


def sent(**headers: str) -> tuple[dict[bytes, bytes], list[bytes]]:
    """Return header and pieces of the answer."""
    messages: list[Any] = []

    async def read() -> None:
        ended = asyncio.Event()
        request = [{"type": "http.request", "body": b"", "more_body": False}]

        async def send(message: Message) -> None:
            messages.append(message)
            if message["type"] == "http.response.body" and not message.get("more_body"):
                ended.set()

        async def receive() -> Any:
            if request:
                return request.pop()
            await ended.wait()
            return {"type": "http.disconnect"}

        lines = [(name.replace("_", "-").encode(), text.encode()) for name, text in headers.items()]
        scope: Any = {
            "type": "http", "http_version": "1.1", "method": "GET", "path": "/network.json",
            "raw_path": b"/network.json", "query_string": b"", "headers": lines,
            "server": ("x", 80), "client": ("127.0.0.1", 1), "scheme": "http", "root_path": "",
        }  # fmt: skip
        await APP(scope, receive, send)

    asyncio.run(read())
    begin, *rest = messages
    return dict(begin["headers"]), [one["body"] for one in rest]


def test_a_reader_who_cannot_unpack_gets_the_file_in_pieces_with_its_length() -> None:
    header, pieces = sent()

    assert b"".join(pieces) == BODY
    assert max(map(len, pieces)) <= LARGEST
    assert header[b"content-length"] == str(len(BODY)).encode()
    assert b"content-encoding" not in header


@pytest.mark.parametrize("encoding", ["gzip", "gzip, br"])
def test_a_reader_who_can_unpack_gets_what_is_kept(encoding: str) -> None:
    header, pieces = sent(accept_encoding=encoding)

    assert pieces == [FILE.packed]
    assert header[b"content-encoding"] == b"gzip"
    assert header[b"content-length"] == str(len(FILE.packed)).encode()


def test_a_reader_who_has_the_file_gets_nothing_of_it() -> None:
    _, pieces = sent(if_none_match=f"W/{FILE.tag}")

    assert b"".join(pieces) == b""
