"""Bodies that the agent is sent, within limits that hold for all of them together.

They are read by the reader that the service has. Until one is counted its bytes are held against
`MAX_IN_MEMORY`. One that is packed or large is unpacked and read off the event loop, and one of
these at a time: what a body becomes may be ten times its size, and it becomes that once.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, MutableMapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Final, TypeVar

from mudra.agent.host.ingest_response import RequestError
from mudra.server_protocol.body_errors import BodyRefused, UnsupportedEncoding
from mudra.server_protocol.body_reader import (
    BodyLimits,
    Headers,
    PackedBody,
    read_packed_body,
    unpacked,
)
from mudra.server_protocol.refusal_status import STATUS_OF, HttpRefusal

MAX_BODY: Final = 8 << 20
"""Of one body, packed and unpacked."""
MAX_IN_MEMORY: Final = 32 << 20
"""Bytes of all bodies that are being read at one time: a bound of the agent's memory."""
BODY_SECONDS: Final = 15
ENCODINGS: Final = ("gzip", "deflate", "zstd")
LIMITS: Final = BodyLimits(MAX_BODY, ENCODINGS, whole_s=BODY_SECONDS)
SMALL: Final = 64 << 10
"""A body that is read on the event loop: it takes some milliseconds."""

Message = MutableMapping[str, object]
Receive = Callable[[], Awaitable[Message]]
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class ReceivedBody:
    """A whole body as it was sent."""

    packed: PackedBody
    lane: asyncio.Lock

    async def read(self, read: Callable[[bytes], _T]) -> _T:
        """Return what `read` makes of the unpacked bytes. Raises RequestError, and as `read`."""
        if not self.packed.encoding and len(self.packed.content) <= SMALL:
            return read(self.packed.content)
        async with self.lane:
            return await asyncio.to_thread(self._unpacked, read)

    def _unpacked(self, read: Callable[[bytes], _T]) -> _T:
        plain = unpacked(self.packed, MAX_BODY)
        if not isinstance(plain, bytes):
            raise request_error(plain)
        return read(plain)


@dataclass(slots=True)
class BodyIntake:
    """The bodies that are being received and read."""

    _held: int = 0
    _lane: asyncio.Lock = field(default_factory=asyncio.Lock)

    @asynccontextmanager
    async def received(
        self, receive: Receive, headers: Headers, allowed: str
    ) -> AsyncIterator[ReceivedBody]:
        """Receive a body of this media type, held until the end of the block.

        Raises RequestError.
        """
        own = 0

        async def counted() -> Mapping[str, object]:
            nonlocal own
            message = await receive()
            piece = message.get("body", b"")
            size = len(piece) if isinstance(piece, bytes) else 0
            own += size
            self._held += size
            if self._held > MAX_IN_MEMORY:
                raise RequestError(
                    503, "ServiceUnavailable", "too many large requests at once; send it again",
                    ((b"retry-after", b"2"), (b"connection", b"close")),
                )  # fmt: skip  # the parts in their order
            return message

        try:
            packed = await read_packed_body(counted, headers, LIMITS, allowed)
            if not isinstance(packed, PackedBody):
                raise request_error(packed)
            yield ReceivedBody(packed, self._lane)
        finally:
            self._held -= own


def request_error(refused: BodyRefused) -> RequestError:
    """Return how a body that is not accepted is answered."""
    status, code = STATUS_OF[refused.kind]
    headers = dict(refused.headers) if isinstance(refused, HttpRefusal) else {}
    sentence = refused.sentence
    if isinstance(refused, UnsupportedEncoding):
        headers["Accept-Encoding"] = ", ".join(ENCODINGS)
        sentence = f"Content-Encoding must be one of {', '.join(ENCODINGS)}, or none"
    if refused.retry_after_s:
        headers["Retry-After"] = str(refused.retry_after_s)
    sent = ((name.lower().encode(), value.encode()) for name, value in headers.items())
    return RequestError(status, code, sentence, tuple(sent))
