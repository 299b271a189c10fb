"""Responses without an end, from whatever answers instead of the token service."""

import asyncio
from collections.abc import AsyncIterator, Iterator

import httpx2
import pytest

from mudra.client import AsyncEntityTokenSource, EntityTokenSource, UnexpectedResponse


def _endless() -> Iterator[bytes]:
    while True:
        yield b"x" * 16_384


async def _aendless() -> AsyncIterator[bytes]:
    for part in _endless():
        yield part


def test_a_response_without_an_end_is_cut_off() -> None:
    transport = httpx2.MockTransport(lambda _: httpx2.Response(200, content=_endless()))
    tokens = EntityTokenSource(
        "http://127.0.0.1/iam", "AA-1", lambda: "secret", http=httpx2.Client(transport=transport)
    )

    with pytest.raises(UnexpectedResponse, match="200 without a token"):
        tokens.token()


def test_a_response_without_an_end_is_cut_off_on_an_event_loop() -> None:
    transport = httpx2.MockTransport(lambda _: httpx2.Response(200, content=_aendless()))
    tokens = AsyncEntityTokenSource(
        "http://127.0.0.1/iam",
        "AA-1",
        lambda: "secret",
        http=httpx2.AsyncClient(transport=transport),
    )

    with pytest.raises(UnexpectedResponse, match="200 without a token"):
        asyncio.run(tokens.token())
