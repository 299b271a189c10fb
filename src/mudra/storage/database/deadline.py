"""Give up on a server that no longer answers, by cutting the connection from our side.

The server's own timeouts do not help when the server hangs, and cancelling a
query asks that same server. A connection whose socket is shut down fails at
once, in the ordinary way.
"""

import asyncio
import contextlib
import os
import socket
from collections.abc import Callable, Iterator
from functools import partial
from typing import Final

import psycopg
import sqlalchemy as sa
from sqlalchemy.engine import ExceptionContext

TRANSACTION_S: Final = 3.0
"""How long a transaction may take, in seconds, unless a use case asks for more (decision 0010)."""
PAGE_S: Final = 20.0
"""One that reads health or for a page may wait for what is made for another reader (0010)."""
ANSWER_S: Final = 3.0
"""How long one statement may be without an answer in a transaction that may take longer."""
WATCHED_S: Final = 20.0
"""Statements of transactions that may take even longer have limits of their own."""
_SECOND_LOOK_S: Final = 0.05
"""A process that gets little processor time finds an answer late that was there in time."""


WATCH: Final = "mudra.answers"
"""Of a connection: what watches its statements, if anything does."""
DEADLINE: Final = "mudra.deadline"
"""Of a connection: the deadline of its transaction."""


class TimeIsOver(psycopg.OperationalError):
    """The time of one transaction was over; nothing is known of the server."""


class Deadline:
    """The end of a connection whose time was up: it was reached, and too slow."""

    def __init__(self) -> None:
        self.has_passed = False
        self.of_transaction = False
        """That of the whole transaction, not that of one answer."""
        self._timer: asyncio.TimerHandle | None = None
        self._end: Callable[[], None] = _nothing

    def start(self, seconds: float, end: Callable[[], None]) -> None:
        """Have `end` called after so many seconds."""
        self._end = end
        self._timer = asyncio.get_running_loop().call_later(seconds, end)

    @contextlib.contextmanager
    def paused(self) -> Iterator[None]:
        """Count none of the time of the block: it is spent on something else than the database."""
        if self._timer is None or self.has_passed:
            yield
            return
        left = self._timer.when() - asyncio.get_running_loop().time()
        self.stop()
        try:
            yield
        finally:
            self.start(left, self._end)

    def stop(self) -> None:
        """Have nothing called any more."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


def _nothing() -> None: ...


@contextlib.contextmanager
def abort_after(
    connection: psycopg.AsyncConnection[tuple[object, ...]], seconds: float
) -> Iterator[Deadline]:
    """Cut `connection` when the block takes longer: what waits on it raises OperationalError."""
    deadline = Deadline()
    deadline.start(seconds, partial(_end, connection, deadline))
    try:
        yield deadline
    finally:
        deadline.stop()


class AnswerWatch:
    """Cuts a connection when a statement has no answer in time: its server hangs (decision 0010).

    What a transaction does in between, adding up or waiting for another reader, does not count.
    """

    def __init__(
        self, connection: psycopg.AsyncConnection[tuple[object, ...]], deadline: Deadline
    ) -> None:
        self._connection = connection
        self._deadline = deadline
        self._timer: asyncio.TimerHandle | None = None
        self._ended = False

    def asked(self) -> None:
        """Note that a statement was sent."""
        if not self._ended:
            self._timer = asyncio.get_running_loop().call_later(ANSWER_S, self._look_again)

    def answered(self) -> None:
        """Note its answer."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def end(self) -> None:
        """Watch no further: statements may take their time from here on."""
        self._ended = True
        self.answered()

    def _look_again(self) -> None:
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(_SECOND_LOOK_S, cut, self._connection, self._deadline)


def watch_answers(engine: sa.Engine) -> None:
    """Have the watch of a connection, where it has one, know of its statements.

    A statement that fails because the time of its transaction is over fails with `TimeIsOver`.
    """

    def asked(connection: sa.Connection, *_: object) -> None:
        _watch_of(connection, AnswerWatch.asked)

    def answered(connection: sa.Connection, *_: object) -> None:
        _watch_of(connection, AnswerWatch.answered)

    def failed(context: ExceptionContext) -> Exception | None:
        if context.connection is None:
            return None
        _watch_of(context.connection, AnswerWatch.answered)
        deadline, error = context.connection.info.get(DEADLINE), context.original_exception
        is_lost = isinstance(error, psycopg.OperationalError) and error.sqlstate is None
        if is_lost and deadline is not None and deadline.of_transaction:
            return TimeIsOver(str(error))
        return None

    sa.event.listen(engine, "before_cursor_execute", asked)
    sa.event.listen(engine, "after_cursor_execute", answered)
    sa.event.listen(engine, "handle_error", failed, retval=True)


def _watch_of(connection: sa.Connection, note: Callable[[AnswerWatch], None]) -> None:
    watch = connection.info.get(WATCH)
    if watch is not None:
        note(watch)


def _end(connection: psycopg.AsyncConnection[tuple[object, ...]], deadline: Deadline) -> None:
    deadline.of_transaction = not deadline.has_passed
    cut(connection, deadline)


def cut(connection: psycopg.AsyncConnection[tuple[object, ...]], deadline: Deadline) -> None:
    """Shut the socket of a connection down: what waits on it fails."""
    if connection.closed:
        return
    deadline.has_passed = True
    with contextlib.suppress(OSError), socket.socket(fileno=os.dup(connection.fileno())) as copy:
        copy.shutdown(socket.SHUT_RDWR)
