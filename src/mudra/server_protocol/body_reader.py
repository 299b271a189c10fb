"""The bytes of a request's body, as the service and the agent read them.

Every body is counted while it streams in, with or without `Content-Length`, and
has a deadline: no ASGI server limits slow bodies.
A body that is not accepted is returned as a value of `BodyRefused`.
"""

import asyncio
import re
from collections.abc import Awaitable, Callable, Generator, Iterable, Mapping
from functools import lru_cache
from typing import Final, NamedTuple, TypeAlias, cast

from msgspec import Struct

from mudra.server_protocol.body_errors import (
    BodyReadLate,
    BodyRefused,
    BodyTooLarge,
    BodyTooSlow,
    ClientGone,
    MalformedBody,
    UnsupportedEncoding,
    UnsupportedMediaType,
)
from mudra.server_protocol.decompression import (
    UNPACKERS,
    BadlyPacked,
    Identity,
    UnpackedTooLarge,
    Unpacker,
)
from mudra.server_protocol.printable import printable
from mudra.shared.text.byte_order_mark import MARK

_WORD: Final = r"[A-Za-z0-9!#$%&'*+.^_`|~-]+"
_TYPE: Final = re.compile(rf"[ \t]*({_WORD}/{_WORD})[ \t]*")
_PARAMETER: Final = re.compile(
    rf';[ \t]*(?:({_WORD})=(?:({_WORD})|"((?:[^"\\\x00-\x1f]|\\.)*)"))?[ \t]*'
)


class MediaType(Struct, frozen=True):
    """A media type in lower case, with its charset or `""`."""

    name: str
    charset: str

    def is_utf8(self, name: str) -> bool:
        """Return whether this is `name`, in UTF-8 or with no charset named."""
        return self.name == name and self.charset in {"", "utf-8", "utf8"}


UNREADABLE: Final = MediaType("", "")
"""No header, or one that breaks the grammar. Equal to no type that is allowed."""


@lru_cache(maxsize=64)
def media_type(header: str) -> MediaType:
    """Read a `Content-Type` header; `UNREADABLE` when it is none.

    A repeated parameter makes it unreadable: readers could disagree about its value.
    """
    start = _TYPE.match(header)
    if not start:
        return UNREADABLE
    at = start.end()
    parameters: dict[str, str] = {}
    while at < len(header):
        parameter = _PARAMETER.match(header, at)
        if not parameter:
            return UNREADABLE
        at = parameter.end()
        if parameter[1] is None:
            continue
        name = parameter[1].lower()
        if name in parameters:
            return UNREADABLE
        quoted: str | None = parameter[3]
        parameters[name] = parameter[2] if quoted is None else re.sub(r"\\(.)", r"\1", quoted)
    return MediaType(start[1].lower(), parameters.get("charset", "").lower())


Headers: TypeAlias = Iterable[tuple[bytes, bytes]]
"""As an ASGI scope has them: names in lower case."""
Receive: TypeAlias = Callable[[], Awaitable[Mapping[str, object]]]

JSON: Final = "application/json"

_LATE_S: Final = 0.5
"""A deadline noticed so much after its time: this process was busy, or had no processor."""
_LAST_LOOK_S: Final = 0.05
"""A wait in which an event loop reads every socket once, however busy it is."""
_DIGITS: Final = re.compile(rb"[0-9]{1,19}")


class BodyLimits(Struct, frozen=True):
    """The limits of a body: its size, its slowest pace, and its encodings.

    Times in seconds. After `free_s` the body must have come at
    `min_bytes_per_s` on average since then.
    """

    max_bytes: int
    encodings: tuple[str, ...] = ()
    whole_s: float = 30.0
    free_s: float = 5.0
    min_bytes_per_s: int = 1024


async def read_typed_body(
    receive: Receive,
    headers: Headers,
    limits: BodyLimits,
    allowed: str = JSON,
    *,
    may_be_empty: bool = False,
) -> bytes | BodyRefused:
    """Return the bytes of a body of media type `allowed`, for a caller that parses them itself.

    One that `may_be_empty` needs no `Content-Type` when it is.
    """
    framing = _framing(headers)
    refused = _media_type_refused(framing, allowed)
    if refused is not None and (framing.types or not may_be_empty):
        return refused
    content = await _read(receive, framing, limits)
    return refused if refused is not None and content and isinstance(content, bytes) else content


def is_whole_body(headers: Headers, body: bytes, limits: BodyLimits, allowed: str) -> bool:
    """Return whether complete bytes are a body without content encoding that would be accepted."""
    framing = _framing(headers)
    if framing.encodings or len(body) > limits.max_bytes:
        return False
    return not (_media_type_refused(framing, allowed) or _announced_size_refused(framing, limits))


class PackedBody(NamedTuple):
    """A whole body as it was sent, counted but not unpacked."""

    content: bytes
    encoding: str
    """One of `BodyLimits.encodings`, or empty."""


async def read_packed_body(
    receive: Receive, headers: Headers, limits: BodyLimits, allowed: str = JSON
) -> PackedBody | BodyRefused:
    """Return a body of media type `allowed` for a caller that has it unpacked elsewhere."""
    framing = _framing(headers)
    refused = _media_type_refused(framing, allowed)
    if refused is not None:
        return refused
    encoding = _encoding(framing, limits)
    if isinstance(encoding, UnsupportedEncoding):
        return encoding
    content = await _read(receive, framing._replace(encodings=[]), limits)
    return PackedBody(content, encoding) if isinstance(content, bytes) else content


def unpacked(body: PackedBody, max_bytes: int) -> bytes | BodyTooLarge | MalformedBody:
    """Return the content of a body, without a byte order mark; takes up to 20 ms for 8 MiB."""
    if not body.encoding:
        too_large = len(body.content) > max_bytes
        return BodyTooLarge(max_bytes) if too_large else body.content.removeprefix(MARK)
    unpacker = UNPACKERS[body.encoding](max_bytes)
    try:
        unpacker.take(body.content)
        return unpacker.whole().removeprefix(MARK)
    except UnpackedTooLarge:
        return BodyTooLarge(max_bytes)
    except BadlyPacked:
        return MalformedBody(f"body is not whole and valid {body.encoding}", unread=True)


class _Framing(NamedTuple):
    """The headers about the body, each as often as it was sent."""

    types: list[bytes]
    sizes: list[bytes]
    encodings: list[bytes]


def _framing(headers: Headers) -> _Framing:
    found = _Framing([], [], [])
    for name, value in headers:
        if name == b"content-type":
            found.types.append(value)
        elif name == b"content-length":
            found.sizes.append(value)
        elif name == b"content-encoding":
            found.encodings.append(value)
    return found


async def _read(receive: Receive, framing: _Framing, limits: BodyLimits) -> bytes | BodyRefused:
    refused = _announced_size_refused(framing, limits)
    if refused:
        return refused
    unpacker = _unpacker(framing, limits)
    if isinstance(unpacker, UnsupportedEncoding):
        return unpacker
    try:
        return await _collect(receive, unpacker, limits)
    except UnpackedTooLarge:
        return BodyTooLarge(limits.max_bytes)
    except TimeoutError:
        return BodyTooSlow(limits.whole_s, limits.min_bytes_per_s)
    except BadlyPacked:
        sent = " and ".join(_texts(framing.encodings))
        return MalformedBody(f"body is not whole and valid {printable(sent)}", unread=True)


async def _collect(
    receive: Receive, unpacker: Unpacker, limits: BodyLimits
) -> bytes | BodyTooLarge | BodyReadLate | ClientGone:
    first = _FirstMessage(receive())
    if first.message is not None and not first.message.get("more_body", False):
        return _received(first.message, unpacker, limits.max_bytes) or unpacker.whole()
    loop = asyncio.get_running_loop()
    started, received, arriving = loop.time(), 0, cast("Awaitable[Mapping[str, object]]", first)
    due, late_s = started + min(limits.free_s, limits.whole_s), 0.0
    while True:
        try:
            async with asyncio.timeout_at(due):
                message = await arriving
        except TimeoutError:
            # Timers run before sockets are read: what came in time may still wait in one.
            late_s = loop.time() - due
            async with asyncio.timeout(_LAST_LOOK_S):
                message = await receive()
        refused = _received(message, unpacker, limits.max_bytes, received)
        if refused:
            return refused
        if not message.get("more_body", False):
            return unpacker.whole()
        received += len(_piece(message))
        if loop.time() > due:
            if late_s > _LATE_S:
                return BodyReadLate()
            raise TimeoutError
        due = started + min(limits.whole_s, limits.free_s + received / limits.min_bytes_per_s)
        arriving = receive()


def _received(
    message: Mapping[str, object], unpacker: Unpacker, most: int, received: int = 0
) -> BodyTooLarge | ClientGone | None:
    if message["type"] == "http.disconnect":
        return ClientGone()
    piece = _piece(message)
    if received + len(piece) > most:
        return BodyTooLarge(most)
    unpacker.take(piece)
    return None


def _piece(message: Mapping[str, object]) -> bytes:
    piece = message.get("body", b"")
    assert isinstance(piece, bytes)
    return piece


class _FirstMessage:
    """A call of `receive` that has made its first step.

    Most bodies have already arrived, and setting a deadline costs more than reading them.
    """

    __slots__ = ("_steps", "_waits_for", "message")

    def __init__(self, received: Awaitable[Mapping[str, object]]) -> None:
        self._steps = received.__await__()
        self._waits_for: object = None
        self.message: Mapping[str, object] | None = None
        try:
            self._waits_for = next(self._steps)
        except StopIteration as ended:
            self.message = ended.value

    def __await__(self) -> Generator[object, None, Mapping[str, object]]:
        if self.message is not None:
            return self.message
        try:
            yield self._waits_for
        except BaseException as error:  # noqa: BLE001  # passed on: a deadline, or a cancellation
            yield self._steps.throw(error)
        return (yield from self._steps)


def _announced_size_refused(
    framing: _Framing, limits: BodyLimits
) -> BodyTooLarge | MalformedBody | None:
    """Refuse by `Content-Length` before a byte of the body is asked for."""
    sizes = framing.sizes
    if not sizes:
        return None
    if len(sizes) > 1 or not _DIGITS.fullmatch(sizes[0]):
        return MalformedBody("Content-Length must be one whole number", unread=True)
    return BodyTooLarge(limits.max_bytes) if int(sizes[0]) > limits.max_bytes else None


def _unpacker(framing: _Framing, limits: BodyLimits) -> Unpacker | UnsupportedEncoding:
    name = _encoding(framing, limits)
    if isinstance(name, UnsupportedEncoding):
        return name
    return UNPACKERS[name](limits.max_bytes) if name else Identity(limits.max_bytes)


def _encoding(framing: _Framing, limits: BodyLimits) -> str | UnsupportedEncoding:
    sent = ", ".join(_texts(framing.encodings)).strip().lower()
    if sent in {"", "identity"}:
        return ""
    name = "gzip" if sent == "x-gzip" else sent  # RFC 9110, 8.4.1.3: the same
    if name in limits.encodings:
        return name
    return UnsupportedEncoding(printable(sent), limits.encodings)


def _media_type_refused(framing: _Framing, allowed: str) -> UnsupportedMediaType | None:
    sent = _texts(framing.types)
    if len(sent) == 1 and media_type(sent[0]).is_utf8(allowed):
        return None
    return UnsupportedMediaType(printable(", ".join(sent)), allowed)


def _texts(values: list[bytes]) -> list[str]:
    return [value.decode("latin-1") for value in values]
