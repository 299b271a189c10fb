"""The readers of bodies: sessions, statuses and packet sizes. Stores nothing else.

Bodies are those of FI request answers, FI notifications and FI fetch answers. They
come as JSON, or as text that holds JSON.
"""

import contextlib
from datetime import UTC, datetime
from typing import Final, TypeVar

import msgspec

from mudra.agent.counting.event import UNKNOWN, FiStatus, Notification, fi_status
from mudra.agent.sources.tolerant_json import decoded
from mudra.shared.text.undecodable import UNDECODABLE
from mudra.shared.text.whole_number import number
from mudra.shared.time_text import read_time

MAX_SESSION: Final = 128
MAX_ACCOUNTS: Final = 10_000


class _Account(msgspec.Struct, frozen=True, gc=False):
    status: str | None = msgspec.field(name="FIStatus", default=None)


class _FipStatus(msgspec.Struct, frozen=True):
    accounts: list[_Account] | None = msgspec.field(name="Accounts", default=None)


class _StatusNotification(msgspec.Struct, frozen=True):
    session: str | None = msgspec.field(name="sessionId", default=None)
    responses: list[_FipStatus] | None = msgspec.field(name="FIStatusResponse", default=None)


class _Notification(msgspec.Struct, frozen=True):
    status: _StatusNotification = msgspec.field(name="FIStatusNotification")
    timestamp: msgspec.Raw = msgspec.Raw()


class _Requested(msgspec.Struct, frozen=True):
    session: str | None = msgspec.field(name="sessionId", default=None)


class _Identified(msgspec.Struct, frozen=True):
    txnid: str | None = None


class _Packet(msgspec.Struct, frozen=True):
    encrypted: str | None = msgspec.field(name="encryptedFI", default=None)


class _FipData(msgspec.Struct, frozen=True):
    data: list[_Packet] | None = None


class _Fetched(msgspec.Struct, frozen=True):
    fips: list[_FipData] | None = msgspec.field(name="FI", default=None)


_NOTIFICATION: Final = msgspec.json.Decoder(_Notification)
_IDENTIFIED: Final = msgspec.json.Decoder(_Identified)
_REQUESTED: Final = msgspec.json.Decoder(_Requested)
_FETCHED: Final = msgspec.json.Decoder(_Fetched)
_TEXT: Final = msgspec.json.Decoder(str)
_STAMP: Final = msgspec.json.Decoder(str | int | float)
_FIRST: Final = 10**11
"""Below it a number is of seconds."""
_LATEST: Final = 10**14
"""Milliseconds since 1970, in the year 5138."""
_T = TypeVar("_T")


def read_notification(body: bytes) -> Notification | None:
    """Return what an FI notification says; None when it cannot be read as one."""
    received = _read(_NOTIFICATION, body)
    if received is None:
        return None
    statuses = {
        account.status or ""
        for fip in received.status.responses or ()
        for account in (fip.accounts or ())[:MAX_ACCOUNTS]
    }
    session, sent_at = received.status.session, received.timestamp
    return notification(session, statuses, _sent_at(sent_at))


def notification(
    session: str | None, names: set[str], sent_at: int = UNKNOWN
) -> Notification | None:
    """Build a notification from its parts; None without a session or a status."""
    statuses = 0
    for name in names:
        statuses |= fi_status(name)
    found = session_id(session)
    return Notification(found, statuses, sent_at) if found and statuses else None


def _sent_at(timestamp: msgspec.Raw) -> int:
    """Return when a notification says that it was sent; UNKNOWN without a time."""
    try:
        return parse_time(decoded(_STAMP, bytes(timestamp)))
    except UNDECODABLE:
        return UNKNOWN


def session_id(text: str | None) -> str:
    """Return the session ID, or an empty text when it cannot be one."""
    return text if text and len(text) <= MAX_SESSION else ""


def session_in(body: bytes) -> str:
    """Return the session ID in the answer to an FI request; empty when there is none."""
    received = _read(_REQUESTED, body)
    return "" if received is None else session_id(received.session)


def txnid_in(body: bytes) -> str:
    """Return the transaction ID of a request or response; empty when there is none."""
    received = _read(_IDENTIFIED, body)
    return "" if received is None else received.txnid or ""


def shortened_notification(found: Notification) -> bytes:
    """Return the body of an FI notification that says the same and nothing else."""
    accounts = [{"FIStatus": status.name} for status in FiStatus if status & found.statuses]
    body: dict[str, object] = {
        "FIStatusNotification": {
            "sessionId": found.session,
            "FIStatusResponse": [{"Accounts": accounts}],
        }
    }
    with contextlib.suppress(ValueError, OverflowError):  # a time before the year 1: none
        if found.sent_at != UNKNOWN:
            body["timestamp"] = datetime.fromtimestamp(found.sent_at / 1000, UTC).isoformat()
    return msgspec.json.encode(body)


def packets_in(body: bytes) -> int:
    """Return the bytes of encrypted FI in an FI fetch answer, as transferred (spec 2.5)."""
    fetched = _read(_FETCHED, body)
    if fetched is None:
        return 0
    return sum(
        len(packet.encrypted or "") for fip in fetched.fips or () for packet in fip.data or ()
    )


def parse_time(value: object) -> int:
    """Return milliseconds since 1970 of a time, else UNKNOWN.

    ISO 8601 (of UTC without a zone), or a number since 1970, also as text, of seconds,
    milliseconds, microseconds or nanoseconds: which, its size says until the year 5138.
    """
    if type(value) is int and _FIRST <= value < _LATEST:
        return value
    if isinstance(value, str):
        value = value.strip()
    if isinstance(value, str) and value[4:5] == "-" and (read := read_time(value)) is not None:
        return round(read.at.timestamp() * 1000)
    found = number(value)
    if found is None or found < 0:
        return UNKNOWN
    for milliseconds in (1_000.0, 1.0, 0.001, 0.000_001):
        if found * milliseconds < _LATEST:
            return round(found * milliseconds)
    return UNKNOWN


def _read(decoder: "msgspec.json.Decoder[_T]", body: bytes) -> _T | None:
    """Return what a body says, which may be a text that holds JSON; None where it is neither."""
    try:
        return decoded(decoder, decoded(_TEXT, body).encode() if body[:1] == b'"' else body)
    except UNDECODABLE:
        return None
