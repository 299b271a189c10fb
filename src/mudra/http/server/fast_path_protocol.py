"""Answers requests that need only memory, in the turn of the event loop that read them.

Most of the time the hot path has to wait for nothing. There, an ASGI cycle with its task,
events and messages costs as much as reading the form, checking the secret and recording it
for the audit. So a connection tries the `FastPath` first, and only what cannot be answered
at once goes through uvicorn, from its first byte, as every other request does.

The pending responses of one turn of the loop are signed together, then sent together: an RSA
signature leaves little of anything else in a processor's caches. What is more than a batch waits
for the next turn, in rotation by client (decision 0220).
"""

from asyncio import AbstractEventLoop
from collections import deque
from collections.abc import Callable
from typing import ClassVar, Protocol, TypeAlias

from msgspec import Struct
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from mudra.http.request.body.request_body import FORM_LIMITS
from mudra.http.response.json_response import JsonResponse
from mudra.server_protocol.body_reader import Headers
from mudra.server_protocol.client_turns import ClientTurns
from mudra.server_protocol.connection_limits import ConnectionLimits, OpenConnections
from mudra.server_protocol.limited_protocol import LimitedProtocol, ProtocolContext
from mudra.server_protocol.raw_response import RawError
from mudra.shared.clock import Clock

_METHOD = b"POST"
_BATCH_SIZE = 16
"""Signed before the first of them is sent: no longer a wait than that of the last one."""
_SHARE = 4
"""Of a batch, for one client while there are others: they wait for some 4 ms of its signatures."""
_ALONE_S = 60.0
"""A client is alone when no other has asked for so long."""


class PendingResponse(Protocol):
    """A response that needs nothing but the processor."""

    def sign(self) -> None:
        """Do what is costly; called once, before `response`."""

    def response(self) -> JsonResponse:
        """Return what is to be sent."""


class ReadyResponse(Struct, frozen=True):
    """A response that needs no signature: a refusal."""

    ready: JsonResponse

    def sign(self) -> None:
        """Do nothing."""

    def response(self) -> JsonResponse:
        """Return it."""
        return self.ready


TryFastPath: TypeAlias = Callable[[Headers, bytes, str], PendingResponse | None]
"""Takes headers, body and peer; returns None, and does nothing, where it would have to wait."""


class FastPath(Struct, frozen=True):
    """The path that can be answered at once: POST to one address."""

    address: str
    try_respond: TryFastPath


def fast_path_protocol(
    limits: ConnectionLimits,
    clock: Clock,
    fast_path: FastPath,
    stopping: Callable[[], bool] = lambda: False,
    arrived: Callable[[], None] = lambda: None,
) -> type[HttpToolsProtocol]:
    """Return the class for `uvicorn.Config(http=...)`; all its connections are counted together.

    Once `stopping()` is true, each answer is the last of its connection. `arrived` is called
    before anything that arrived is looked at.
    """

    class Connection(_FastPathProtocol):
        pass

    turns = ClientTurns(limits.proxies)
    Connection.shared = ProtocolContext(
        limits, clock, OpenConnections(limits), turns, stopping, arrived
    )
    Connection.fast_path = fast_path
    Connection.batch = SigningBatch()
    Connection.address = fast_path.address.encode()
    return Connection


class SigningBatch:
    """The connections with a pending response, by client: some are answered in each turn."""

    def __init__(self) -> None:
        self._pending: dict[str, deque[_FastPathProtocol]] = {}
        self._size = 0
        self._last = ""
        self._changed_at = float("-inf")

    def join(self, connection: "_FastPathProtocol", client: str, loop: AbstractEventLoop) -> None:
        """Add a connection; it is answered when the loop has read from all that sent something."""
        if not self._pending:
            loop.call_soon(self._end_turn, loop)
        if client != self._last:
            self._changed_at = loop.time() if self._last else self._changed_at
            self._last = client
        self._pending.setdefault(client, deque()).append(connection)
        self._size += 1
        if self._size > self._share(loop):
            connection.rest()

    def _end_turn(self, loop: AbstractEventLoop) -> None:
        batch = self._next(self._share(loop))
        if self._pending:
            loop.call_soon(self._end_turn, loop)
        for connection in batch:
            connection.sign_pending()
        for connection in batch:
            connection.send_pending()

    def _share(self, loop: AbstractEventLoop) -> int:
        return _BATCH_SIZE if loop.time() - self._changed_at > _ALONE_S else _SHARE

    def _next(self, share: int) -> list["_FastPathProtocol"]:
        batch: list[_FastPathProtocol] = []
        for client, line in list(self._pending.items()):
            if len(batch) == _BATCH_SIZE:
                break
            del self._pending[client]
            taken = min(share, len(line), _BATCH_SIZE - len(batch))
            batch.extend(line.popleft() for _ in range(taken))
            if line:
                self._pending[client] = line  # behind all other clients
        self._size -= len(batch)
        return batch


class _FastPathProtocol(LimitedProtocol):
    fast_path: ClassVar[FastPath]
    address: ClassVar[bytes]
    batch: ClassVar[SigningBatch]

    _held: bytes | None = None
    """The body so far of a request that may be answered at once, before uvicorn sees it."""
    _pending: PendingResponse | None = None
    _is_signed = False
    _is_last = False
    """The connection ends with the pending response."""

    def data_received(self, data: bytes) -> None:
        # One at most in a turn: pipelined requests must not keep other connections waiting.
        self._answered_now = False
        super().data_received(data)

    def eof_received(self) -> bool:  # type: ignore[override]  # asyncio's may keep it open
        if self._pending is not None:
            self._is_last = True
            return True
        return super().eof_received()

    def connection_lost(self, exc: Exception | None) -> None:
        self._pending = None
        super().connection_lost(exc)

    def shutdown(self) -> None:
        self._flush_pending()
        super().shutdown()

    def _all_is_read(self) -> None:
        if self._held is not None:
            self._leave_fast_path()

    def _begin_answer(self) -> None:
        self._flush_pending()  # the response to the previous request comes first
        if (
            self.url == self.address
            and self.parser.get_method() == _METHOD
            and self.parser.get_http_version() == "1.1"
            and not self.expect_100_continue
            and not self._answered_now
            and not self._is_unanswered()
            and not self.flow.write_paused
            and self.shared.turns.may_be_prompt(self._peer(), self.headers)
        ):
            self._held = b""
        else:
            super()._begin_answer()

    def on_body(self, body: bytes) -> None:
        if self._held is None:
            super().on_body(body)
            return
        self._has_reported = True
        self._held += body
        if len(self._held) > FORM_LIMITS.max_bytes:
            self._leave_fast_path()

    def on_message_complete(self) -> None:
        if self._held is not None:
            if self._try_fast_path(self._held):
                return
            self._leave_fast_path()
        super().on_message_complete()

    def _leave_fast_path(self) -> None:
        body, self._held = self._held, None
        super()._begin_answer()
        if body:
            super().on_body(body)

    def _try_fast_path(self, body: bytes) -> bool:
        self._pending = self.fast_path.try_respond(self.headers, body, self._peer())
        if self._pending is None:
            return False
        self._held = None
        self._answered_now = True
        self._in_message = False
        self._is_signed = False
        self._is_last = not self.parser.should_keep_alive() or self.shared.stopping()
        client = self.shared.turns.client(self._peer(), self.headers)
        self.batch.join(self, client, self.loop)
        return True

    def rest(self) -> None:
        """Read nothing until the pending response is sent: another would be signed next to it."""
        self.flow.pause_reading()

    def _flush_pending(self) -> None:
        if self._pending is not None:
            self.sign_pending()
            self.send_pending()

    def sign_pending(self) -> None:
        if self._pending is not None and not self._is_signed:
            self._pending.sign()
            self._is_signed = True

    def send_pending(self) -> None:
        pending, self._pending = self._pending, None
        if pending is None:
            return  # it was sent before the end of the turn, or the connection is lost
        last = b"connection: close\r\n" if self._is_last else b""
        self.transport.write(pending.response().whole(self.server_state.default_headers, last))
        if self._is_last:
            self.transport.close()
        self.on_response_complete()

    def _refuse(self, refusal: RawError) -> None:
        self._flush_pending()
        self._held = None
        super()._refuse(refusal)
