"""Wraps what answers: one log line and one count for each request, `txnId` included."""

from collections.abc import Awaitable, Callable
from time import perf_counter
from typing import Final

from litestar.enums import ScopeType
from litestar.types import ASGIApp, HTTPScope, Message, Receive, Scope, Send
from msgspec import Struct

from mudra.http.response.json_response import JsonResponse
from mudra.http.server.fast_path_protocol import FastPath, PendingResponse
from mudra.server_protocol.body_reader import Headers
from mudra.server_protocol.client_turns import arrival

ObserveRequest = Callable[[str, str, str, int, float, str, str], None]
"""Takes method, path, route, status, seconds, address and transaction ID of a request.

The route is a template out of the closed set that the service has, or empty: what an anonymous
caller invents never becomes a label.
"""

_EVENT_STREAM: Final = b"text/event-stream"
_LATE: Final = "mudra.late_fault"
_ROUTE: Final = "mudra.route"


def note_late_fault(scope: HTTPScope, status: int) -> None:
    """Have a request observed with the status that it would have had, but its head was sent."""
    scope["state"][_LATE] = status


def set_route(scope: Scope, route: str) -> None:
    """Name the route that answers a request, for what is not routed by the framework."""
    scope["state"][_ROUTE] = route


def with_route(app: ASGIApp) -> ASGIApp:
    """Keep the template of the route by which the framework answered.

    In the state, since a wrapper further out may have passed on a copy of the scope.
    """

    async def routed(scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await app(scope, receive, send)
        finally:
            if scope["type"] == ScopeType.HTTP:
                scope.setdefault("state", {})[_ROUTE] = scope.get("path_template", "")

    return routed


def instrumented(app: ASGIApp, observe: ObserveRequest) -> ASGIApp:
    """Observe every request that `app` answers.

    The seconds of an event stream are those until it begins: it lasts as long as its reader
    stays, or until the node restarts, and that is not how slow the service is.
    """

    async def watching(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != ScopeType.HTTP:
            await app(scope, receive, send)
            return
        started = arrival(scope.setdefault("state", {}))
        stream_began = None
        status = 0
        txn_id = ""

        def noting(message: Message) -> Awaitable[None]:
            nonlocal status, txn_id, stream_began
            if message["type"] == "http.response.start":
                status = message["status"]
                for name, value in message["headers"]:
                    if name == b"x-request-id":
                        txn_id = value.decode("latin-1")
                    elif name == b"content-type" and value.startswith(_EVENT_STREAM):
                        stream_began = perf_counter()
            return send(message)

        try:
            await app(scope, receive, noting)
        finally:
            peer = scope["client"]
            observe(
                scope["method"],
                scope["path"],
                scope["state"].get(_ROUTE, ""),
                scope["state"].get(_LATE, status),
                (stream_began or perf_counter()) - started,
                peer[0] if peer else "",
                txn_id,
            )

    return watching


def instrumented_fast_path(fast_path: FastPath, observe: ObserveRequest) -> FastPath:
    """Observe every request that `fast_path` answers; `instrumented` observes the others."""

    def try_respond(headers: Headers, body: bytes, peer: str) -> PendingResponse | None:
        started = perf_counter()
        pending = fast_path.try_respond(headers, body, peer)
        if pending is None:
            return None
        return _ObservedResponse(pending, started, peer, fast_path.address, observe)

    return FastPath(fast_path.address, try_respond)


class _ObservedResponse(Struct, frozen=True):
    pending: PendingResponse
    started: float
    peer: str
    address: str
    observe: ObserveRequest

    def sign(self) -> None:
        self.pending.sign()

    def response(self) -> JsonResponse:
        response = self.pending.response()
        took = perf_counter() - self.started
        txn_id = response.headers["X-Request-Id"]
        self.observe("POST", self.address, self.address, response.status, took, self.peer, txn_id)
        return response
