"""In front of the application of a sandbox: what faults do to the requests of their entity."""

import asyncio
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

import msgspec
from litestar.enums import ScopeType
from litestar.types import ASGIApp, HTTPScope, Message, Receive, Scope, Send
from litestar.types.asgi_types import HTTPResponseStartEvent

from mudra.demo.faults.claimed_entity import claimed_entity
from mudra.demo.faults.fault import Fault, FaultKind, jump_of
from mudra.demo.faults.fault_board import FaultySigner
from mudra.http.dependencies import HttpDependencies
from mudra.http.request.envelope import Envelope, new_txn_id
from mudra.http.response.http_refusals import Unavailable
from mudra.http.response.json_response import JsonResponse, refusal
from mudra.http.server import probes
from mudra.http.server.instrumentation import set_route
from mudra.http.token.oauth_shapes import OAuthErrorBody
from mudra.shared.time_text import iso_ms
from mudra.shared.unavailable import ServiceUnavailable
from mudra.tokens.authentication.secret_check import RateLimited

_LOOK_S: Final = 0.25
_TOKENS: Final = "/v1/entity/token/generate"
_OAUTH: Final = ("/oauth2/", "/openid-connect/token")
_MARK: Final = b"x-sandbox-fault"


def with_faults(app: ASGIApp, dependencies: HttpDependencies) -> ASGIApp:
    """Let faults answer, delay or change what `app` answers to the entity that they name."""
    assert isinstance(dependencies.signer, FaultySigner), "for the signer of a sandbox"
    board = dependencies.signer.board

    async def faulty(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != ScopeType.HTTP or scope["path"] in probes.PATHS:
            await app(scope, receive, send)
            return
        await board.ready()
        if not board.all():
            await app(scope, receive, send)
            return
        try:
            entity_id, receive = await claimed_entity(scope, receive, dependencies)
        except ServiceUnavailable:
            entity_id = ""  # the application says why
        faults = board.of(entity_id) if entity_id else ()
        if faults:
            await _answer(app, scope, receive, _marked(send, faults), dependencies, faults)
        else:
            await app(scope, receive, send)

    return faulty


async def _answer(  # the application, its three arguments, and what changes it
    app: ASGIApp,
    scope: HTTPScope,
    receive: Receive,
    send: Send,
    dependencies: HttpDependencies,
    faults: Sequence[Fault],
) -> None:
    seconds = {one.kind: one.seconds for one in faults}
    await _wait(seconds.get(FaultKind.SLOW, 0), dependencies)
    wait_s = seconds.get(FaultKind.TOO_MANY_REQUESTS)
    down_s = seconds.get(FaultKind.UNAVAILABLE)
    jump = jump_of(faults)
    if wait_s is not None:
        set_route(scope, "(fault)")
        await _too_many(scope["path"], wait_s, dependencies).send(send)
    elif down_s is not None:
        set_route(scope, "(fault)")
        refused = Unavailable(retry_after_s=down_s)
        await refusal(Envelope(new_txn_id(), dependencies.clock()), refused).send(send)
    elif jump is not None and scope["path"].endswith(_TOKENS):
        await app(scope, receive, _Moved(send, jump))
    else:
        await app(scope, receive, send)


async def _wait(seconds: float, dependencies: HttpDependencies) -> None:
    """Wait, but never longer than this process is to live."""
    for _ in range(round(seconds / _LOOK_S)):
        if dependencies.node.stopping:
            return
        await asyncio.sleep(_LOOK_S)


def _too_many(path: str, wait_s: int, dependencies: HttpDependencies) -> JsonResponse:
    if any(part in path for part in _OAUTH):
        body = OAuthErrorBody("temporarily_unavailable", "too many requests")
        headers = {"Cache-Control": "no-store", "Pragma": "no-cache", "Retry-After": str(wait_s)}
        return JsonResponse(429, msgspec.json.encode(body), headers)
    return refusal(Envelope(new_txn_id(), dependencies.clock()), RateLimited(wait_s))


def _marked(send: Send, faults: Sequence[Fault]) -> Send:
    """Name the faults in a header, so that no one takes them for those of the service."""
    kinds = ", ".join(sorted(one.kind for one in faults)).encode()

    async def marked(message: Message) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [*message["headers"], (_MARK, kinds)]
        await send(message)

    return marked


class _Moved:
    """Moves the `timestamp` of one JSON answer."""

    def __init__(self, send: Send, by: timedelta) -> None:
        self._send = send
        self._by = by
        self._start: HTTPResponseStartEvent | None = None
        self._body = b""

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._start = message
            return
        if message["type"] != "http.response.body" or self._start is None:
            await self._send(message)
            return
        self._body += message["body"]
        if message["more_body"]:
            return
        body = self._moved()
        kept = [pair for pair in self._start["headers"] if pair[0].lower() != b"content-length"]
        self._start["headers"] = [*kept, (b"content-length", b"%d" % len(body))]
        await self._send(self._start)
        await self._send({"type": "http.response.body", "body": body, "more_body": False})

    def _moved(self) -> bytes:
        answer = msgspec.json.decode(self._body)
        at = datetime.fromisoformat(answer["timestamp"])
        return msgspec.json.encode({**answer, "timestamp": iso_ms(at + self._by)})
