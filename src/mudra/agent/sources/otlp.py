"""OTLP/HTTP traces: HTTP client and server spans by the semantic conventions.

A client span of a counted call is a call to a FIP, a server span a
notification from one. Who the FIP is comes from the attribute `aa.fip.id`, or
from the host by the mapping in `agent.toml`. A span does not
hold what is in bodies, so the application may set `aa.session.id`, `aa.fi.statuses`
(an array, or separated by commas) and `aa.packet.bytes`.

Exporters send a batch again when they do not get its answer in time: its spans are
recognized by their trace and span ID.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import SplitResult, urlsplit

import msgspec

from mudra.agent.counting.event import NO_STATUS, Call, plausible_size
from mudra.agent.sources.body import notification, session_id
from mudra.agent.sources.left_out import Reason, Unreadable, shown
from mudra.agent.sources.otlp_json import JsonSpans
from mudra.agent.sources.otlp_protobuf import ProtobufSpans
from mudra.agent.sources.otlp_span import (
    CLIENT,
    FIP,
    HOSTS,
    METHODS,
    PATHS,
    PORTS,
    SERVER,
    SESSION,
    SIZES,
    STATUS,
    STATUSES,
    AttributeValue,
    Span,
)
from mudra.agent.sources.route import SourceContext
from mudra.metrics.payload.catalogue import NotificationType, RequestType
from mudra.shared.text.whole_number import whole_number

PATH: Final = "/v1/traces"

_POSSIBLE: Final = range(100, 600)
_MILLION: Final = 1_000_000
_MAX_TIME: Final = 2**64 - 1
_MAX_INT: Final = 2**63 - 1
_TRACE_ID: Final = 16
_SPAN_ID: Final = 8
"""Bytes of the IDs."""
_LONG: Final = 0x80
_FI_NOTIFICATION: Final = NotificationType.FI.value
_FI_FETCH: Final = RequestType.FI_FETCH.value
_NO_ADDRESS: Final = urlsplit("")

Attributes = Mapping[str, AttributeValue]


_NO_SPAN: Final = (
    "no span is where OTLP has them: resourceSpans[].scopeSpans[].spans[], lowerCamelCase"
)


@dataclass(frozen=True, slots=True)
class Spans:
    """The spans of a request: the counted calls, and how many spans are not counted for a fault."""

    calls: list[Call]
    late: int = 0
    unreadable: int = 0
    fault: str = ""
    """What is wrong with one of them."""
    warning: str = ""
    """Why there is none, though something was sent."""


def read_protobuf(body: bytes, context: SourceContext) -> Spans:
    """Return what a protobuf body holds. Raises Unreadable and TooMuch."""
    return _read(ProtobufSpans(body), context, is_empty=len(body) == 0)


def read_json(body: bytes, context: SourceContext) -> Spans:
    """Return what a JSON body holds. Raises Unreadable and TooMuch."""
    return _read(JsonSpans(body), context, is_empty=len(body) <= len("{}"))


def _read(spans: ProtobufSpans | JsonSpans, context: SourceContext, *, is_empty: bool) -> Spans:
    calls = _Calls(context)
    before = context.metrics.counts[Reason.OUT_OF_TIME]
    unreadable, fault, number = 0, "", 0
    for number, span in enumerate(spans, 1):  # noqa: B007 - read behind the loop
        if span.kind not in (CLIENT, SERVER):
            continue
        try:
            calls.add(span)
        except Unreadable as error:
            unreadable, fault = unreadable + 1, str(error)
            context.metrics.leave_out(error.reason, f"span: {error}")
    for _ in range(spans.damaged):
        context.metrics.leave_out(Reason.MALFORMED, spans.fault)
    warning = ""
    if not number and not spans.damaged:
        warning = "" if is_empty else _NO_SPAN
        context.metrics.leave_out(Reason.EMPTY, warning)
    return Spans(
        calls.found,
        context.metrics.counts[Reason.OUT_OF_TIME] - before,
        unreadable + spans.damaged,
        fault or spans.fault,
        warning,
    )


def refused_spans(spans: Spans, *, as_json: bool) -> bytes:
    """Return the answer to a request: a partial success where spans of it are not counted.

    Without a span it rejects none, and warns (OTLP: a partial success with `rejected_spans` 0).
    """
    reasons = [spans.warning] if spans.warning else []
    if spans.late:
        reasons.append("spans of more than 7 days ago or of the future are not counted")
    if spans.unreadable:
        reasons.append(f"{spans.unreadable} spans cannot be read, such as: {spans.fault}")
    refused, message = spans.late + spans.unreadable, "; ".join(reasons)
    if as_json:
        partial = {"rejectedSpans": str(refused), "errorMessage": message}
        return msgspec.json.encode({"partialSuccess": partial} if message else {})
    if not message:
        return b""
    # ExportTraceServiceResponse{partial_success: {rejected_spans, error_message}}
    text = message.encode()
    partial_success = b"\x08" + _varint(refused) + b"\x12" + _varint(len(text)) + text
    return b"\x0a" + _varint(len(partial_success)) + partial_success


def _varint(number: int) -> bytes:
    found = bytearray()
    while number >= _LONG:
        found.append(number & 0x7F | _LONG)
        number >>= 7
    return bytes((*found, number))


class _Calls:
    """Spans in, counted calls out."""

    __slots__ = ("_context", "_mono", "_now", "found")

    def __init__(self, context: SourceContext) -> None:
        self._context = context
        self._now, self._mono = context.clock.wall(), context.clock.monotonic()
        self.found: list[Call] = []

    def add(self, span: Span) -> None:
        """Add one span, or note why it does not count. Raises Unreadable for one that is wrong."""
        context, attributes, inbound = self._context, span.attributes, span.kind == SERVER
        code = context.routes.code(
            str(_first(attributes, METHODS)), _path(attributes), inbound=inbound
        )
        if not code:
            context.metrics.leave_out(Reason.OTHER_CALL)
            return
        host = _host(attributes)
        fip = str(attributes.get(FIP, "")) or context.peers.of_host(host)
        if not fip or not context.peers.valid(fip):
            context.metrics.leave_out(Reason.UNKNOWN_PEER, f"span: {shown(fip or host)}")
            return
        start, end = _time("startTimeUnixNano", span.start), _time("endTimeUnixNano", span.end)
        wall = start // _MILLION
        if not context.is_reportable(wall, self._now):
            return
        session = session_id(str(attributes.get(SESSION, "")))
        notified = None
        if inbound and code == _FI_NOTIFICATION:
            notified = notification(
                session, set(filter(None, str(attributes.get(STATUSES, "")).split(",")))
            )
        key = b""
        if len(span.trace_id) == _TRACE_ID and len(span.span_id) == _SPAN_ID:
            key = span.trace_id + span.span_id
        self.found.append(
            Call(
                inbound, fip, code, wall, self._mono - (self._now - wall),
                max(0, end - start) // _MILLION, _status(attributes),
                _size(attributes) if code == _FI_FETCH else 0,
                session, notified, key.hex(),
            )
        )  # fmt: skip  # the fields in their order


def _status(attributes: Attributes) -> int:
    """Return the status, or that none came. Raises Unreadable for what is no status."""
    sent = _first(attributes, STATUS)
    if sent == "":
        return NO_STATUS
    status = whole_number(sent)
    if status is None or (status != NO_STATUS and status not in _POSSIBLE):
        raise Unreadable(Reason.BAD_NUMBER, f"the status {shown(sent)} is none")
    return status


def _size(attributes: Attributes) -> int:
    """Return the bytes of an FI fetch, 0 for what no answer can have. Raises Unreadable."""
    sent = _first(attributes, SIZES)
    size = whole_number(sent) or 0
    if abs(size) > _MAX_INT:
        raise Unreadable(Reason.BAD_NUMBER, f"the size {shown(sent)} does not fit its field")
    return plausible_size(size)


def _time(name: str, sent: object) -> int:
    """Return nanoseconds since 1970; 0 for a time that was not given. Raises Unreadable."""
    found = 0 if sent is None or sent == "" else whole_number(sent)
    if found is None or not 0 <= found <= _MAX_TIME:
        raise Unreadable(Reason.BAD_TIME, f"{name} {shown(sent)} does not fit its field")
    return found


def _first(attributes: Attributes, names: Iterable[str]) -> AttributeValue:
    for name in names:
        if name in attributes:
            return attributes[name]
    return ""


def _path(attributes: Attributes) -> str:
    path = str(_first(attributes, PATHS))
    return _split(path).path if "://" in path else path


def _host(attributes: Attributes) -> str:
    host = str(_first(attributes, HOSTS))
    if not host:
        address = _split(str(attributes.get("url.full") or attributes.get("http.url", "")))
        return address.netloc.rpartition("@")[2]  # without a password
    port = whole_number(_first(attributes, PORTS))
    return f"{host}:{port}" if port else host


def _split(address: str) -> SplitResult:
    """Return the parts of an address; no parts of what is none: strangers choose what is called."""
    try:
        return urlsplit(address)
    except ValueError:
        return _NO_ADDRESS
