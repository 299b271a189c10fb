"""A connection whose answers leave in one piece, and that the client can read to its end.

uvicorn writes the head of an answer before it has the body, and each write is a
call of the kernel that wakes the client. The head waits for what comes next, as
ASGI asks of a server ("Response Start": nothing is sent before the first body).

Closing a socket with unread bytes makes the kernel send a reset, and the reset
overtakes the answer: a client that is still sending a body of 9 MiB would see
a broken connection in place of its 413. So the sending side is ended first, and
what comes in is dropped for a moment (RFC 9112, 9.6).

A client that takes nothing of what waits for it is not waited for (`unread_answer.py`).
"""

import asyncio
import contextlib
import fcntl
import socket
import struct
import sys
import termios
from collections.abc import Callable
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


LINGER_S = 2.0
_HEAD_BEGINS = b"HTTP/1.1 "
_INTERIM = b"HTTP/1.1 1"
_HEAD_ENDS = b"\r\n\r\n"
_COPIED = 65536
"""Bytes up to which head and body are joined; a larger body is not worth its copy."""


def _no() -> bool:
    return False


class LingeringTransport(asyncio.Transport):
    """Wraps a transport; differs in `close` while the client is sending, or reads nothing.

    `patience_s` is how long a client may take nothing of what waits for it.
    """

    def __init__(
        self, real: asyncio.Transport, is_client_sending: Callable[[], bool], patience_s: float
    ) -> None:
        super().__init__()
        self._real = real
        self._unread = UnreadAnswer(real, patience_s)
        self._is_client_sending = is_client_sending
        self._lingering: asyncio.TimerHandle | None = None
        self._head = b""

    def close(self) -> None:
        """Close at once, or after the client has read the answer, in 2 s at the latest."""
        if self._lingering is not None or self._real.is_closing():
            return
        self.flush()
        if not (self._is_client_sending() and self._real.can_write_eof()):
            self._end()
            return
        self._real.write_eof()
        self._real.resume_reading()
        self._lingering = asyncio.get_running_loop().call_later(LINGER_S, self._end)

    def _end(self) -> None:
        self._real.close()
        self._unread.watch()  # what waits keeps a closed connection open

    def lost(self) -> None:
        """Note that the connection has ended, and know no more of it: nothing waits for anyone."""
        self._is_client_sending = _no
        self._unread.forget()
        if self._lingering is not None:
            self._lingering.cancel()

    def paused(self) -> None:
        """Note that much waits for the client."""
        self._unread.watch()

    def resumed(self) -> None:
        """Note that the client has taken nearly all that waited."""
        if not self._real.is_closing():
            self._unread.forget()

    def is_closing(self) -> bool:
        """Say whether nothing more can be sent."""
        return self._lingering is not None or self._real.is_closing()

    def write(self, data: bytes | bytearray | memoryview) -> None:
        """Send, unless closing; the head of an answer with what follows it."""
        if self._head:
            head, self._head = self._head, b""
            if len(data) <= _COPIED:
                self._send(head + data)
                return
            self._send(head)
        elif data[:9] == _HEAD_BEGINS and data[-4:] == _HEAD_ENDS and data[:10] != _INTERIM:
            self._head = bytes(data)
            return
        self._send(data)

    def flush(self) -> None:
        """Send a head that nothing follows: the answer is complete."""
        if self._head:
            head, self._head = self._head, b""
            self._send(head)

    def _send(self, data: bytes | bytearray | memoryview) -> None:
        if not self.is_closing():
            self._real.write(data)

    def get_extra_info(self, name: str, default: object = None) -> object:
        """Ask the transport behind."""
        return self._real.get_extra_info(name, default)

    def pause_reading(self) -> None:
        """Ask the transport behind."""
        if not self.is_closing():
            self._real.pause_reading()

    def resume_reading(self) -> None:
        """Ask the transport behind."""
        if not self.is_closing():
            self._real.resume_reading()
