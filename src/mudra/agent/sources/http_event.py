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
from collections.abc import Iterable, Mapping
from typing import Final

import msgspec

from mudra.agent.counting.event import (
    MAX_AGE,
    MAX_SIZE,
    NO_STATUS,
    UNKNOWN,
    CallEnded,
    CallStarted,
    Event,
)
from mudra.agent.sources.body import (
    packets_in,
    parse_time,
    read_notification,
    session_in,
    txnid_in,
)
from mudra.agent.sources.left_out import Reason, Unreadable
from mudra.agent.sources.route import AHEAD, SourceContext
from mudra.agent.sources.tolerant_json import TooMuch, bounded, decoded, elements
from mudra.metrics.payload.catalogue import NotificationType, RequestType
from mudra.shared.text.undecodable import UNDECODABLE
from mudra.shared.text.whole_number import whole_number

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
_BODY: Final = "body"


class WireEvent(msgspec.Struct, frozen=True, rename="camel"):
    """One event as received; fields that are not counted are not read."""

    call_type: str
    route: str
    txn_cor_id: str | None = None
    peer_id: str | None = None
    peer_type: str | None = None
    http_status: int | float | str | None = None
    method: str | None = None
    timestamp: str | int | float | None = None
    packet_bytes: int | float | str | None = None
    body: msgspec.Raw = msgspec.Raw(_NULL)


class Rejected(msgspec.Struct, frozen=True):
    """An event that was not accepted, and why."""

    index: int
    message: str


_Wrong = Mapping[str, str]
"""Optional fields of another type than theirs, and what each must be: whether one matters, the
event says."""
_NONE_WRONG: Final[_Wrong] = {}
_ONE: Final = msgspec.json.Decoder(WireEvent)
_ALL: Final = msgspec.json.Decoder(list[WireEvent])
_FEW: Final = 4
"""Objects of one event, on average: more may be made of a body only one after the other."""
_OBJECT: Final = msgspec.json.Decoder(dict[str, msgspec.Raw])
_FIELDS: Final = {
    field.encode_name: (field.required, msgspec.json.Decoder(field.type))
    for field in msgspec.structs.fields(WireEvent)
}
_NUMBER_OF_EVENTS: Final = f"an array holds at most {MAX_EVENTS} events; send several"


def read_events(body: bytes, context: SourceContext) -> tuple[list[Event], list[Rejected]]:
    """Return the events in a request body, and those that were not accepted.

    Raises Unreadable when the body is no JSON, and TooMuch when it holds too many events.
    """
    body = bounded(body).strip()
    now, mono = context.clock.wall(), context.clock.monotonic()
    events: list[Event] = []
    rejected: list[Rejected] = []
    for index, sent in enumerate(_sent(body)):
        if index >= MAX_EVENTS:
            raise TooMuch(_NUMBER_OF_EVENTS)
        try:
            received, wrong = _decoded(sent) if isinstance(sent, bytes) else (sent, _NONE_WRONG)
            event = _event(received, wrong, context, now, mono)
        except Unreadable as error:
            if sent is body and error.reason is Reason.MALFORMED:
                raise
            context.metrics.leave_out(error.reason, f"event: {error}")
            rejected.append(Rejected(index, str(error)))
            continue
        if event is not None:
            events.append(event)
    if not events and not rejected and body == b"[]":
        context.metrics.leave_out(Reason.EMPTY)
    return events, rejected


def _sent(body: bytes) -> Iterable[WireEvent | bytes]:
    """Return the events of a body, at once where all are right and few, else each as it is."""
    if body[:1] != b"[":
        return (body,)
    if body.count(b"{") <= _FEW * MAX_EVENTS:
        try:
            return _ALL.decode(body)
        except UNDECODABLE:
            pass
    return elements(body)


def _decoded(raw: bytes) -> tuple[WireEvent, _Wrong]:
    """Return one event, and its optional fields that are of another type."""
    try:
        return decoded(_ONE, raw), _NONE_WRONG
    except msgspec.ValidationError:
        return _by_fields(raw)
    except UNDECODABLE as error:
        raise Unreadable(Reason.MALFORMED, f"is no JSON: {error}") from None


def _by_fields(raw: bytes) -> tuple[WireEvent, _Wrong]:
    """Return an event of which a field has another type, which may be one that no one reads."""
    try:
        sent = decoded(_OBJECT, raw)
    except UNDECODABLE as error:
        raise Unreadable(Reason.MALFORMED, f"an event must be an object: {error}") from None
    values: dict[str, object] = {}
    wrong: dict[str, str] = {}
    for name, (required, decoder) in _FIELDS.items():
        value = sent.get(name, _NULL)
        if name == _BODY:
            values[name] = msgspec.Raw(bytes(value))
        elif not required and value == _NULL:
            continue
        else:
            try:
                values[name] = decoded(decoder, bytes(value))
            except UNDECODABLE as error:
                if required:
                    missing = "is missing" if value == _NULL else f"must be text: {error}"
                    raise Unreadable(Reason.BAD_FIELD, f"{name} {missing}") from None
                wrong[name] = str(error)
    return msgspec.convert(values, WireEvent), wrong


def _event(
    received: WireEvent, wrong: _Wrong, context: SourceContext, now: int, mono: int
) -> Event | None:
    """Return what is counted; None for a call that no metric counts."""
    call_type = _CALL_TYPES.get(received.call_type)
    if call_type is None:
        raise Unreadable(Reason.BAD_FIELD, f"callType must be one of {', '.join(_CALL_TYPES)}")
    if wrong:
        _right(wrong, "txnCorId", "peerId", "peerType", "method", "timestamp")
    if received.txn_cor_id and len(received.txn_cor_id) > MAX_KEY:
        raise Unreadable(
            Reason.BAD_FIELD, f"txnCorId must be a text of at most {MAX_KEY} characters"
        )
    is_start, inbound = call_type
    code = context.routes.code(received.method or "", received.route, inbound=inbound)
    if not code or (received.peer_type and received.peer_type.upper() != _FIP):
        context.metrics.leave_out(Reason.OTHER_CALL)
        return None
    wall = now if received.timestamp is None else _time(received.timestamp, now)
    mono -= now - wall
    peer = received.peer_id or ""
    if (is_start or not received.txn_cor_id) and not context.peers.valid(peer):
        raise Unreadable(
            Reason.UNKNOWN_PEER, "peerId must be an entity ID: 1 to 64 of A-Z a-z 0-9 @ . _ -"
        )
    key = received.txn_cor_id or _derived_key(peer, code, received)
    if is_start:
        if key.endswith(" "):  # nothing names this call: its response will find it by the rest
            key += uuid.uuid4().hex
        is_fi = inbound and code == _FI_NOTIFICATION
        notification = read_notification(bytes(received.body)) if is_fi else None
        return CallStarted(key, inbound, peer, code, wall, mono, notification)
    return _ended(received, wrong, key, code, wall, mono, inbound=inbound)


def _time(timestamp: str | float, now: int) -> int:
    """Return when it was: now, or when it says."""
    if timestamp == "":
        return now
    wall = parse_time(timestamp)
    if wall == UNKNOWN:
        raise Unreadable(Reason.BAD_TIME, "timestamp must be ISO 8601 or milliseconds since 1970")
    if not now - MAX_AGE <= wall <= now + AHEAD:
        raise Unreadable(
            Reason.OUT_OF_TIME,
            "timestamp must lie in the last 7 days; check the clock of its machine",
        )
    return wall


def _derived_key(peer: str, code: str, received: WireEvent) -> str:
    """Join the halves of a call without `txnCorId`; ends with a space when no `txnid` is there."""
    return f"{peer} {code} {txnid_in(bytes(received.body))[:MAX_KEY]}"


def _ended(
    received: WireEvent, wrong: _Wrong, key: str, code: str, wall: int, mono: int, *, inbound: bool
) -> CallEnded | None:
    if wrong:
        _right(wrong, "httpStatus")
    status = _status(received.http_status)
    if status == NO_STATUS and key.endswith(" "):
        return None  # which call failed is unknown; it counts as unanswered after 30 s
    size, session = 0, ""
    if status == _OK and not inbound:
        if code == _FI_REQUEST:
            session = session_in(bytes(received.body))
        elif code == _FI_FETCH:
            size = _size(received, wrong)
    return CallEnded(key, inbound, wall, mono, status, size, session)


def _size(received: WireEvent, wrong: _Wrong) -> int:
    """Return the bytes of packets that an FI fetch brought: as they are said, else counted."""
    _right(wrong, "packetBytes")
    if received.packet_bytes is None:
        return packets_in(bytes(received.body))
    size = whole_number(received.packet_bytes)
    if size is None or not 0 <= size <= MAX_SIZE:
        raise Unreadable(
            Reason.BAD_NUMBER, f"packetBytes must be a whole number from 0 to {MAX_SIZE}"
        )
    return size


def _status(value: object) -> int:
    if value is None or value == "":
        return NO_STATUS
    status = whole_number(value)
    if status is None or (status != NO_STATUS and not _FIRST_STATUS <= status <= _LAST_STATUS):
        raise Unreadable(
            Reason.BAD_NUMBER,
            "httpStatus must be a number from 100 to 599, or left out when no answer came",
        )
    return status


def _right(wrong: _Wrong, *names: str) -> None:
    """Raise Unreadable for the first of these fields that is of another type."""
    for name in names:
        if name in wrong:
            raise Unreadable(Reason.BAD_FIELD, f"{name} has another type: {wrong[name]}")
