"""What the agent reads out of bodies: sessions, statuses and packet sizes. Stores nothing else.

Bodies are those of FI request answers, FI notifications and FI fetch answers. They
come as JSON, or as text that holds JSON.
"""

import contextlib
from datetime import UTC, datetime
from typing import Final

import msgspec

from mudra.agent.counting.event import UNKNOWN, FiStatus, Notification, fi_status
from mudra.shared.undecodable import UNDECODABLE

MAX_SESSION: Final = 128
MAX_ACCOUNTS: Final = 10_000


class _Account(msgspec.Struct, frozen=True, gc=False):
    status: str = msgspec.field(name="FIStatus", default="")


class _FipStatus(msgspec.Struct, frozen=True):
    accounts: list[_Account] = msgspec.field(name="Accounts", default_factory=list)


class _StatusNotification(msgspec.Struct, frozen=True):
    session: str = msgspec.field(name="sessionId", default="")
    responses: list[_FipStatus] = msgspec.field(name="FIStatusResponse", default_factory=list)


class _Notification(msgspec.Struct, frozen=True):
    status: _StatusNotification = msgspec.field(name="FIStatusNotification")
    timestamp: str = ""


class _Requested(msgspec.Struct, frozen=True):
    session: str = msgspec.field(name="sessionId", default="")


class _Identified(msgspec.Struct, frozen=True):
    txnid: str = ""


class _Packet(msgspec.Struct, frozen=True):
    encrypted: str = msgspec.field(name="encryptedFI", default="")


class _FipData(msgspec.Struct, frozen=True):
    data: list[_Packet] = msgspec.field(default_factory=list)


class _Fetched(msgspec.Struct, frozen=True):
    fips: list[_FipData] = msgspec.field(name="FI", default_factory=list)


_NOTIFICATION: Final = msgspec.json.Decoder(_Notification)
_IDENTIFIED: Final = msgspec.json.Decoder(_Identified)
_REQUESTED: Final = msgspec.json.Decoder(_Requested)
_FETCHED: Final = msgspec.json.Decoder(_Fetched)
_TEXT: Final = msgspec.json.Decoder(str)


def read_notification(body: bytes) -> Notification | None:
    """Return what an FI notification says; None when it cannot be read as one."""
    try:
        received = _NOTIFICATION.decode(_unwrapped(body))
    except UNDECODABLE:
        return None
    statuses = {
        account.status
        for fip in received.status.responses
        for account in fip.accounts[:MAX_ACCOUNTS]
    }
    return notification(received.status.session, statuses, parse_time(received.timestamp))


def notification(session: str, names: set[str], sent_at: int = UNKNOWN) -> Notification | None:
    """Build a notification from its parts; None without a session or a status."""
    statuses = 0
    for name in names:
        statuses |= fi_status(name)
    return Notification(session, statuses, sent_at) if session_id(session) and statuses else None


def session_id(text: str) -> str:
    """Return the session ID, or an empty text when it cannot be one."""
    return text if 0 < len(text) <= MAX_SESSION else ""


def session_in(body: bytes) -> str:
    """Return the session ID in the answer to an FI request; empty when there is none."""
    try:
        return session_id(_REQUESTED.decode(_unwrapped(body)).session)
    except UNDECODABLE:
        return ""


def txnid_in(body: bytes) -> str:
    """Return the transaction ID of a request or response; empty when there is none."""
    try:
        return _IDENTIFIED.decode(_unwrapped(body)).txnid
    except UNDECODABLE:
        return ""


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
    try:
        fetched = _FETCHED.decode(_unwrapped(body))
    except UNDECODABLE:
        return 0
    return sum(len(packet.encrypted) for fip in fetched.fips for packet in fip.data)


def parse_time(text: str) -> int:
    """Return milliseconds since 1970 of an ISO 8601 text (UTC without a zone), else UNKNOWN."""
    try:
        parsed = datetime.fromisoformat(text)
    except ValueError:
        return UNKNOWN
    if parsed.tzinfo is None:
        parsed = parsed.replace(tzinfo=UTC)
    return round(parsed.timestamp() * 1000)


def _unwrapped(body: bytes) -> bytes:
    return _TEXT.decode(body).encode() if body[:1] == b'"' else body
