"""HTTP events in the shape in use today: an AA switches over by changing an address.

`POST /sna/v1/aa` takes one event or an array of them. Two members are added,
both optional: `timestamp` (ISO 8601 or milliseconds), needed for right
durations when both halves of a call come in one array, and `method`.
"""

from typing import Final

import msgspec

from mudra.agent.counting.event import NO_STATUS, UNKNOWN, CallEnded, CallStarted, Event
from mudra.agent.sources.body import packets_in, parse_time, read_notification, session_in
from mudra.agent.sources.route import SourceContext
from mudra.metrics.payload.catalogue import NotificationType, RequestType

PATH: Final = "/sna/v1/aa"
MAX_EVENTS: Final = 10_000
MAX_KEY: Final = 128
_OK: Final = 200
_FIRST_STATUS: Final = 100
_LAST_STATUS: Final = 599

_CALL_TYPES: Final = {  # name: (is a beginning, comes in)
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
    """One event as it travels; members that are not counted are not read."""

    call_type: str
    route: str
    txn_cor_id: str
    peer_id: str = ""
    peer_type: str = ""
    http_status: int | str | None = None
    method: str | None = None
    timestamp: str | int | None = None
    body: msgspec.Raw = msgspec.Raw(_NULL)


class Rejected(msgspec.Struct, frozen=True):
    """An event that was not taken, and why."""

    index: int
    message: str


_ONE: Final = msgspec.json.Decoder(WireEvent)
_MANY: Final = msgspec.json.Decoder(list[msgspec.Raw])
_ALL: Final = msgspec.json.Decoder(list[WireEvent])


def read_events(body: bytes, context: SourceContext) -> tuple[list[Event], list[Rejected]]:
    """The events in a request body, and those that were not taken.

    Raises msgspec.DecodeError when the body is no JSON, and ValueError when there are too many.
    """
    rejected: list[Rejected] = []
    if body.lstrip()[:1] == b"[":
        try:
            wire: list[tuple[int, WireEvent]] = list(enumerate(_ALL.decode(body)))
        except msgspec.ValidationError:
            wire = []
            for index, raw in enumerate(_MANY.decode(body)):
                try:
                    wire.append((index, _ONE.decode(raw)))
                except msgspec.ValidationError as error:
                    rejected.append(Rejected(index, str(error)))
        if len(wire) + len(rejected) > MAX_EVENTS:
            raise ValueError(f"an array holds at most {MAX_EVENTS} events; send several")
    else:
        try:
            wire = [(0, _ONE.decode(body))]
        except msgspec.ValidationError as error:
            return [], [Rejected(0, str(error))]
    now, mono = context.clock.wall(), context.clock.monotonic()
    events: list[Event] = []
    for index, told in wire:
        read = _event(told, context, now, mono)
        if isinstance(read, str):
            context.metrics.unreadable += 1
            rejected.append(Rejected(index, read))
        elif read is not None:
            events.append(read)
    return events, rejected


def _event(told: WireEvent, context: SourceContext, now: int, mono: int) -> Event | str | None:
    """The event, None when it is not one to count, or what is wrong with it."""
    kind = _CALL_TYPES.get(told.call_type)
    if kind is None:
        return f"callType must be one of {', '.join(_CALL_TYPES)}"
    if not 0 < len(told.txn_cor_id) <= MAX_KEY:
        return f"txnCorId must be a text of 1 to {MAX_KEY} characters"
    begins, inbound = kind
    code = context.routes.code(told.method or "", told.route, inbound=inbound)
    if not code or (told.peer_type and told.peer_type.upper() != _FIP):
        context.metrics.other_calls += 1
        return None
    wall = now if told.timestamp is None else _wall(told.timestamp)
    if wall == UNKNOWN:
        return "timestamp must be ISO 8601 or milliseconds since 1970"
    if told.timestamp is not None:
        if not context.is_reportable(wall, now):
            return "timestamp must lie in the last 7 days; check the clock of its machine"
        mono -= now - wall
    if not begins:
        return _answer(told, code, wall, mono, inbound=inbound)
    if not context.peers.valid(told.peer_id):
        context.metrics.unknown_peer += 1
        return "peerId must be an entity ID: 1 to 64 of A-Z a-z 0-9 @ . _ -"
    notification = (
        read_notification(bytes(told.body)) if inbound and code == _FI_NOTIFICATION else None
    )
    return CallStarted(told.txn_cor_id, inbound, told.peer_id, code, wall, mono, notification)


def _answer(told: WireEvent, code: str, wall: int, mono: int, *, inbound: bool) -> Event | str:
    status = _status(told.http_status)
    if status is None:
        return "httpStatus must be a number from 100 to 599, or left out when no answer came"
    size, session = 0, ""
    if status == _OK and not inbound:
        if code == _FI_REQUEST:
            session = session_in(bytes(told.body))
        elif code == _FI_FETCH:
            size = packets_in(bytes(told.body))
    return CallEnded(told.txn_cor_id, inbound, wall, mono, status, size, session)


def _status(told: int | str | None) -> int | None:
    if told is None or told == "":
        return NO_STATUS
    if isinstance(told, str):
        if not (told.isascii() and told.isdigit() and len(told) <= 3):  # noqa: PLR2004 - digits of a status
            return None
        told = int(told)
    if told == NO_STATUS:
        return NO_STATUS
    return told if _FIRST_STATUS <= told <= _LAST_STATUS else None


def _wall(told: str | int) -> int:
    if isinstance(told, int):
        return told if told > 0 else UNKNOWN
    return parse_time(told)
