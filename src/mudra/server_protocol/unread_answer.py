"""The end of a connection whose client takes nothing of its answer (decision 0074)."""

import asyncio
import contextlib
import fcntl
import socket
import struct
import sys
import termios
from typing import Final

_NOTHING: Final = struct.pack("i", 0)
_AT_ONCE: Final = struct.pack("ii", 1, 0)
"""SO_LINGER: what the kernel still holds is dropped, and the client gets a reset."""


class UnreadAnswer:
    """Watches what waits for the client of one connection, and aborts it when nothing moves.

    A client that takes some of it within `patience_s` seconds is never cut off, however slow.
    """

    def __init__(self, transport: asyncio.Transport, patience_s: float) -> None:
        self._transport = transport
        self._patience_s = patience_s
        self._waiting = 0
        self._look: asyncio.TimerHandle | None = None

    def watch(self) -> None:
        """Begin, unless it has begun or nothing waits."""
        if self._look is None and self._transport.get_write_buffer_size():
            self._waiting = self._not_taken()
            self._again()

    def forget(self) -> None:
        """End the watch."""
        if self._look is not None:
            self._look.cancel()
            self._look = None

    def _again(self) -> None:
        loop = asyncio.get_running_loop()
        self._look = loop.call_later(self._patience_s, self._on_patience_ended)

    def _on_patience_ended(self) -> None:
        self._look = None
        if not self._transport.get_write_buffer_size():
            return
        before, self._waiting = self._waiting, self._not_taken()
        if self._waiting < before:
            self._again()
            return
        with contextlib.suppress(OSError):
            self._socket().setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _AT_ONCE)
        self._transport.abort()

    def _not_taken(self) -> int:
        """Return the bytes that wait here and in the kernel.

        The kernel asks for more only when a third of its megabytes is taken: of a slow client
        the bytes that wait here stay the same for minutes.
        """
        here = self._transport.get_write_buffer_size()
        try:
            held = fcntl.ioctl(self._socket().fileno(), termios.TIOCOUTQ, _NOTHING)
        except OSError:
            return here
        return here + int.from_bytes(held, sys.byteorder)

    def _socket(self) -> socket.socket:
        found: socket.socket = self._transport.get_extra_info("socket")
        return found
