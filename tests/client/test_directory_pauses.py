"""A registry that answers with an error is asked again when it wants to be, and not for all."""

import asyncio
from collections.abc import Iterator

import httpx2
import pytest
from tests.support.issuer import Hands, Issuer

from mudra.client import (
    AsyncDirectory,
    AsyncEntityTokenSource,
    AsyncTokenVerifier,
    Directory,
    DirectoryUnavailable,
    EntityTokenSource,
    TokenVerifier,
)

REGISTRY = "https://registry.example/cr/v2"


@pytest.fixture
def issuer() -> Iterator[Issuer]:
    one = Issuer()
    yield one
    one.close()


class Refusing:
    """A registry that has an error for every question, and keeps when it was asked."""

    def __init__(self, status: int, retry_after: str) -> None:
        self.status, self.headers = status, {"retry-after": retry_after}
        self.clock = Hands(0)
        self.asked: list[tuple[float, str]] = []

    def __call__(self, request: httpx2.Request) -> httpx2.Response:
        self.asked.append((self.clock.now, request.url.query.decode()))
        return httpx2.Response(self.status, headers=self.headers)


def looked_up(issuer: Issuer, registry: Refusing, *times: float) -> str:
    """Look an entry up at these times; give why a refresh after them fails."""
    tokens = EntityTokenSource(issuer.url, "HDFC-FIP", lambda: "the-secret", steady=registry.clock)
    verifier = TokenVerifier(issuer.url, steady=registry.clock)
    http = httpx2.Client(transport=httpx2.MockTransport(registry))
    directory = Directory(REGISTRY, tokens, verifier, http=http, steady=registry.clock)
    for registry.clock.now in times:
        with pytest.raises(DirectoryUnavailable):
            directory.entry("KAVERI-FIP")
    with pytest.raises(DirectoryUnavailable) as failure:
        directory.refresh()
    return str(failure.value)


def alooked_up(issuer: Issuer, registry: Refusing, *times: float) -> str:
    async def look() -> str:
        tokens = AsyncEntityTokenSource(
            issuer.url, "HDFC-FIP", lambda: "the-secret", steady=registry.clock
        )
        verifier = AsyncTokenVerifier(issuer.url, steady=registry.clock)
        http = httpx2.AsyncClient(transport=httpx2.MockTransport(registry))
        directory = AsyncDirectory(REGISTRY, tokens, verifier, http=http, steady=registry.clock)
        for registry.clock.now in times:
            with pytest.raises(DirectoryUnavailable):
                await directory.entry("KAVERI-FIP")
        with pytest.raises(DirectoryUnavailable) as failure:
            await directory.refresh()
        await tokens.aclose()
        return str(failure.value)

    return asyncio.run(look())


@pytest.mark.parametrize("look", [looked_up, alooked_up])
@pytest.mark.parametrize(
    ("status", "retry_after", "pause"),
    [(503, "40", 40), (429, "3600", 3600), (500, "", 5), (404, "40", 5), (302, "", 5)],
)
def test_after_an_error_the_registry_is_asked_once_when_it_wants_to_be(
    issuer: Issuer, look, status: int, retry_after: str, pause: float
) -> None:
    registry = Refusing(status, retry_after)

    problem = look(issuer, registry, 0, 1, pause - 1, pause, pause + 1)

    assert [at for at, _ in registry.asked] == [0, pause, pause + 1]
    assert {query for _, query in registry.asked} == {"since=0"}
    assert f"the registry answered {status}" in problem
