"""Requests that memory alone can answer are answered in the turn of the loop that read them.

The hot path needs nothing to be waited for, most of the time. An ASGI cycle with its
task, events and messages costs there as much as reading the form, judging the secret
and noting it for the audit. So a connection asks first (`Prompt`), and only what cannot be
answered at once goes through uvicorn, from its first byte, as every other request does.

What the connections of one turn are promised is signed together, then sent together: an RSA
signature leaves little of the rest in a processor's caches.
"""

from asyncio import AbstractEventLoop
from collections.abc import Callable
from typing import ClassVar, Protocol, TypeAlias

from msgspec import Struct
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from mudra.http.request.request_body import FORM_LIMITS, Headers
from mudra.http.response.json_response import JsonResponse
from mudra.http.server.connection_limits import ConnectionLimits, OpenConnections
from mudra.http.server.limited_protocol import LimitedProtocol, ProtocolContext
from mudra.http.server.raw_response import RawError
from mudra.shared.clock import Clock

_METHOD = b"POST"
_TOGETHER = 16
"""Signed before the first of them is sent: 16 ms or so of waiting, as the last had anyway."""


class PendingResponse(Protocol):
    """An answer that needs nothing more but the processor."""

    def sign(self) -> None:
        """Do what is costly; called once, before `answer`."""

    def answer(self) -> JsonResponse:
        """Give what is to be sent."""


class ReadyResponse(Struct, frozen=True):
    """An answer that is there already."""

    told: JsonResponse

    def sign(self) -> None:
        """Nothing: it is a refusal."""

    def answer(self) -> JsonResponse:
        """Give it."""
        return self.told


TryFastPath: TypeAlias = Callable[[Headers, bytes, str], PendingResponse | None]
"""Takes headers, body and peer; None, and nothing done, where something must be waited for."""


class FastPath(Struct, frozen=True):
    """What can be answered at once: POST to one address."""

    address: str
    promise: TryFastPath


def fast_path_protocol(
    limits: ConnectionLimits, clock: Clock, prompt: FastPath
) -> type[HttpToolsProtocol]:
    """Give the class for `uvicorn.Config(http=...)`; all its connections are counted together."""

    class Connection(_FastPathProtocol):
        pass

    Connection.shared = ProtocolContext(limits, clock, OpenConnections(limits))
    Connection.prompt = prompt
    Connection.turn = SigningBatch()
    Connection.address = prompt.address.encode()
    return Connection


class SigningBatch:
    """The connections whose answers are promised, until the loop has read from all that spoke."""

    def __init__(self) -> None:
        self._promised: list[_FastPathProtocol] = []

    def join(self, connection: "_FastPathProtocol", loop: AbstractEventLoop) -> None:
        """Add a connection; the batch ends with this turn of the loop."""
        if not self._promised:
            loop.call_soon(self._end)
        self._promised.append(connection)

    def _end(self) -> None:
        promised, self._promised = self._promised, []
        for first in range(0, len(promised), _TOGETHER):
            together = promised[first : first + _TOGETHER]
            for connection in together:
                connection.sign_promised()
            for connection in together:
                connection.send_promised()


class _FastPathProtocol(LimitedProtocol):
    prompt: ClassVar[FastPath]
    address: ClassVar[bytes]
    turn: ClassVar[SigningBatch]

    _held: bytes | None = None
    """The body so far of a request that may be answered at once, before uvicorn knows of it."""
    _promise: PendingResponse | None = None
    _is_signed = False
    _is_last = False
    """The connection ends with the promised answer."""

    def data_received(self, data: bytes) -> None:
        # One at most in a turn: a row of requests sent together must not keep others waiting.
        self._answered_now = False
        super().data_received(data)

    def eof_received(self) -> None:
        # The transport closes itself after this.
        self._keep_promise()
        super().eof_received()

    def connection_lost(self, exc: Exception | None) -> None:
        self._promise = None
        super().connection_lost(exc)

    def shutdown(self) -> None:
        self._keep_promise()
        super().shutdown()

    def _all_is_read(self) -> None:
        if self._held is not None:
            self._take_the_long_way()

    def _begin_answer(self) -> None:
        self._keep_promise()  # to the request before this one, whose answer comes first
        if (
            self.url == self.address
            and self.parser.get_method() == _METHOD
            and self.parser.get_http_version() == "1.1"
            and not self.expect_100_continue
            and not self._answered_now
            and not self._is_unanswered()
            and not self.flow.write_paused
        ):
            self._held = b""
        else:
            super()._begin_answer()

    def on_body(self, body: bytes) -> None:
        if self._held is None:
            super().on_body(body)
            return
        self._held += body
        if len(self._held) > FORM_LIMITS.max_bytes:
            self._take_the_long_way()

    def on_message_complete(self) -> None:
        if self._held is not None:
            if self._promise_answer(self._held):
                return
            self._take_the_long_way()
        super().on_message_complete()

    def _take_the_long_way(self) -> None:
        body, self._held = self._held, None
        super()._begin_answer()
        if body:
            super().on_body(body)

    def _promise_answer(self, body: bytes) -> bool:
        self._promise = self.prompt.promise(self.headers, body, self._peer())
        if self._promise is None:
            return False
        self._held = None
        self._answered_now = True
        self._in_message = False
        self._is_signed = False
        self._is_last = not self.parser.should_keep_alive()
        self.turn.join(self, self.loop)
        return True

    def _keep_promise(self) -> None:
        if self._promise is not None:
            self.sign_promised()
            self.send_promised()

    def sign_promised(self) -> None:
        if self._promise is not None and not self._is_signed:
            self._promise.sign()
            self._is_signed = True

    def send_promised(self) -> None:
        promise, self._promise = self._promise, None
        if promise is None:
            return  # it was sent before the end of the turn, or the connection is lost
        last = b"connection: close\r\n" if self._is_last else b""
        self.transport.write(promise.answer().whole(self.server_state.default_headers, last))
        if self._is_last:
            self.transport.close()
        self.on_response_complete()

    def _refuse(self, refusal: RawError) -> None:
        self._keep_promise()
        self._held = None
        super()._refuse(refusal)
