"""A wait that a signal ends, also one that says that a child has ended."""

import contextlib
import os
import select
import signal
from typing import Final

_MOST: Final = 4096


class SignalWait:
    """Between `open` and `close` no signal is missed: one that came before the wait ends it."""

    def __init__(self) -> None:
        self._woken = self._wake = -1

    def open(self) -> None:
        """Note signals from now on, in the main thread."""
        self._woken, self._wake = os.pipe()
        for end in (self._woken, self._wake):
            os.set_blocking(end, False)
        signal.signal(signal.SIGCHLD, lambda *_: None)  # one that is ignored wakes no one
        signal.set_wakeup_fd(self._wake, warn_on_full_buffer=False)

    def close(self) -> None:
        """End it in a child, whose signals are its own."""
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        os.close(self._woken)
        os.close(self._wake)

    def wait(self, seconds: float, *also: int) -> None:
        """Return after a signal, when one of the descriptors can be read, or after `seconds`."""
        select.select([self._woken, *also], [], [], max(0.0, seconds))
        with contextlib.suppress(BlockingIOError):
            while os.read(self._woken, _MOST):
                pass
