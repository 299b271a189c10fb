"""Requests that reach a service at the same moment, each on a connection of its own."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Mapping
from typing import Any
from urllib.parse import urlencode

import httpx2
from tests.support.http_clients import NO_TLS, new_address
from tests.support.members import Member
from tests.support.service import Service

EVERY_WORKER = 12
"""Connections that leave no worker of two unasked (but for one time in 2000)."""


Ask = Callable[[httpx2.AsyncClient, int], Coroutine[Any, Any, httpx2.Response]]


@contextlib.asynccontextmanager
async def crowd(service: Service, number: int) -> AsyncIterator[list[httpx2.AsyncClient]]:
    """Clients with a connection and an address each, ready to ask."""
    clients = [
        httpx2.AsyncClient(
            base_url=service.issuer,
            transport=httpx2.AsyncHTTPTransport(local_address=new_address(), verify=NO_TLS),
            trust_env=False,
        )
        for _ in range(number)
    ]
    try:
        await asyncio.gather(*(client.get("/.well-known/jwks.json") for client in clients))
        yield clients
    finally:
        await asyncio.gather(*(client.aclose() for client in clients))


async def together(clients: list[httpx2.AsyncClient], ask: Ask) -> list[httpx2.Response]:
    """Let all ask at the same moment."""
    return list(await asyncio.gather(*(ask(client, n) for n, client in enumerate(clients))))


def at_once(service: Service, number: int, ask: Ask) -> list[httpx2.Response]:
    """Open `number` connections, then let all ask together."""

    async def all_of_them() -> list[httpx2.Response]:
        async with crowd(service, number) as clients:
            return await together(clients, ask)

    return asyncio.run(all_of_them())


def tokens_of_every_worker(member: Member, secret: str) -> list[httpx2.Response]:
    """Ask for an Entity Access Token on so many connections that every worker is asked."""
    form = urlencode({"id": member.entity_id, "secret": secret})
    path, media = "/iam/v1/entity/token/generate", "application/x-www-form-urlencoded"
    return asked_at_once(
        member.service,
        EVERY_WORKER,
        f"POST {path}",
        {"Content-Type": media, "Content-Length": str(len(form))},
        form,
    )


def asked_at_once(
    service: Service, number: int, what: str, headers: Mapping[str, str], body: str = ""
) -> list[httpx2.Response]:
    """Ask for the same on so many new connections at once; `what` is method and path.

    Less CPU than clients of httpx2 take, of which each has a connection.
    """
    host = service.root.removeprefix("http://")
    name, _, port = host.partition(":")
    lines = {"Host": host, "Accept-Encoding": "gzip", "Connection": "close", **headers}
    fields = "".join(f"{field}: {value}\r\n" for field, value in lines.items())
    request = f"{what} HTTP/1.1\r\n{fields}\r\n{body}".encode()

    async def begin_one() -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        reader, writer = await asyncio.open_connection(name, port, local_addr=(new_address(), 0))
        writer.write(request)  # a busy machine: a service ends a connection that says nothing
        return reader, writer

    async def all_of_them() -> list[bytes]:
        opened = await asyncio.gather(*(begin_one() for _ in range(number)))
        answers = await asyncio.gather(*(reader.read() for reader, _ in opened))
        for _, writer in opened:
            writer.close()
        return answers

    return [_response(answer) for answer in asyncio.run(all_of_them())]


def _response(answer: bytes) -> httpx2.Response:
    head, _, body = answer.partition(b"\r\n\r\n")
    status, *lines = head.decode().split("\r\n")
    headers = httpx2.Headers([(one.partition(": ")[0], one.partition(": ")[2]) for one in lines])
    if headers.get("Transfer-Encoding") == "chunked":
        body = b"".join(_chunks(body))
    return httpx2.Response(int(status.split()[1]), headers=headers, content=body)


def _chunks(body: bytes) -> Iterator[bytes]:
    """The pieces of a body that was sent in chunks (RFC 9112, 7.1)."""
    size, _, rest = body.partition(b"\r\n")
    while length := int(size, 16):
        yield rest[:length]
        size, _, rest = rest[length + 2 :].partition(b"\r\n")
