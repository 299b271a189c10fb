"""The agent's HTTP server: events, traces, and the agent's own state.

A bare ASGI app. `intake_guard.py` says who may send. Bodies are bounded, packed and
unpacked, and a slow sender is cut off, so that no program of the host can make the agent grow
or hang.
"""

import asyncio
import zlib
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from dataclasses import dataclass
from typing import Final

import msgspec

from mudra.agent.counting.event import Event
from mudra.agent.host.entity_requests import REGISTER, TOKEN, EntityRequests
from mudra.agent.host.ingest_response import IngestResponse, RequestError
from mudra.agent.host.intake_guard import JSON, IntakeGuard, media_type
from mudra.agent.sources import http_event, otlp
from mudra.agent.sources.route import SourceContext

MAX_BODY: Final = 8 << 20
MAX_IN_MEMORY: Final = 32 << 20
"""Bytes of all bodies that are being read at one time: a bound of the agent's memory."""
BODY_SECONDS: Final = 15

Message = MutableMapping[str, object]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Record = Callable[[list[Event]], Awaitable[bool]]
"""Counts events; returns True once they are on the disk."""

_PROTOBUF: Final = "application/x-protobuf"
_TEXT: Final = "text/plain; version=0.0.4; charset=utf-8"


_ANYONE: Final = IntakeGuard()
"""Any program of the host, under `localhost` or an address of numbers."""


class Health(msgspec.Struct, frozen=True):
    """Whether the agent works, and if not, why."""

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
    _bytes_in_memory: int = 0
    """Bytes of bodies that are being read."""

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
            answer = IngestResponse(error.status, body)
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
        method, path = str(scope["method"]), str(scope["path"])
        if path in {http_event.PATH, otlp.PATH, REGISTER}:
            if method != "POST":
                raise RequestError(405, "MethodNotAllowed", f"{path} accepts POST")
            headers = self._admitted(scope)
            if path != otlp.PATH and media_type(headers) != JSON:
                raise RequestError(415, "UnsupportedMediaType", f"Content-Type must be {JSON}")
            body = await self._body(receive, headers)
            if path == REGISTER:
                return await self._entity().register(body)
            if path == http_event.PATH:
                return await self._events(body)
            return await self._traces(body, headers)
        if method not in {"GET", "HEAD"}:
            raise RequestError(405, "MethodNotAllowed", f"{path} accepts GET")
        if path == TOKEN:
            self._admitted(scope)
            return await self._entity().generate()
        if path == "/status":
            return IngestResponse(200, await self.status())
        return self._state(path)

    def _admitted(self, scope: Mapping[str, object]) -> dict[str, str]:
        """Return the headers of a request that the guard admits."""
        headers = _headers(scope)
        refused = self.guard.refusal_of(headers)
        if refused is not None:
            raise RequestError(refused.status, refused.code, refused.message)
        return headers

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
        if path == "/metrics":
            return IngestResponse(200, self.metrics(), _TEXT)
        raise RequestError(404, "NotFound", f"there is nothing at {path}")

    async def _events(self, body: bytes) -> IngestResponse:
        try:
            events, rejected = http_event.read_events(body, self.context)
        except ValueError as error:  # msgspec's errors and UnicodeDecodeError are ValueErrors
            self.context.metrics.unreadable += 1
            raise RequestError(400, "InvalidRequest", f"the body cannot be read: {error}") from None
        except RecursionError:
            raise RequestError(400, "InvalidRequest", "the body is nested too deep") from None
        durable = await self._record(events)
        if rejected and not events:
            raise RequestError(400, "InvalidRequest", rejected[0].message)
        answer: dict[str, object] = {"message": "accepted"}
        if rejected:
            answer["rejected"] = rejected
        return IngestResponse(200, msgspec.json.encode(answer), headers=_durable(durable))

    async def _traces(self, body: bytes, headers: Mapping[str, str]) -> IngestResponse:
        kind = media_type(headers)
        before = self.context.metrics.out_of_time
        try:
            if kind == _PROTOBUF:
                spans = otlp.read_protobuf(body, self.context)
            elif kind == JSON:
                spans = otlp.read_json(body, self.context)
            else:
                raise RequestError(
                    415, "UnsupportedMediaType", f"Content-Type must be {_PROTOBUF} or {JSON}"
                )
        except otlp.UnreadableTraces as error:
            self.context.metrics.unreadable += 1
            raise RequestError(400, "InvalidRequest", str(error)) from None
        late = self.context.metrics.out_of_time - before
        durable = await self._record([*spans.calls])
        refused = otlp.refused_spans(late, spans.unreadable, as_json=kind == JSON)
        return IngestResponse(200, refused, kind, _durable(durable))

    async def _body(self, receive: Receive, headers: Mapping[str, str]) -> bytes:
        """Return the unpacked body; its size is checked while it is received and unpacked."""
        coding = headers.get("content-encoding", "identity").strip().lower()
        if coding not in {"identity", "gzip", ""}:
            raise RequestError(415, "UnsupportedMediaType", "Content-Encoding must be gzip or none")
        parts: list[bytes] = []
        try:
            async with asyncio.timeout(BODY_SECONDS):
                await self._collect(receive, parts)
        except TimeoutError:
            raise RequestError(408, "Timeout", f"the body took over {BODY_SECONDS} s") from None
        finally:
            self._bytes_in_memory -= sum(map(len, parts))
        packed = b"".join(parts)
        return _unpacked(packed) if coding == "gzip" else packed

    async def _collect(self, receive: Receive, parts: list[bytes]) -> None:
        length, more = 0, True
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise RequestError(400, "InvalidRequest", "the sender closed the connection")
            part = message.get("body", b"")
            if isinstance(part, bytes):
                parts.append(part)
                length += len(part)
                self._bytes_in_memory += len(part)
            if length > MAX_BODY:
                raise RequestError(413, "PayloadTooLarge", f"a body has at most {MAX_BODY} bytes")
            if self._bytes_in_memory > MAX_IN_MEMORY:
                raise RequestError(
                    503, "ServiceUnavailable", "too many requests at once; send it again"
                )
            more = bool(message.get("more_body"))

    async def _record(self, events: list[Event]) -> bool:
        if not events:
            return True
        if self.acknowledge_at_once:
            _keep_running(asyncio.ensure_future(self.record(events)))
            return False
        return await self.record(events)


_running: Final[set["asyncio.Future[bool]"]] = set()


def _keep_running(task: "asyncio.Future[bool]") -> None:
    _running.add(task)  # else the loop may drop it before it is done
    task.add_done_callback(_running.discard)


def _durable(durable: bool) -> tuple[tuple[bytes, bytes], ...]:
    return () if durable else ((b"x-mudra-durable", b"no"),)


def _headers(scope: Mapping[str, object]) -> dict[str, str]:
    headers = scope["headers"]
    if not isinstance(headers, list | tuple):
        return {}
    return {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in headers}


def _unpacked(packed: bytes) -> bytes:
    unpacker = zlib.decompressobj(wbits=31)
    try:
        plain = unpacker.decompress(packed, MAX_BODY + 1)
    except zlib.error:
        raise RequestError(400, "InvalidRequest", "the body is not gzip") from None
    if len(plain) > MAX_BODY:
        raise RequestError(413, "PayloadTooLarge", f"a body has at most {MAX_BODY} bytes, unpacked")
    if not unpacker.eof:
        raise RequestError(400, "InvalidRequest", "the gzip body is cut short")
    return plain
