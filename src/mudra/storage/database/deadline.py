"""Give up on a server that no longer answers, by cutting the connection from our side.

The server's own timeouts do not help when the server hangs, and cancelling a
query asks that same server. A connection whose socket is shut down fails at
once, in the ordinary way.
"""

import asyncio
import contextlib
import os
import socket
from collections.abc import Iterator
from typing import Final

import psycopg

TRANSACTION_S: Final = 3.0
"""How long a transaction may take unless it says otherwise."""


class Deadline:
    """Whether a connection was cut because the time was up: it was reached, and too slow."""

    def __init__(self) -> None:
        self.has_passed = False


@contextlib.contextmanager
def abort_after(
    connection: psycopg.AsyncConnection[tuple[object, ...]], seconds: float
) -> Iterator[Deadline]:
    """Cut `connection` when the block takes longer: what waits on it raises OperationalError."""
    deadline = Deadline()
    timer = asyncio.get_running_loop().call_later(seconds, _cut, connection, deadline)
    try:
        yield deadline
    finally:
        timer.cancel()


def _cut(connection: psycopg.AsyncConnection[tuple[object, ...]], deadline: Deadline) -> None:
    if connection.closed:
        return
    deadline.has_passed = True
    with contextlib.suppress(OSError), socket.socket(fileno=os.dup(connection.fileno())) as copy:
        copy.shutdown(socket.SHUT_RDWR)
