"""A server without a database whose requests note who gets on, and clients of chosen addresses."""

import asyncio
import contextlib
import socket
import threading
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from datetime import UTC, datetime
from time import perf_counter
from typing import Any, cast

import uvicorn
import uvloop
from msgspec import Struct
from tests.support.until import PATIENCE_S

from mudra.http.response.json_response import JsonResponse
from mudra.http.server.fast_path_protocol import FastPath, fast_path_protocol
from mudra.http.server.instrumentation import instrumented
from mudra.server_protocol.connection_limits import ConnectionLimits

CROWD = 50
STRANGER, OTHER = "127.7.0.1", "127.7.0.2"
AHEAD = 12
"""Requests of a crowd that may get on before one of another client, which needs ten rounds."""


class App:
    """Notes who gets on, in order; `/rounds` needs ten rounds of the loop."""

    def __init__(self) -> None:
        self.got_on: list[str] = []
        self.waiting = 0
        self.at_once_of: Counter[str] = Counter()
        self.signed: list[str] = []
        self.others_meanwhile = 0
        self.worked_s: list[float] = []
        self.took_s: list[float] = []
        self.got_on_before: list[int] = []
        self.given = asyncio.Event()
        self.holding, self.released = threading.Semaphore(0), threading.Semaphore(0)

    async def __call__(
        self, scope: dict[str, Any], receive: Callable[[], Awaitable[Any]], send: Any
    ) -> None:
        client = scope["client"][0]
        for name, value in scope["headers"]:
            if name == b"x-forwarded-for":
                client = value.decode()
        await getattr(self, scope["path"].removeprefix("/"))(client, receive, send)
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _begin(self, send: Any) -> None:
        headers = [(b"transfer-encoding", b"chunked")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})

    def at_once(self, _: object, __: bytes, peer: str) -> "Signed":
        self.at_once_of[peer] += 1
        return Signed(self.signed, peer)

    async def prompt(self, client: str, receive: Callable[[], Awaitable[Any]], send: Any) -> None:
        await self.body(client, receive, send)

    async def hold(self, _: str, __: object, send: Any) -> None:
        self._hold()
        await self._begin(send)

    def _hold(self) -> None:
        """Hold the loop, as a long step would, until the test has sent what is to arrive."""
        self.holding.release()
        assert self.released.acquire(timeout=PATIENCE_S)

    async def work(self, client: str, _: object, send: Any) -> None:
        self.got_on.append(client)
        await self._begin(send)

    async def compute(self, _: str, __: object, send: Any) -> None:
        """Hold the loop for as long as that takes."""
        self.got_on_before.append(len(self.got_on))
        began = perf_counter()
        sum(range(500_000))
        self.worked_s.append(perf_counter() - began)
        await self._begin(send)

    def observe(self, _: str, path: str, *rest: Any) -> None:
        if path == "/compute":
            self.took_s.append(rest[2])

    async def body(self, client: str, receive: Callable[[], Awaitable[Any]], send: Any) -> None:
        self.waiting += 1
        more = True
        while more:
            more = (await receive())["more_body"]
        self.got_on.append(client)
        await self._begin(send)

    async def pieces(self, client: str, _: object, send: Any) -> None:
        await self._begin(send)
        for _piece in range(CROWD):
            self.got_on.append(client)
            await send({"type": "http.response.body", "body": b"x", "more_body": True})

    async def shared(self, client: str, _: object, send: Any) -> None:
        self.waiting += 1
        await self.given.wait()
        await self._begin(send)
        self.got_on.append(client)

    async def give(self, _: str, __: object, send: Any) -> None:
        self.given.set()
        self._hold()
        await self._begin(send)

    async def rounds(self, client: str, _: object, send: Any) -> None:
        for _round in range(10):
            await asyncio.sleep(0)
        self.got_on.append(client)
        await self._begin(send)

    async def steps(self, client: str, receive: Callable[[], Awaitable[Any]], send: Any) -> None:
        """As one that asks a database: many steps, none of which its client has caused."""
        await receive()
        self.waiting += 1
        await self.given.wait()
        before = len(self.got_on)
        for _step in range(10):
            self.got_on.append(client)
            await asyncio.sleep(0)
        self.others_meanwhile = len(self.got_on) - before - 10
        await self._begin(send)

    async def sent_steps(self, client: str, _: object, send: Any) -> None:
        """As one whose answer has begun before it asks a database."""

        async def ended(*_: object) -> None:
            """Nothing is left to receive or to send."""

        await self._begin(send)
        await self.steps(client, ended, ended)


class Signed(Struct, frozen=True):
    """A response of the hot path that notes when it was signed."""

    signed: list[str]
    peer: str

    def sign(self) -> None:
        self.signed.append(self.peer)

    def response(self) -> JsonResponse:
        return JsonResponse(200, b"{}")


class Clients:
    """Connections to the server from chosen addresses."""

    def __init__(self, app: App, address: tuple[str, int]) -> None:
        self.app = app
        self._address = address
        self._open: list[socket.socket] = []

    def connect(self, own: str) -> socket.socket:
        client = socket.create_connection(self._address, 30, source_address=(own, 0))
        self._open.append(client)
        return client

    def held(self, path: str = "/hold") -> contextlib.AbstractContextManager[None]:
        """Have the loop held: what is sent meanwhile arrives in one round.

        The request for it is sent at once, and it is waited for on entering.
        """
        self.connect("127.7.0.3").sendall(request(path))
        return self._held()

    @contextlib.contextmanager
    def _held(self) -> Iterator[None]:
        assert self.app.holding.acquire(timeout=PATIENCE_S)
        try:
            yield
        finally:
            self.app.released.release()

    def end(self) -> None:
        for client in self._open:
            client.close()


def request(path: str, *lines: str, method: str = "GET") -> bytes:
    head = "".join(f"{line}\r\n" for line in ("host: x", *lines))
    return f"{method} {path} HTTP/1.1\r\n{head}\r\n".encode()


def served(limits: ConnectionLimits) -> Iterator[Clients]:
    app = App()
    listener = socket.create_server(("127.0.0.1", 0), backlog=2 * CROWD)
    prompt = FastPath("/prompt", app.at_once)
    config = uvicorn.Config(
        cast("Any", instrumented(cast("Any", app), app.observe)),
        http=fast_path_protocol(limits, lambda: datetime.now(UTC), prompt),
        ws="none",
        lifespan="off",
        log_config=None,
        timeout_graceful_shutdown=1,
    )
    server = uvicorn.Server(config)
    serving = threading.Thread(target=lambda: uvloop.run(server.serve(sockets=[listener])))
    serving.start()
    clients = Clients(app, listener.getsockname())
    yield clients
    clients.end()
    server.should_exit = True
    serving.join(PATIENCE_S)
