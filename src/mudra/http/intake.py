"""The only reader of request bodies.

Every body is counted while it streams in, with or without `Content-Length`, and
has a deadline: no ASGI server stops slow bodies (quality 2.3, items I1 and I2).
What is not taken comes back as a value of `BodyRefused`.
"""

import asyncio
import re
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from mudra.http.body_refused import (
    BodyRefused,
    BodyTooLarge,
    BodyTooSlow,
    ClientGone,
    MalformedBody,
    UnsupportedEncoding,
    UnsupportedMediaType,
)
from mudra.http.media_type import media_type
from mudra.http.shown import shown
from mudra.http.strict_form import FormRefused, parse_form
from mudra.http.strict_json import JsonRefused, JsonValue, parse_document, parse_json
from mudra.http.unpack import UNPACKERS, BadlyPacked, Plain, UnpackedTooLarge, Unpacker

Headers: TypeAlias = Iterable[tuple[bytes, bytes]]
"""As an ASGI scope has them: names in lower case."""
Receive: TypeAlias = Callable[[], Awaitable[Mapping[str, object]]]

JSON: Final = "application/json"
FORM: Final = "application/x-www-form-urlencoded"

_DIGITS: Final = re.compile(rb"[0-9]{1,19}")


@dataclass(frozen=True, slots=True)
class BodyLimits:
    """How large and how slow a body may be, and which encodings it may have.

    Times in seconds. After `free_s` the body must have come at
    `least_bytes_per_s` on average since then.
    """

    max_bytes: int
    encodings: tuple[str, ...] = ()
    whole_s: float = 30.0
    free_s: float = 5.0
    least_bytes_per_s: int = 1024


FORM_LIMITS: Final = BodyLimits(8 * 1024)
TOKEN_LIMITS: Final = BodyLimits(16 * 1024)
REGISTRATION_LIMITS: Final = BodyLimits(64 * 1024)
METRICS_LIMITS: Final = BodyLimits(8 * 1024 * 1024, encodings=("gzip", "zstd"))


async def read_json(
    receive: Receive, headers: Headers, limits: BodyLimits
) -> dict[str, JsonValue] | BodyRefused:
    """Give the members of a body that is one strict JSON object."""
    headers = list(headers)
    raw = _media_type_refused(headers, JSON) or await read_body(receive, headers, limits)
    if not isinstance(raw, bytes):
        return raw
    try:
        value = parse_json(raw)
    except JsonRefused as refused:
        return MalformedBody(refused.sentence(), number_of=refused.member)
    if not isinstance(value, dict):
        return MalformedBody("body must be a JSON object, in braces")
    return value


async def read_document(
    receive: Receive, headers: Headers, limits: BodyLimits
) -> object | BodyRefused:
    """Give any value of a strict JSON body, for a check that names the place of each fault."""
    raw = await read_typed_body(receive, headers, limits)
    if not isinstance(raw, bytes):
        return raw
    try:
        return parse_document(raw)
    except JsonRefused as refused:
        return MalformedBody(refused.sentence())


async def read_form(
    receive: Receive, headers: Headers, limits: BodyLimits = FORM_LIMITS
) -> dict[str, str] | BodyRefused:
    """Give the fields of a form."""
    headers = list(headers)
    raw = _media_type_refused(headers, FORM) or await read_body(receive, headers, limits)
    if not isinstance(raw, bytes):
        return raw
    try:
        return parse_form(raw)
    except FormRefused as refused:
        return MalformedBody(refused.sentence())


async def read_typed_body(
    receive: Receive, headers: Headers, limits: BodyLimits, allowed: str = JSON
) -> bytes | BodyRefused:
    """Give the bytes of a body of media type `allowed`, for a caller that parses them itself."""
    headers = list(headers)
    return _media_type_refused(headers, allowed) or await read_body(receive, headers, limits)


async def read_body(receive: Receive, headers: Headers, limits: BodyLimits) -> bytes | BodyRefused:
    """Give the whole body, unpacked, of whatever media type.

    Memory stays below twice `limits.max_bytes`.
    """
    headers = list(headers)
    refused = _announced_size_refused(headers, limits)
    if refused:
        return refused
    unpacker = _unpacker(headers, limits)
    if isinstance(unpacker, UnsupportedEncoding):
        return unpacker
    try:
        return await _collect(receive, unpacker, limits)
    except UnpackedTooLarge:
        return BodyTooLarge(limits.max_bytes)
    except TimeoutError:
        return BodyTooSlow(limits.whole_s, limits.least_bytes_per_s)
    except BadlyPacked:
        sent = " and ".join(_values(headers, b"content-encoding"))
        return MalformedBody(f"body is not whole and valid {shown(sent)}", unread=True)


async def _collect(
    receive: Receive, unpacker: Unpacker, limits: BodyLimits
) -> bytes | BodyTooLarge | ClientGone:
    started = asyncio.get_running_loop().time()
    received = 0
    async with asyncio.timeout_at(started + min(limits.free_s, limits.whole_s)) as deadline:
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                return ClientGone()
            piece = message.get("body", b"")
            assert isinstance(piece, bytes)
            received += len(piece)
            if received > limits.max_bytes:
                return BodyTooLarge(limits.max_bytes)
            unpacker.take(piece)
            if not message.get("more_body", False):
                break  # most bodies come at once: no new deadline for them
            allowance = limits.free_s + received / limits.least_bytes_per_s
            deadline.reschedule(started + min(limits.whole_s, allowance))
    return unpacker.whole()


def _announced_size_refused(
    headers: Headers, limits: BodyLimits
) -> BodyTooLarge | MalformedBody | None:
    """Refuse by `Content-Length` before a byte of the body is asked for."""
    sizes = [value for name, value in headers if name == b"content-length"]
    if len(sizes) > 1 or not all(_DIGITS.fullmatch(size) for size in sizes):
        return MalformedBody("Content-Length must be one whole number", unread=True)
    if sizes and int(sizes[0]) > limits.max_bytes:
        return BodyTooLarge(limits.max_bytes)
    return None


def _unpacker(headers: Headers, limits: BodyLimits) -> Unpacker | UnsupportedEncoding:
    sent = ", ".join(_values(headers, b"content-encoding")).strip().lower()
    if sent in {"", "identity"}:
        return Plain(limits.max_bytes)
    name = "gzip" if sent == "x-gzip" else sent  # RFC 9110, 8.4.1.3: the same
    if name in limits.encodings:
        return UNPACKERS[name](limits.max_bytes)
    return UnsupportedEncoding(shown(sent), limits.encodings)


def _media_type_refused(headers: Headers, allowed: str) -> UnsupportedMediaType | None:
    sent = _values(headers, b"content-type")
    if len(sent) == 1 and media_type(sent[0]).is_utf8(allowed):
        return None
    return UnsupportedMediaType(shown(", ".join(sent)), allowed)


def _values(headers: Headers, name: bytes) -> list[str]:
    return [value.decode("latin-1") for header, value in headers if header == name]
