"""What is observed of a request: how long its reader waited, not how long it stayed."""

import asyncio
from time import perf_counter
from typing import Any, Final, cast

import pytest
from litestar.types import HTTPScope, Message, Receive, Scope, Send
from msgspec import Struct

from mudra.http.server.instrumentation import instrumented

SCOPE: Final = {"type": "http", "method": "GET", "path": "/feed", "client": ("127.0.0.1", 1)}
HEADERS: Final = [(b"x-request-id", b"t-1"), (b"x-other", b"1")]


class Observed(Struct, kw_only=True):
    """What was observed, and the times of the application itself."""

    asked: float
    began: float = 0
    ended: float = 0
    took: float = 0
    status: int = 0
    txn_id: str = ""


async def _none() -> Message:
    raise AssertionError("nothing is received")


async def _sent(_message: Message) -> None:
    """Take what is sent."""


async def _observed(content_type: bytes) -> Observed:
    async def app(_scope: Scope, _receive: Receive, send: Send) -> None:
        headers = [*HEADERS, (b"content-type", content_type)]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        it.began = perf_counter()
        sum(range(500_000))  # it lasts: milliseconds, where the head takes a thousandth of one
        it.ended = perf_counter()
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    def observe(*fields: Any) -> None:
        _, _, _, it.status, it.took, _, it.txn_id = fields

    it = Observed(asked=perf_counter())
    await instrumented(app, observe)(cast("HTTPScope", {**SCOPE}), _none, _sent)
    return it


@pytest.mark.parametrize(
    "content_type", [b"text/event-stream", b"text/event-stream; charset=utf-8"]
)
def test_an_event_stream_took_the_seconds_until_it_began(content_type: bytes) -> None:
    it = asyncio.run(_observed(content_type))

    assert (it.status, it.txn_id) == (200, "t-1")
    assert 0 < it.took <= it.began - it.asked


def test_any_other_response_took_the_seconds_until_its_end() -> None:
    it = asyncio.run(_observed(b"application/json"))

    assert (it.status, it.txn_id) == (200, "t-1")
    assert it.took >= it.ended - it.began
