"""A whole service in this process: its HTTP edge over a real database, without a socket."""

import asyncio
import contextlib
import threading
from collections import defaultdict
from collections.abc import Coroutine, Iterator
from dataclasses import dataclass
from typing import Any, cast

import httpx2
import uvloop
from tests.support.cheap_hashes import cheap_hashes
from tests.support.kept_routes import give_back, lay_out
from tests.support.until import PATIENCE_S

from mudra.bootstrap.dependencies import build_dependencies
from mudra.bootstrap.routes import ServiceRoutes, application
from mudra.bootstrap.wiring import Edge, open_http_edge
from mudra.settings.settings import Settings
from mudra.storage.crypto.data_encryption import DataEncryption

_taken: dict[asyncio.AbstractEventLoop, list[tuple[Settings, ServiceRoutes]]] = defaultdict(list)


@dataclass
class InProcess(httpx2.BaseTransport):
    """One worker; its loop runs in a thread of its own."""

    loop: asyncio.AbstractEventLoop
    edge: Edge

    def __post_init__(self) -> None:
        settings = self.edge.dependencies.settings
        _taken[self.loop].append((settings, lay_out(settings)))
        app = application(self.edge)

        async def with_state(scope: Any, receive: Any, send: Any) -> None:
            """Add what a server puts into each request's scope."""
            await app(cast("Any", {**scope, "state": {}}), receive, send)

        self._inner = httpx2.ASGITransport(with_state)

    def do(self, work: Coroutine[object, object, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(PATIENCE_S)

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        response: httpx2.Response = self.do(self.handled(request))
        return response

    async def handled(self, request: httpx2.Request) -> httpx2.Response:
        request.stream = httpx2.ByteStream(request.read())
        response = await self._inner.handle_async_request(request)
        content, headers = await response.aread(), response.headers.copy()
        headers.pop("content-encoding", None)  # it is unpacked now
        return httpx2.Response(response.status_code, headers=headers, content=content)

    def client(self, token: str = "") -> httpx2.Client:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        return httpx2.Client(transport=self, base_url="http://127.0.0.1:8080", headers=headers)


@contextlib.contextmanager
def in_process(
    settings: Settings, conninfo: str, encryption: DataEncryption, *, connections: int
) -> Iterator[InProcess]:
    loop, stop = uvloop.new_event_loop(), asyncio.Event()
    thread = threading.Thread(target=_run, args=(loop, stop))
    thread.start()
    dependencies = build_dependencies(settings, conninfo, encryption, connections=connections)
    with cheap_hashes():
        edge = open_http_edge(dependencies)
    served = InProcess(loop, edge)
    try:
        served.do(served.edge.start())
        yield served
    finally:
        served.do(served.edge.stop())
        loop.call_soon_threadsafe(stop.set)
        thread.join(PATIENCE_S)
        loop.close()
        for taken in _taken.pop(loop):
            give_back(*taken)


def _run(loop: asyncio.AbstractEventLoop, stop: asyncio.Event) -> None:
    """Run a loop until it is to stop, and end what still runs in it then.

    It has one task from beginning to end: with that of a request, the process that checks payloads
    would end.
    """
    loop.run_until_complete(stop.wait())
    left = asyncio.all_tasks(loop)
    for task in left:
        task.cancel()
    if left:
        loop.run_until_complete(asyncio.gather(*left, return_exceptions=True))
