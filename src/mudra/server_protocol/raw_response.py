"""Answers to requests that never reached the application, with the body of spec 7 by default."""

from collections.abc import Callable
from datetime import UTC, datetime
from functools import lru_cache
from http import HTTPStatus
from typing import Final
from uuid import uuid4

import msgspec
from msgspec import Struct, field

_VERSION: Final = "1.0.0"


class RawError(Struct, frozen=True):
    """A status with its errorCode and errorMsg; `headers` in addition to the usual ones."""

    status: HTTPStatus
    error_code: str
    sentence: str
    headers: tuple[tuple[bytes, bytes], ...] = field(default=())


BodyOf = Callable[[RawError, datetime, str], bytes]
"""Writes the body of a refusal, of this time and transaction ID."""


def error_body(refusal: RawError, now: datetime, txn_id: str) -> bytes:
    """Return the body of spec part 7."""
    return msgspec.json.encode(
        {
            "ver": _VERSION,
            "timestamp": _instant(now),
            "txnId": txn_id,
            "errorCode": refusal.error_code,
            "errorMsg": refusal.sentence,
        }
    )


def raw_response(
    refusal: RawError,
    now: datetime,
    default_headers: list[tuple[bytes, bytes]],
    body_of: BodyOf = error_body,
) -> bytes:
    """Refuse what never reached the application; ends the connection."""
    txn_id = str(uuid4())
    body = body_of(refusal, now, txn_id)
    headers = [
        *default_headers,
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        (b"cache-control", b"no-store"),
        (b"x-content-type-options", b"nosniff"),
        (b"x-request-id", txn_id.encode()),
        *refusal.headers,
        (b"connection", b"close"),
    ]
    lines = (b"%s: %s\r\n" % line for line in headers)
    return status_line(refusal.status) + b"".join(lines) + b"\r\n" + body


@lru_cache(maxsize=64)
def status_line(status: int) -> bytes:
    """Give the first line of an answer (RFC 9112 4)."""
    return f"HTTP/1.1 {status} {HTTPStatus(status).phrase}\r\n".encode()


def _instant(now: datetime) -> str:
    return now.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
