"""The agent's HTTP server: events, traces, and the agent's own state.

A bare ASGI app. `intake_guard.py` says who may send, `intake_body.py` reads bodies within limits
that hold for all of them together: no program of the host can make the agent grow or hang.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, MutableMapping
from dataclasses import dataclass, field
from typing import Final

import msgspec

from mudra.agent.counting.event import Event
from mudra.agent.host.entity_requests import REGISTER, TOKEN, EntityRequests
from mudra.agent.host.ingest_response import IngestResponse, RequestError
from mudra.agent.host.intake_body import BodyIntake, Message, Receive
from mudra.agent.host.intake_guard import JSON, IntakeGuard
from mudra.agent.sources import http_event, otlp
from mudra.agent.sources.left_out import Reason, Unreadable
from mudra.agent.sources.route import SourceContext
from mudra.agent.sources.tolerant_json import TooMuch
from mudra.server_protocol.body_reader import Headers, media_type

Send = Callable[[Message], Awaitable[None]]
Record = Callable[[list[Event]], Awaitable[bool]]
"""Counts events; returns True once they are on the disk."""

_PROTOBUF: Final = "application/x-protobuf"
_TEXT: Final = "text/plain; version=0.0.4; charset=utf-8"
_POSTED: Final = frozenset({http_event.PATH, otlp.PATH, REGISTER})
_STATE: Final = frozenset(
    {"/sna/v1/ping", "/livez", "/sna/v1/version", "/readyz", "/metrics", "/status"}
)
_GUARDED: Final = _POSTED | {TOKEN}
"""Where `http.token` is asked for."""
_SHOWN: Final = 64
_NOT_DURABLE: Final = ((b"x-mudra-durable", b"no"),)


_ANYONE: Final = IntakeGuard()
"""Any program of the host, under `localhost` or an address of numbers."""


class Health(msgspec.Struct, frozen=True):
    """The state of the agent: whether it works, and if not, why."""

    ready: bool
    reasons: tuple[str, ...] = ()


@dataclass(slots=True)
class IngestApp:
    """The app. What it needs of the agent is passed in as functions."""

    context: SourceContext
    record: Record
    version: str
    health: Callable[[], Health]
    status: Callable[[], Awaitable[bytes]]
    metrics: Callable[[], bytes]
    acknowledge_at_once: bool = False
    guard: IntakeGuard = _ANYONE
    entity: EntityRequests | None = None
    """Where the AA's application registers its credentials, if it does."""
    bodies: BodyIntake = field(default_factory=BodyIntake)

    async def __call__(
        self, scope: MutableMapping[str, object], receive: Receive, send: Send
    ) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            return
        try:
            answer = await self._answer(scope, receive)
        except RequestError as error:
            body = msgspec.json.encode({"message": str(error), "errorCode": error.code})
            answer = IngestResponse(error.status, body, headers=error.headers)
        await send(
            {
                "type": "http.response.start",
                "status": answer.status,
                "headers": [
                    (b"content-type", answer.content_type.encode()),
                    (b"content-length", str(len(answer.body)).encode()),
                    *answer.headers,
                ],
            }
        )
        await send({"type": "http.response.body", "body": answer.body})

    async def _answer(self, scope: Mapping[str, object], receive: Receive) -> IngestResponse:
        method, path = str(scope["method"]), str(scope["path"]).rstrip("/") or "/"
        headers = _headers(scope)
        takes = ("POST",) if path in _POSTED else ("GET", "HEAD")
        needs_token = path in _GUARDED and method in takes
        refused = self.guard.refusal_of(headers, needs_token=needs_token)
        if refused is not None:
            raise RequestError(refused.status, refused.code, refused.message)
        if path not in _GUARDED | _STATE:
            raise RequestError(404, "NotFound", f"there is nothing at {path[:_SHOWN]}")
        if method not in takes:
            raise RequestError(
                405, "MethodNotAllowed", f"{path} accepts {takes[0]}",
                ((b"allow", ", ".join(takes).encode()),),
            )  # fmt: skip  # the parts in their order
        if path == otlp.PATH:
            return await self._traces(receive, headers)
        if path == http_event.PATH:
            return await self._events(receive, headers)
        if path == REGISTER:
            async with self.bodies.received(receive, headers, JSON) as sent:
                body = await sent.read(bytes)
            return await self._entity().register(body)
        if path == TOKEN:
            return await self._entity().generate()
        if path == "/status":
            return IngestResponse(200, await self.status())
        return self._state(path)

    def _entity(self) -> EntityRequests:
        if self.entity is None:
            raise RequestError(
                501,
                "NotImplemented",
                "this agent reads its credentials itself: see credentials.secret in agent.toml, or "
                "set credentials.registered",
            )
        return self.entity

    def _state(self, path: str) -> IngestResponse:
        """Answer the requests about the agent itself."""
        if path in {"/sna/v1/ping", "/livez"}:
            return IngestResponse(200, b'{"status":"up"}')
        if path == "/sna/v1/version":
            version = {"agentVersion": self.version, "name": "mudra-agent"}
            return IngestResponse(200, msgspec.json.encode(version))
        if path == "/readyz":
            health = self.health()
            return IngestResponse(200 if health.ready else 503, msgspec.json.encode(health))
        return IngestResponse(200, self.metrics(), _TEXT)

    async def _events(self, receive: Receive, headers: Headers) -> IngestResponse:
        context = self.context.apart()
        try:
            async with self.bodies.received(receive, headers, JSON) as sent:
                events, rejected = await sent.read(
                    lambda body: http_event.read_events(body, context)
                )
        except (Unreadable, TooMuch) as error:
            raise self._unread(error) from None
        self.context.metrics.add(context.metrics)
        stored = await self._record(events)
        if rejected and not events:
            raise RequestError(400, "InvalidRequest", rejected[0].message)
        answer: dict[str, object] = {"message": "accepted"}
        if rejected:
            answer["rejected"] = rejected
        return IngestResponse(200, msgspec.json.encode(answer), headers=stored)

    async def _traces(self, receive: Receive, headers: Headers) -> IngestResponse:
        sent_as = [value.decode("latin-1") for name, value in headers if name == b"content-type"]
        kind = media_type(", ".join(sent_as)).name
        if kind not in {_PROTOBUF, JSON}:
            raise RequestError(
                415, "UnsupportedMediaType", f"Content-Type must be {_PROTOBUF} or {JSON}"
            )
        context = self.context.apart()
        read = otlp.read_json if kind == JSON else otlp.read_protobuf
        try:
            async with self.bodies.received(receive, headers, kind) as sent:
                spans = await sent.read(lambda body: read(body, context))
        except (Unreadable, TooMuch) as error:
            raise self._unread(error) from None
        self.context.metrics.add(context.metrics)
        stored = await self._record([*spans.calls])
        refused = otlp.refused_spans(spans, as_json=kind == JSON)
        return IngestResponse(200, refused, kind, stored)

    def _unread(self, error: Unreadable | TooMuch) -> RequestError:
        """Note a body of which nothing is counted; return its refusal."""
        if isinstance(error, TooMuch):
            self.context.metrics.leave_out(Reason.TOO_MUCH, str(error))
            return RequestError(413, "PayloadTooLarge", str(error))
        self.context.metrics.leave_out(error.reason, str(error))
        return RequestError(400, "InvalidRequest", f"the body cannot be read: {error}")

    async def _record(self, events: list[Event]) -> tuple[tuple[bytes, bytes], ...]:
        """Count these; return the header that says how durable that is.

        Raises RequestError where an answer would promise more than the disk keeps.
        """
        if not events:
            return ()
        if self.acknowledge_at_once:
            _keep_running(asyncio.ensure_future(self.record(events)))
            return _NOT_DURABLE
        if not await self.record(events):
            raise RequestError(
                503, "ServiceUnavailable",
                "the agent's disk takes no writes: these events are counted in memory, and "
                "those with an ID once however often they are sent; make room on its disk",
                (*_NOT_DURABLE, (b"retry-after", b"30")),
            )  # fmt: skip  # the parts in their order
        return ()


_running: Final[set["asyncio.Future[bool]"]] = set()


def _keep_running(task: "asyncio.Future[bool]") -> None:
    _running.add(task)  # else the loop may drop it before it is done
    task.add_done_callback(_running.discard)


def _headers(scope: Mapping[str, object]) -> list[tuple[bytes, bytes]]:
    headers = scope["headers"]
    return (
        [(name.lower(), value) for name, value in headers] if isinstance(headers, Iterable) else []
    )
