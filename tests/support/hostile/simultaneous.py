"""Requests that reach a service at the same moment, each on a connection of its own."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Any

import httpx
from tests.support.service import NO_TLS, Member, Service, new_address

EVERY_WORKER = 12
"""Connections that leave no worker of two unasked (but for one time in 2000)."""


Ask = Callable[[httpx.AsyncClient, int], Coroutine[Any, Any, httpx.Response]]


@contextlib.asynccontextmanager
async def crowd(service: Service, number: int) -> AsyncIterator[list[httpx.AsyncClient]]:
    """Clients with a connection and an address each, ready to ask."""
    clients = [
        httpx.AsyncClient(
            base_url=service.issuer,
            transport=httpx.AsyncHTTPTransport(local_address=new_address(), verify=NO_TLS),
            trust_env=False,
            timeout=60,
        )
        for _ in range(number)
    ]
    try:
        await asyncio.gather(*(client.get("/.well-known/jwks.json") for client in clients))
        yield clients
    finally:
        await asyncio.gather(*(client.aclose() for client in clients))


async def together(clients: list[httpx.AsyncClient], ask: Ask) -> list[httpx.Response]:
    """Let all ask at the same moment."""
    return list(await asyncio.gather(*(ask(client, n) for n, client in enumerate(clients))))


def at_once(service: Service, number: int, ask: Ask) -> list[httpx.Response]:
    """Open `number` connections, then let all ask together."""

    async def all_of_them() -> list[httpx.Response]:
        async with crowd(service, number) as clients:
            return await together(clients, ask)

    return asyncio.run(all_of_them())


def tokens_of_every_worker(member: Member, secret: str) -> list[httpx.Response]:
    """Ask for an Entity Access Token on so many connections that every worker is asked."""
    return at_once(
        member.service,
        EVERY_WORKER,
        lambda client, _: client.post(
            "/v1/entity/token/generate", data={"id": member.entity_id, "secret": secret}
        ),
    )
