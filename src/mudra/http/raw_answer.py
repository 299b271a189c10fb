"""Answers to requests that never reached the application, with the body of spec part 7."""

from collections.abc import Callable
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Final
from uuid import uuid4

import msgspec
from msgspec import Struct, field

_VERSION: Final = "1.0.0"


class RawRefusal(Struct, frozen=True):
    """A status with its errorCode and errorMsg; `headers` beside the usual ones."""

    status: HTTPStatus
    error_code: str
    sentence: str
    headers: tuple[tuple[bytes, bytes], ...] = field(default=())


def raw_answer(
    refusal: RawRefusal,
    now: datetime,
    default_headers: list[tuple[bytes, bytes]],
    new_id: Callable[[], object] = uuid4,
) -> bytes:
    """Give a whole HTTP/1.1 answer that ends the connection."""
    txn_id = str(new_id())
    body = msgspec.json.encode(
        {
            "ver": _VERSION,
            "timestamp": _instant(now),
            "txnId": txn_id,
            "errorCode": refusal.error_code,
            "errorMsg": refusal.sentence,
        }
    )
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
    status = f"HTTP/1.1 {refusal.status.value} {refusal.status.phrase}\r\n".encode()
    return status + b"".join(b"%s: %s\r\n" % line for line in headers) + b"\r\n" + body


def _instant(now: datetime) -> str:
    return now.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
