"""Wraps what answers: one log line and one count for each request, `txnId` included."""

from collections.abc import Awaitable, Callable
from time import perf_counter
from typing import Final

from litestar.enums import ScopeType
from litestar.types import ASGIApp, HTTPScope, Message, Receive, Scope, Send
from msgspec import Struct

from mudra.http.request.request_body import Headers
from mudra.http.response.json_response import JsonResponse
from mudra.http.server.fast_path_protocol import FastPath, PendingResponse

ObserveRequest = Callable[[str, str, int, float, str, str], None]
"""Takes method, path, status, seconds, address and transaction ID of an answered request."""

_LATE: Final = "mudra.late_fault"


def note_late_fault(scope: HTTPScope, status: int) -> None:
    """Have a request observed with the status that it would have had, but its head was sent."""
    scope["state"][_LATE] = status


def instrumented(app: ASGIApp, observe: ObserveRequest) -> ASGIApp:
    """Observe every request that `app` answers."""

    async def watching(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != ScopeType.HTTP:
            await app(scope, receive, send)
            return
        started = perf_counter()
        status = 0
        scope.setdefault("state", {})
        txn_id = ""

        def noting(message: Message) -> Awaitable[None]:
            nonlocal status, txn_id
            if message["type"] == "http.response.start":
                status = message["status"]
                for name, value in message["headers"]:
                    if name == b"x-request-id":
                        txn_id = value.decode("latin-1")
                        break
            return send(message)

        try:
            await app(scope, receive, noting)
        finally:
            peer = scope["client"]
            observe(
                scope["method"],
                scope["path"],
                scope["state"].get(_LATE, status),
                perf_counter() - started,
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
        self.observe("POST", self.address, response.status, took, self.peer, txn_id)
        return response
