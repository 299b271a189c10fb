"""In front of the application of a sandbox: what faults do to the requests of their entity."""

import asyncio
import re
from base64 import urlsafe_b64decode
from collections import deque
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final
from urllib.parse import parse_qsl

import msgspec
from litestar.enums import ScopeType
from litestar.types import ASGIApp, HTTPScope, Message, Receive, ReceiveMessage, Scope, Send
from litestar.types.asgi_types import HTTPResponseStartEvent
from msgspec import Struct

from mudra.demo.faults.fault import Fault, FaultKind, jump_of
from mudra.demo.faults.fault_board import FaultySigner
from mudra.http.auth.bearer import authorization_of, presented_token
from mudra.http.dependencies import HttpDependencies
from mudra.http.request.body.request_body import FORM, FORM_LIMITS
from mudra.http.request.request_context import AnyRequest, Envelope, new_txn_id
from mudra.http.response.http_refusals import NoAuthorization, Unavailable
from mudra.http.response.json_response import JsonResponse, refusal
from mudra.http.server import probes
from mudra.http.server.instrumentation import set_route
from mudra.http.token.oauth import basic_credentials
from mudra.http.token.oauth_shapes import OAuthErrorBody
from mudra.shared.secret_text import SecretText
from mudra.shared.text.undecodable import UNDECODABLE
from mudra.shared.time_text import iso_ms
from mudra.shared.unavailable import ServiceUnavailable
from mudra.tokens.authentication.secret_check import RateLimited
from mudra.tokens.authentication.token_check import VerifiedToken
from mudra.tokens.claims import TokenKind

_READ_S: Final = 3.0
_FORMS: Final = re.compile(r"(/v1/entity/token/generate|/oauth2/\w+|/openid-connect/token)$")
_BY_FORM: Final = "/v1/entity/token/generate"
_NAMES: Final = ("id", "client_id")


class _Claims(Struct):
    sub: str = ""


async def claimed_entity(
    scope: HTTPScope, receive: Receive, dependencies: HttpDependencies
) -> tuple[str, Receive]:
    """Return the entity that a request names, empty for none, and how to read the request then.

    A bearer token must be valid. A form only says who asks: one who names an entity here sees its
    faults, and nothing else of it.
    """
    request = AnyRequest(scope, receive)
    is_form = scope["method"] == "POST" and bool(_FORMS.search(scope["path"]))
    # Its form alone says who asks there, whatever else a request holds.
    if not scope["path"].endswith(_BY_FORM):
        token = presented_token(request, dependencies)
        if not isinstance(token, NoAuthorization):
            return await _subject_of_token(token.text, dependencies), receive
        header = authorization_of(request)
        if header:
            return (basic_credentials(header)[0] if is_form else ""), receive
    if not is_form:
        return "", receive
    body, again = await _read_ahead(receive)
    return _named_in(request.headers.get("content-type", ""), body), again


async def _subject_of_token(token: SecretText, dependencies: HttpDependencies) -> str:
    found = await dependencies.bearer.verify(token)
    if isinstance(found, VerifiedToken) and found.kind is TokenKind.ENTITY:
        return found.subject
    return ""


async def _read_ahead(receive: Receive) -> tuple[bytes, Receive]:
    """Read a small body and give it back; what is late or long is left to the application."""
    read: deque[ReceiveMessage] = deque()
    body = b""
    try:
        async with asyncio.timeout(_READ_S):
            while len(body) <= FORM_LIMITS.max_bytes:
                message = await receive()
                read.append(message)
                if message["type"] != "http.request":
                    break
                body += message["body"]
                if not message["more_body"]:
                    break
    except TimeoutError:
        body = b""

    async def again() -> ReceiveMessage:
        return read.popleft() if read else await receive()

    return body, again


def _named_in(content_type: str, body: bytes) -> str:
    if content_type.partition(";")[0].strip().lower() != FORM:
        return ""
    try:
        fields = dict(parse_qsl(body.decode(), max_num_fields=32))
    except ValueError:
        return ""
    named = next((fields[name] for name in _NAMES if fields.get(name)), "")
    return named or _subject_of(fields.get("client_assertion", ""))


def _subject_of(assertion: str) -> str:
    """Return the `sub` of an assertion that no one has checked yet."""
    parts = assertion.split(".")
    if len(parts) != 3:  # noqa: PLR2004  # header, claims, signature
        return ""
    try:
        return msgspec.json.decode(_unpadded(parts[1]), type=_Claims).sub
    except (*UNDECODABLE, ValueError):
        return ""


def _unpadded(text: str) -> bytes:
    return urlsafe_b64decode(text + "=" * (-len(text) % 4))


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
    """Name the faults in a header, so that no one takes them for faults of the service."""
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
