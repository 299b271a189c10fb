"""OTLP/HTTP traces: HTTP client and server spans by the semantic conventions.

A client span of a counted call is a call to a FIP, a server span a
notification from one. Who the FIP is comes from the attribute `aa.fip.id`, or
from the host by the mapping in `agent.toml`. A span does not
hold what is in bodies, so the application may set `aa.session.id`, `aa.fi.statuses`
(separated by commas) and `aa.packet.bytes`.

Exporters send a batch again when they do not get its answer in time: its spans are
recognized by their trace and span ID.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import SplitResult, urlsplit

import msgspec
from google.protobuf.message import DecodeError  # type: ignore[import-untyped]  # it has no stubs
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)

from mudra.agent.counting.event import NO_STATUS, Call, plausible_size
from mudra.agent.sources.body import notification, session_id
from mudra.agent.sources.route import SourceContext
from mudra.metrics.payload.catalogue import NotificationType

PATH: Final = "/v1/traces"
FIP: Final = "aa.fip.id"
SESSION: Final = "aa.session.id"
STATUSES: Final = "aa.fi.statuses"
PACKETS: Final = "aa.packet.bytes"

_SERVER: Final = 2
_CLIENT: Final = 3
_STATUSES: Final = range(100, 600)
_MILLION: Final = 1_000_000
_MAX_TIME: Final = 2**64 - 1
_MAX_INT: Final = 2**63 - 1
_TRACE_ID: Final = 16
_SPAN_ID: Final = 8
"""Bytes of the IDs."""
_METHODS: Final = ("http.request.method", "http.method")
_PATHS: Final = ("url.path", "http.target", "http.route", "url.full", "http.url")
_STATUS: Final = ("http.response.status_code", "http.status_code")
_HOSTS: Final = ("server.address", "net.peer.name", "http.host")
_PORTS: Final = ("server.port", "net.peer.port")
_SIZES: Final = (PACKETS, "http.response.body.size", "http.response_content_length")
_WANTED: Final = frozenset(
    {*_METHODS, *_PATHS, *_STATUS, *_HOSTS, *_PORTS, *_SIZES, FIP, SESSION, STATUSES}
)
_FI_NOTIFICATION: Final = NotificationType.FI.value
_NO_ADDRESS: Final = urlsplit("")

Attributes = Mapping[str, str | int]


class UnreadableTraces(ValueError):
    """The body is not an ExportTraceServiceRequest."""


@dataclass(frozen=True, slots=True)
class Spans:
    """What a request holds: the counted calls, and the number of spans that cannot be read."""

    calls: list[Call]
    unreadable: int = 0


class _Value(msgspec.Struct, frozen=True, rename="camel"):
    string_value: str | None = None
    int_value: int | str | None = None


class _Attribute(msgspec.Struct, frozen=True):
    key: str
    value: _Value = _Value()


class _Span(msgspec.Struct, frozen=True, rename="camel"):
    trace_id: str = ""
    span_id: str = ""
    kind: int | str = 0
    start_time_unix_nano: int | str = 0
    end_time_unix_nano: int | str = 0
    attributes: list[_Attribute] = []


class _Scope(msgspec.Struct, frozen=True):
    spans: list[_Span] = []


class _Resource(msgspec.Struct, frozen=True, rename="camel"):
    scope_spans: list[_Scope] = []


class _Traces(msgspec.Struct, frozen=True, rename="camel"):
    resource_spans: list[_Resource] = []


_JSON: Final = msgspec.json.Decoder(_Traces)
_KINDS: Final[dict[int | str, int]] = {
    _SERVER: _SERVER,
    _CLIENT: _CLIENT,
    "SPAN_KIND_SERVER": _SERVER,
    "SPAN_KIND_CLIENT": _CLIENT,
}


def read_protobuf(body: bytes, context: SourceContext) -> Spans:
    """Return what a protobuf body holds. Raises UnreadableTraces."""
    try:
        request = ExportTraceServiceRequest.FromString(body)
    except DecodeError:
        raise UnreadableTraces("the body is not an OTLP trace request") from None
    wanted, calls = _WANTED, _Calls(context)
    for resource in request.resource_spans:
        for scope in resource.scope_spans:
            for span in scope.spans:
                kind = span.kind
                if kind not in (_CLIENT, _SERVER):
                    continue
                attributes: dict[str, str | int] = {}
                for attribute in span.attributes:
                    key = attribute.key
                    if key in wanted:
                        value = attribute.value
                        attributes[key] = value.string_value or value.int_value
                calls.add(
                    kind == _SERVER, span.start_time_unix_nano, span.end_time_unix_nano,
                    attributes, _key(span.trace_id, span.span_id),
                )  # fmt: skip  # the fields in their order
    return Spans(calls.found)


def read_json(body: bytes, context: SourceContext) -> Spans:
    """Return what a JSON body holds. Raises UnreadableTraces."""
    calls, unreadable = _Calls(context), 0
    try:
        traces = _JSON.decode(body)
    except (msgspec.DecodeError, ValueError, RecursionError):
        raise UnreadableTraces("the body is not an OTLP trace request in JSON") from None
    for span in _spans(traces):
        kind = _KINDS.get(span.kind)
        if kind is None:
            continue
        try:
            attributes = {
                one.key: one.value.string_value or _integer(one.value.int_value or 0, _MAX_INT)
                for one in span.attributes
                if one.key in _WANTED
            }
            start = _integer(span.start_time_unix_nano, _MAX_TIME)
            end = _integer(span.end_time_unix_nano, _MAX_TIME)
            key = _key(_id(span.trace_id), _id(span.span_id))
        except ValueError:
            context.metrics.unreadable += 1
            unreadable += 1
            continue
        calls.add(kind == _SERVER, start, end, attributes, key)
    return Spans(calls.found, unreadable)


def _integer(value: int | str, most: int) -> int:
    """Return a number of JSON, which knows no bounds, within those of its field."""
    number = int(value)
    if not -most <= number <= most:
        raise ValueError("the number does not fit into its field")
    return number


def _id(text: str) -> bytes:
    """Return the bytes of an ID in JSON; none of one that is not in hex, as old exporters send."""
    try:
        return bytes.fromhex(text)
    except ValueError:
        return b""


def _key(trace: bytes, span: bytes) -> str:
    """Return what names this span; empty when one of its IDs is missing or no ID."""
    if len(trace) != _TRACE_ID or len(span) != _SPAN_ID:
        return ""
    return (trace + span).hex()


def refused_spans(late: int, unreadable: int, *, as_json: bool) -> bytes:
    """Return the answer to a request of which so many spans are not counted."""
    reasons = []
    if late:
        reasons.append("spans of more than 7 days ago or of the future are not counted")
    if unreadable:
        reasons.append(f"{unreadable} spans have a number that does not fit its field")
    refused, message = late + unreadable, "; ".join(reasons)
    if as_json:
        partial = {"rejectedSpans": str(refused), "errorMessage": message}
        return msgspec.json.encode({"partialSuccess": partial} if refused else {})
    response = ExportTraceServiceResponse()
    if refused:
        response.partial_success.rejected_spans = refused
        response.partial_success.error_message = message
    return bytes(response.SerializeToString())


def _spans(traces: _Traces) -> Iterable[_Span]:
    for resource in traces.resource_spans:
        for scope in resource.scope_spans:
            yield from scope.spans


class _Calls:
    """Spans in, counted calls out."""

    __slots__ = ("_context", "_mono", "_now", "found")

    def __init__(self, context: SourceContext) -> None:
        self._context = context
        self._now, self._mono = context.clock.wall(), context.clock.monotonic()
        self.found: list[Call] = []

    def add(self, inbound: bool, start: int, end: int, attributes: Attributes, key: str) -> None:
        """Add one span; one that does not count is noted in the metrics."""
        context = self._context
        code = context.routes.code(
            str(_first(attributes, _METHODS)), _path(attributes), inbound=inbound
        )
        if not code:
            context.metrics.other_calls += 1
            return
        fip = str(attributes.get(FIP, "")) or context.peers.of_host(_host(attributes))
        if not fip or not context.peers.valid(fip):
            context.metrics.unknown_peer += 1
            return
        wall = start // _MILLION
        if not context.is_reportable(wall, self._now):
            return
        status = _number(_first(attributes, _STATUS))
        size = plausible_size(_number(_first(attributes, _SIZES)))
        session = session_id(str(attributes.get(SESSION, "")))
        notified = None
        if inbound and code == _FI_NOTIFICATION:
            notified = notification(
                session, set(filter(None, str(attributes.get(STATUSES, "")).split(",")))
            )
        self.found.append(
            Call(
                inbound, fip, code, wall, self._mono - (self._now - wall),
                max(0, end - start) // _MILLION, status if status in _STATUSES else NO_STATUS,
                size, session, notified, key,
            )
        )  # fmt: skip  # the fields in their order


def _first(attributes: Attributes, names: tuple[str, ...]) -> str | int:
    for name in names:
        if name in attributes:
            return attributes[name]
    return ""


def _path(attributes: Attributes) -> str:
    path = str(_first(attributes, _PATHS))
    return _split(path).path if "://" in path else path


def _host(attributes: Attributes) -> str:
    host = str(_first(attributes, _HOSTS))
    if not host:
        return _split(str(attributes.get("url.full") or attributes.get("http.url", ""))).netloc
    port = _first(attributes, _PORTS)
    return f"{host}:{port}" if port else host


def _split(address: str) -> SplitResult:
    """Return the parts of an address; no parts of what is none: strangers choose what is called."""
    try:
        return urlsplit(address)
    except ValueError:
        return _NO_ADDRESS


def _number(value: str | int) -> int:
    if isinstance(value, int):
        return max(value, 0)
    return int(value) if value.isascii() and value.isdigit() and len(value) <= 18 else 0  # noqa: PLR2004 - below 2^63
