"""Many callers of one object: one of them renews for all, and may leave before it is done."""

import asyncio

import httpx2
import pytest

from mudra.client import AsyncEntityTokenSource, EntityTokenSource

SERVICE = "http://127.0.0.1/iam"


class SlowService(httpx2.AsyncBaseTransport):
    """A token service that answers when it is let go on."""

    def __init__(self) -> None:
        self.requests = 0
        self.was_asked, self.goes_on = asyncio.Event(), asyncio.Event()

    async def handle_async_request(self, _: httpx2.Request) -> httpx2.Response:
        self.requests += 1
        self.was_asked.set()
        await self.goes_on.wait()
        return httpx2.Response(200, json={"accessToken": "token-1", "expiresIn": 900})


def source(service: SlowService) -> AsyncEntityTokenSource:
    http = httpx2.AsyncClient(transport=service)
    return AsyncEntityTokenSource(SERVICE, "AA-1", lambda: "secret", http=http)


def test_a_cancelled_task_leaves_the_renewal_to_those_who_wait() -> None:
    async def ask() -> tuple[bool, str, int]:
        service = SlowService()
        tokens = source(service)
        impatient = asyncio.create_task(tokens.token())
        await service.was_asked.wait()
        patient = asyncio.create_task(tokens.token())
        impatient.cancel()
        await asyncio.wait([impatient])
        service.goes_on.set()
        token = await patient
        await tokens.aclose()
        return impatient.cancelled(), token, service.requests

    assert asyncio.run(ask()) == (True, "token-1", 1)


def test_who_closes_a_source_ends_its_renewal() -> None:
    async def ask() -> bool:
        service = SlowService()
        tokens = source(service)
        waiting = asyncio.create_task(tokens.token())
        await service.was_asked.wait()
        await tokens.aclose()
        await asyncio.wait([waiting], timeout=5)
        return waiting.cancelled()

    assert asyncio.run(ask())


async def read_by_coroutine() -> str:
    await asyncio.sleep(0)
    return "secret"


def test_a_coroutine_is_refused_by_a_class_for_threads() -> None:
    tokens = EntityTokenSource(SERVICE, "AA-1", read_by_coroutine)  # type: ignore[arg-type]

    with pytest.raises(TypeError, match="use its Async… twin"):
        tokens.token()
