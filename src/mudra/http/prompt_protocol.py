"""Requests that memory alone can answer are answered in the turn of the loop that read them.

The hot path needs nothing to be waited for, most of the time. An ASGI cycle with its
task, events and messages costs there as much as reading the form, judging the secret
and noting it for the audit. So a connection asks first (`Prompt`), and only what cannot be
answered at once goes through uvicorn, from its first byte, as every other request does.
"""

from collections.abc import Callable
from typing import ClassVar, TypeAlias

from msgspec import Struct
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from mudra.http.answer import Answer
from mudra.http.connection_limits import ConnectionLimits, OpenConnections
from mudra.http.intake import FORM_LIMITS, Headers
from mudra.http.limited_protocol import LimitedProtocol, Shared
from mudra.http.raw_answer import RawRefusal
from mudra.runtime.clock import Clock

_METHOD = b"POST"


AnswerAtOnce: TypeAlias = Callable[[Headers, bytes, str], Answer | None]
"""Takes headers, body and peer; None, and nothing done, where something must be waited for."""


class Prompt(Struct, frozen=True):
    """What can be answered at once: POST to one address."""

    address: str
    answer: AnswerAtOnce


def prompt_protocol(
    limits: ConnectionLimits, clock: Clock, prompt: Prompt
) -> type[HttpToolsProtocol]:
    """Give the class for `uvicorn.Config(http=...)`; all its connections are counted together."""

    class Connection(_PromptProtocol):
        pass

    Connection.shared = Shared(limits, clock, OpenConnections(limits))
    Connection.prompt = prompt
    Connection.address = prompt.address.encode()
    return Connection


class _PromptProtocol(LimitedProtocol):
    prompt: ClassVar[Prompt]
    address: ClassVar[bytes]

    _held: bytes | None = None
    """The body so far of a request that may be answered at once, before uvicorn knows of it."""

    def data_received(self, data: bytes) -> None:
        # One at most in a turn: a row of requests sent together must not keep others waiting.
        self._answered_now = False
        super().data_received(data)

    def _all_is_read(self) -> None:
        if self._held is not None:
            self._take_the_long_way()

    def _begin_answer(self) -> None:
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
            if self._answer_at_once(self._held):
                return
            self._take_the_long_way()
        super().on_message_complete()

    def _take_the_long_way(self) -> None:
        body, self._held = self._held, None
        super()._begin_answer()
        if body:
            super().on_body(body)

    def _answer_at_once(self, body: bytes) -> bool:
        answer = self.prompt.answer(self.headers, body, self._peer())
        if answer is None:
            return False
        self._held = None
        self._answered_now = True
        self._in_message = False
        keep_alive = self.parser.should_keep_alive()
        last = b"" if keep_alive else b"connection: close\r\n"
        self.transport.write(answer.whole(self.server_state.default_headers, last))
        if not keep_alive:
            self.transport.close()
        self.on_response_complete()
        return True

    def _refuse(self, refusal: RawRefusal) -> None:
        self._held = None
        super()._refuse(refusal)
