"""HTTP connections with an end, of service and agent: what uvicorn leaves open.

A subclass of uvicorn's own protocol, so that requests take the same road. It
adds deadlines for the header, for idle connections and for clients that read nothing, limits
for header and address, and the error body of spec part 7 where uvicorn writes plain text.
Slow bodies are the matter of `body_reader.py`. A request that offers another protocol
is read like any other (RFC 9110 7.8): uvicorn loses its body.
"""

import asyncio
from collections.abc import Callable
from functools import partial
from typing import ClassVar, cast

from httptools import HttpParserError, HttpParserUpgrade, HttpRequestParser
from msgspec import Struct
from uvicorn._types import ASGI3Application, ASGIReceiveCallable, ASGISendCallable, HTTPScope
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from mudra.server_protocol.client_turns import ClientTurns, note_arrival
from mudra.server_protocol.connection_limits import (
    NOT_HTTP,
    TOO_MANY_CONNECTIONS,
    ConnectionLimits,
    OpenConnections,
    framing_refused,
    header_too_large,
    header_too_slow,
)
from mudra.server_protocol.lingering_transport import LingeringTransport
from mudra.server_protocol.raw_response import BodyOf, RawError, error_body, raw_response
from mudra.shared.clock import Clock
from mudra.shared.waiting.fair_queue import CLIENT

_LINE_OVERHEAD = 4  # ": " and the line's end
_REQUEST_LINE_OVERHEAD = 12  # two spaces, HTTP/1.1, the line's end


class ProtocolContext(Struct, frozen=True):
    """The state that all connections of a process have in common."""

    limits: ConnectionLimits
    clock: Clock
    open_connections: OpenConnections
    turns: ClientTurns
    stopping: Callable[[], bool]
    """True from when each answer is to be its connection's last."""
    arrived: Callable[[], None] = lambda: None
    """Called whenever something arrived, before it is looked at."""
    body_of: BodyOf = error_body


class _RefusedInHeader(Exception):
    pass


class LimitedProtocol(HttpToolsProtocol):
    """One connection; `fast_path_protocol.py` makes the class that a server is given."""

    shared: ClassVar[ProtocolContext]

    _deadline: asyncio.TimerHandle | None = None
    _refusal: RawError | None = None
    _discarding_input = False
    """What else comes in is dropped: the connection ends after the pending answer."""
    _plain = b""
    """The head of a request that offers another protocol, without the offer."""
    _answered_one = False
    _in_header = False
    _in_message = False
    _headers_begun = 0
    _header_bytes = 0
    """Of the header being read, as far as the parser has reported its lines."""
    _bytes_in_header = 0
    """Received since it began, in reads after the one in which it began."""
    _has_reported = False
    """The parser has reported a line or a piece of a body in this read."""
    _unreported_bytes = 0
    """Of a chunk's extension, or of a trailer, that has no end yet."""
    _waits_for_turn: "asyncio.Task[None] | None" = None
    """Of a request that has not begun."""
    _answered_now = False
    """The last read brought a request that was answered at once (`fast_path_protocol.py`)."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # asyncio's takes any transport
        """Begin, if the peer may have one more connection."""
        self._lingering = LingeringTransport(
            transport, lambda: self._in_message, self.shared.limits.idle_s
        )
        super().connection_made(self._lingering)
        self.timeout_keep_alive = self.shared.limits.idle_s  # type: ignore[assignment]  # call_later's
        if not self.shared.open_connections.enter(self._peer()):
            self._answer_and_close(TOO_MANY_CONNECTIONS)
            return
        self._expect_end_within(self.shared.limits.header_s)

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget what waits for this connection."""
        self._forget_deadline()
        self._unset_keepalive_if_required()
        self.shared.open_connections.leave(self._peer())
        self._lingering.lost()
        super().connection_lost(exc)
        if self._waits_for_turn is not None:
            self._waits_for_turn.cancel()

    def pause_writing(self) -> None:
        """Note that the client is slower than its answer."""
        super().pause_writing()
        self._lingering.paused()

    def resume_writing(self) -> None:
        """Go on: the client has taken nearly all."""
        super().resume_writing()
        self._lingering.resumed()

    def data_received(self, data: bytes) -> None:
        """Parse what came, and see that what is begun has an end."""
        if self._discarding_input or self.transport.is_closing():
            return
        self.shared.arrived()
        begun_before = self._headers_begun
        self._has_reported = False
        self._parse(data)
        if self.transport.is_closing():
            return
        self._all_is_read()
        if self._in_header:
            # One field without an end is reported to no one while the parser gathers it.
            if self._headers_begun != begun_before:
                self._bytes_in_header = 0
                if begun_before:
                    self._forget_deadline()
            else:
                self._bytes_in_header += len(data)
            if self._bytes_in_header > self.shared.limits.header_bytes:
                self._refuse(header_too_large(self.shared.limits))
                return
            self._expect_end_within(self.shared.limits.header_s)
        elif self._in_message and self._is_without_end(data):
            self._refuse(header_too_large(self.shared.limits))
        elif self._is_unanswered() or self._answered_now:
            self._forget_deadline()
        else:
            # Empty lines between requests, or the rest of a body that no one reads any more.
            self._expect_end_within(self.shared.limits.header_s)

    def _is_without_end(self, data: bytes) -> bool:
        """Count what the parser gathers behind a header without reporting it to anyone."""
        self._unreported_bytes = 0 if self._has_reported else self._unreported_bytes + len(data)
        return self._unreported_bytes > self.shared.limits.header_bytes

    def eof_received(self) -> bool:  # type: ignore[override]  # asyncio's may keep it open
        """Keep the connection of a client that only ended its side until it has its answer.

        An answer that has begun may be a stream without an end, whose client has gone.
        """
        if not self._is_unanswered() or self._in_message or self.cycle.response_started:
            return False
        last = self.pipeline[0][0] if self.pipeline else self.cycle
        last.keep_alive = False
        return True

    def _parse(self, data: bytes) -> None:
        """Feed the parser, as uvicorn does; a request with an offer is fed again without it."""
        self._unset_keepalive_if_required()
        while data:
            try:
                self.parser.feed_data(data)
            except HttpParserError:
                self.send_400_response("")
            except HttpParserUpgrade as offered:
                if self._plain:
                    data, self._plain = self._plain + data[offered.args[0] :], b""
                    # A fresh one: behind a last request the other would drop all it is fed.
                    self.parser = HttpRequestParser(self)
                    self.parser.set_dangerous_leniencies(lenient_data_after_close=True)
                    continue
                self.cycle.keep_alive = False  # CONNECT: what follows is for no one here
            return

    def _should_upgrade_to_ws(self) -> bool:
        return False

    # Callbacks of the parser

    def on_message_begin(self) -> None:
        """Begin a request, unless too many of this connection wait already.

        The connection ends after their answers then, and the client sends the others again
        (RFC 9112 9.3.2).
        """
        if len(self.pipeline) >= self.shared.limits.pipelined:
            self._stop_parser(NOT_HTTP)
        super().on_message_begin()
        self._in_header = self._in_message = True
        self._headers_begun += 1
        self._header_bytes = _REQUEST_LINE_OVERHEAD

    def on_url(self, url: bytes) -> None:
        """Take a piece of the address."""
        super().on_url(url)
        self._header_bytes += len(url)
        if self._header_bytes > self.shared.limits.header_bytes:
            self._stop_parser(header_too_large(self.shared.limits))

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a line of the header; a trailer is counted with it, and read by no one.

        Its fields are none of the header (RFC 9110 6.5.1): a proxy that sets or removes
        X-Forwarded-For lets those of the client through.
        """
        self._has_reported = True
        if self._in_header:
            super().on_header(name, value)
        self._header_bytes += len(name) + len(value) + _LINE_OVERHEAD
        limits = self.shared.limits
        if self._header_bytes > limits.header_bytes or len(self.headers) > limits.header_fields:
            self._stop_parser(header_too_large(limits))

    def on_headers_complete(self) -> None:
        """Refuse what two readers could see differently; hand the rest over."""
        refusal = framing_refused(self.headers, self.parser.get_http_version())
        if refusal:
            self._stop_parser(refusal)
        self._in_header = False
        if self.parser.should_upgrade() and self.parser.get_method() != b"CONNECT":
            # Java's client offers h2c with its first request. The parser would take the
            # body for the other protocol's.
            self._plain = self._head_without_offer()
        else:
            self._begin_answer()

    def _head_without_offer(self) -> bytes:
        version = self.parser.get_http_version().encode()
        lines = [b"%s %s HTTP/%s\r\n" % (self.parser.get_method(), self.url, version)]
        lines += [b"%s: %s\r\n" % line for line in self.headers if line[0] != b"upgrade"]
        return b"".join((*lines, b"\r\n"))

    def _begin_answer(self) -> None:
        """Hand the request over; its header is whole and may be believed."""
        super().on_headers_complete()
        if self.shared.stopping():
            self.cycle.keep_alive = False

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: ASGI3Application) -> None:
        """Answer a request once its client has a turn."""
        note_arrival(cycle.scope["state"])
        super()._start_asgi_task(cycle, partial(self._answer_in_turn, cycle, app))

    async def _answer_in_turn(
        self,
        cycle: RequestResponseCycle,
        app: ASGI3Application,
        scope: HTTPScope,
        receive: ASGIReceiveCallable,
        send: ASGISendCallable,
    ) -> None:
        if self.transport.is_closing():
            cycle.disconnected = True  # uvicorn notes it of the last request alone
            return
        turns = self.shared.turns.of(self._peer(), cycle.scope["headers"])
        CLIENT.set(turns.client)
        self._waits_for_turn = asyncio.current_task()
        try:
            await turns.begin()
        except asyncio.CancelledError:
            if not self.transport.is_closing():
                raise
            cycle.disconnected = True
            return
        finally:
            self._waits_for_turn = None
        await turns.answer(app, scope, receive, send)

    def _all_is_read(self) -> None:
        """Do what remains when the parser has seen all that came in this turn."""

    def on_body(self, body: bytes) -> None:
        """Take a piece of the body."""
        self._has_reported = True
        super().on_body(body)

    def on_message_complete(self) -> None:
        """Note that nothing more of this request comes."""
        if not self._plain:
            self._in_message = False
            super().on_message_complete()

    def on_response_complete(self) -> None:
        """Send what is left of the answer."""
        self._answered_one = True
        self._lingering.flush()
        super().on_response_complete()

    def _stop_parser(self, refusal: RawError) -> None:
        self._refusal = refusal
        raise _RefusedInHeader

    def is_new(self) -> bool:
        """Return whether no request of this connection has been answered yet."""
        return not self._answered_one

    def answer_last(self) -> None:
        """Let the answer under way, if there is one, be the last of this connection."""
        if self._is_unanswered():
            self.cycle.keep_alive = False

    # Refusals

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002 — uvicorn's words are not ours
        """Answer what the parser did not take; uvicorn calls this for every parser error."""
        self._refuse(self._refusal or NOT_HTTP)

    def _refuse(self, refusal: RawError) -> None:
        """Answer and close, unless an earlier request on this connection is still unanswered.

        Its answer must come first, or the client would take the refusal for it;
        then the connection is closed after that answer, without one for this.
        """
        cycle = self.cycle
        self._forget_deadline()
        self._discarding_input = True
        if not self._is_unanswered():
            self._answer_and_close(refusal)
        elif cycle.more_body and not cycle.response_started and not self.pipeline:
            # The fault is in the body of the very request that waits for its answer.
            self._answer_and_close(refusal)
            cycle.disconnected = True
            cycle.message_event.set()
        elif cycle.more_body:
            self.transport.close()
        else:
            cycle.keep_alive = False

    def _is_unanswered(self) -> bool:
        # uvicorn has no cycle before the first request, whatever its types say.
        cycle = cast("RequestResponseCycle | None", self.cycle)
        return cycle is not None and not cycle.response_complete

    def _answer_and_close(self, refusal: RawError) -> None:
        self._in_message = True  # the client may be sending
        self.transport.write(
            raw_response(
                refusal, self.shared.clock(), self.server_state.default_headers, self.shared.body_of
            )
        )
        self.transport.close()

    # Deadlines

    def _expect_end_within(self, seconds: float) -> None:
        if self._deadline is None:
            self._deadline = self.loop.call_later(seconds, self._on_deadline)

    def _forget_deadline(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _on_deadline(self) -> None:
        self._deadline = None
        if self.transport.is_closing():
            return
        if self._in_header:
            self._refuse(header_too_slow(self.shared.limits))
        else:
            self.transport.close()

    def _peer(self) -> str:
        return self.client[0] if self.client else ""
