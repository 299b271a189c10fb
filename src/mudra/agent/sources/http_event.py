"""HTTP events in the shape in use today: an AA switches over by changing an address.

`POST /sna/v1/aa` takes one event or an array of them. Three fields are added, all
optional: `timestamp` (ISO 8601 or milliseconds), needed for right durations when
both halves of a call come in one array; `method`; and `packetBytes`, the bytes of
encrypted FI in an FI fetch answer, so that its body need not be sent.

Older guides and SDKs send no `txnCorId`. Then peer, route and the `txnid` of the
body join the halves of a call; a response without one in its body ends the
oldest open call of its peer and route.
"""

import uuid
from dataclasses import dataclass
from typing import Final

import msgspec

from mudra.agent.counting.event import MAX_SIZE, NO_STATUS, UNKNOWN, CallEnded, CallStarted, Event
from mudra.agent.sources.body import packets_in, parse_time, read_notification, session_in, txnid_in
from mudra.agent.sources.route import SourceContext
from mudra.metrics.payload.catalogue import NotificationType, RequestType

PATH: Final = "/sna/v1/aa"
MAX_EVENTS: Final = 10_000
MAX_KEY: Final = 128
_OK: Final = 200
_FIRST_STATUS: Final = 100
_LAST_STATUS: Final = 599

_CALL_TYPES: Final = {  # name: (is the start, inbound)
    "requestOut": (True, False),
    "responseIn": (False, False),
    "requestIn": (True, True),
    "responseOut": (False, True),
}
_FI_NOTIFICATION: Final = NotificationType.FI.value
_FI_REQUEST: Final = RequestType.FI_REQUEST.value
_FI_FETCH: Final = RequestType.FI_FETCH.value
_FIP: Final = "FIP"
_NULL: Final = b"null"


class WireEvent(msgspec.Struct, frozen=True, rename="camel"):
    """One event as received; fields that are not counted are not read."""

    call_type: str
    route: str
    txn_cor_id: str | None = None
    peer_id: str | None = None
    peer_type: str | None = None
    http_status: int | str | None = None
    method: str | None = None
    timestamp: str | int | None = None
    packet_bytes: int | None = None
    body: msgspec.Raw = msgspec.Raw(_NULL)


class Rejected(msgspec.Struct, frozen=True):
    """An event that was not accepted, and why."""

    index: int
    message: str


@dataclass(frozen=True, slots=True)
class Invalid:
    """What is wrong with an event."""

    message: str


@dataclass(frozen=True, slots=True)
class NotCounted:
    """A valid event of a call that no metric counts."""


_NOT_COUNTED: Final = NotCounted()
_ONE: Final = msgspec.json.Decoder(WireEvent)
_MANY: Final = msgspec.json.Decoder(list[msgspec.Raw])
_ALL: Final = msgspec.json.Decoder(list[WireEvent])


def read_events(body: bytes, context: SourceContext) -> tuple[list[Event], list[Rejected]]:
    """Return the events in a request body, and those that were not accepted.

    Raises msgspec.DecodeError when the body is not JSON, and ValueError when there are too many.
    """
    wire, rejected = _decode(body)
    now, mono = context.clock.wall(), context.clock.monotonic()
    events: list[Event] = []
    for index, received in wire:
        event = _event(received, context, now, mono)
        match event:
            case Invalid(message):
                context.metrics.unreadable += 1
                rejected.append(Rejected(index, message))
            case NotCounted():
                pass
            case _:
                events.append(event)
    return events, rejected


def _decode(body: bytes) -> tuple[list[tuple[int, WireEvent]], list[Rejected]]:
    if body.lstrip()[:1] != b"[":
        try:
            return [(0, _ONE.decode(body))], []
        except msgspec.ValidationError as error:
            return [], [Rejected(0, str(error))]
    rejected: list[Rejected] = []
    try:
        wire = list(enumerate(_ALL.decode(body)))
    except msgspec.ValidationError:
        wire = []
        for index, raw in enumerate(_MANY.decode(body)):
            try:
                wire.append((index, _ONE.decode(raw)))
            except msgspec.ValidationError as error:
                rejected.append(Rejected(index, str(error)))
    if len(wire) + len(rejected) > MAX_EVENTS:
        raise ValueError(f"an array holds at most {MAX_EVENTS} events; send several")
    return wire, rejected


def _event(
    received: WireEvent, context: SourceContext, now: int, mono: int
) -> Event | Invalid | NotCounted:
    call_type = _CALL_TYPES.get(received.call_type)
    if call_type is None:
        return Invalid(f"callType must be one of {', '.join(_CALL_TYPES)}")
    if received.txn_cor_id and len(received.txn_cor_id) > MAX_KEY:
        return Invalid(f"txnCorId must be a text of at most {MAX_KEY} characters")
    is_start, inbound = call_type
    code = context.routes.code(received.method or "", received.route, inbound=inbound)
    if not code or (received.peer_type and received.peer_type.upper() != _FIP):
        context.metrics.other_calls += 1
        return _NOT_COUNTED
    wall = now if received.timestamp is None else _wall(received.timestamp)
    if wall == UNKNOWN:
        return Invalid("timestamp must be ISO 8601 or milliseconds since 1970")
    if received.timestamp is not None:
        if not context.is_reportable(wall, now):
            return Invalid("timestamp must lie in the last 7 days; check the clock of its machine")
        mono -= now - wall
    peer = received.peer_id or ""
    if (is_start or not received.txn_cor_id) and not context.peers.valid(peer):
        context.metrics.unknown_peer += 1
        return Invalid("peerId must be an entity ID: 1 to 64 of A-Z a-z 0-9 @ . _ -")
    key = received.txn_cor_id or _derived_key(peer, code, received)
    if is_start:
        if key.endswith(" "):  # nothing names this call: its response will find it by the rest
            key += uuid.uuid4().hex
        is_fi = inbound and code == _FI_NOTIFICATION
        notification = read_notification(bytes(received.body)) if is_fi else None
        return CallStarted(key, inbound, peer, code, wall, mono, notification)
    return _ended(received, key, code, wall, mono, inbound=inbound)


def _derived_key(peer: str, code: str, received: WireEvent) -> str:
    """Join the halves of a call without `txnCorId`; ends with a space when no `txnid` is there."""
    return f"{peer} {code} {txnid_in(bytes(received.body))[:MAX_KEY]}"


def _ended(
    received: WireEvent, key: str, code: str, wall: int, mono: int, *, inbound: bool
) -> CallEnded | Invalid | NotCounted:
    status = _status(received.http_status)
    if status is None:
        return Invalid(
            "httpStatus must be a number from 100 to 599, or left out when no answer came"
        )
    if status == NO_STATUS and key.endswith(" "):
        return _NOT_COUNTED  # which call failed is unknown; it counts as unanswered after 30 s
    if received.packet_bytes is not None and not 0 <= received.packet_bytes <= MAX_SIZE:
        return Invalid(f"packetBytes must be a whole number from 0 to {MAX_SIZE}")
    size, session = 0, ""
    if status == _OK and not inbound:
        if code == _FI_REQUEST:
            session = session_in(bytes(received.body))
        elif code == _FI_FETCH and received.packet_bytes is None:
            size = packets_in(bytes(received.body))
        elif code == _FI_FETCH:
            size = received.packet_bytes or 0
    return CallEnded(key, inbound, wall, mono, status, size, session)


def _status(value: int | str | None) -> int | None:
    if value is None or value == "":
        return NO_STATUS
    if isinstance(value, str):
        if not (value.isascii() and value.isdigit() and len(value) <= 3):  # noqa: PLR2004 - digits of a status
            return None
        value = int(value)
    if value == NO_STATUS:
        return NO_STATUS
    return value if _FIRST_STATUS <= value <= _LAST_STATUS else None


def _wall(value: str | int) -> int:
    if isinstance(value, int):
        return value if value > 0 else UNKNOWN
    return parse_time(value)
