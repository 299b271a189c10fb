"""Requests that reach a service at the same moment, each on a connection of its own."""

import asyncio
import ssl
from collections.abc import Callable, Coroutine
from typing import Any

import httpx

from tests.support.service import Member, Service, new_address

EVERY_WORKER = 12
"""Connections that leave no worker of two unasked (but for one time in 2000)."""


# One for all: to load the authorities' certificates takes 30 ms for each client.
NO_TLS = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


def at_once(
    service: Service,
    number: int,
    ask: Callable[[httpx.AsyncClient, int], Coroutine[Any, Any, httpx.Response]],
) -> list[httpx.Response]:
    """Open `number` connections, then let all ask together."""

    async def all_of_them() -> list[httpx.Response]:
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
            return list(await asyncio.gather(*(ask(c, n) for n, c in enumerate(clients))))
        finally:
            await asyncio.gather(*(client.aclose() for client in clients))

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
