"""Closing a connection so that the client still reads the answer.

Closing a socket with unread bytes makes the kernel send a reset, and the reset
overtakes the answer: a client that is still sending a body of 9 MiB would see
a broken connection in place of its 413. So the sending side is ended first, and
what comes in is dropped for a moment (RFC 9112, 9.6).
"""

import asyncio
from collections.abc import Callable

LINGER_S = 2.0


class LingeringTransport(asyncio.Transport):
    """Stands before a transport; differs in `close` while the client is sending."""

    def __init__(self, real: asyncio.Transport, is_client_sending: Callable[[], bool]) -> None:
        super().__init__()
        self._real = real
        self._is_client_sending = is_client_sending
        self._lingering: asyncio.TimerHandle | None = None

    def close(self) -> None:
        """Close at once, or after the client has read the answer, in 2 s at the latest."""
        if self._lingering is not None or self._real.is_closing():
            return
        if not (self._is_client_sending() and self._real.can_write_eof()):
            self._real.close()
            return
        self._real.write_eof()
        self._real.resume_reading()
        self._lingering = asyncio.get_running_loop().call_later(LINGER_S, self._real.close)

    def lost(self) -> None:
        """Note that the connection has ended."""
        if self._lingering is not None:
            self._lingering.cancel()

    def is_closing(self) -> bool:
        """Say whether nothing more can be sent."""
        return self._lingering is not None or self._real.is_closing()

    def write(self, data: bytes | bytearray | memoryview) -> None:
        """Send, unless closing."""
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
