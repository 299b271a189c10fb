"""The watch for hung processes of a node.

A child writes the time into shared memory once a second or more often; nothing is sent.
One that the kernel has stopped is hung after three seconds. One that is only late may be busy, or
the machine is: it gets half a minute. Time in which the supervisor itself did not run, since the
machine was asleep or starved, counts for no one.
"""

import mmap
import os
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

STOPPED_FOR: Final = 3
SILENT_FOR: Final = 30
"""Checks, of a second each, before a process counts as hung."""
EVERY_S: Final = 1.0
MAX_CHILDREN: Final = 128
STOPPED: Final = "T"


class Report:
    """A child's message to its supervisor: called once when ready, `beat` as long as it lives."""

    def __init__(self, ready_pipe: int, beats: "Heartbeats", place: int) -> None:
        self._ready_pipe = ready_pipe
        self._beats = beats
        self._place = place

    def __call__(self) -> None:
        """Report that this process is ready."""
        os.write(self._ready_pipe, b"r")

    def beat(self) -> None:
        """Report that this process is alive; from the first time on it is expected to go on."""
        self._beats.times[self._place] = time.monotonic()


class Heartbeats:
    """The shared memory, and how often in a row each child was found without life."""

    def __init__(self, state_of: Callable[[int], str] | None = None) -> None:
        self.times: Final = memoryview(mmap.mmap(-1, 8 * MAX_CHILDREN)).cast("d")
        self._state_of = state_of or state_of_process
        self._stopped = [0] * MAX_CHILDREN
        self._silent = [0] * MAX_CHILDREN
        self._seen = [0.0] * MAX_CHILDREN

    def begin(self, place: int) -> None:
        """Forget what the previous process at this place did."""
        self.times[place] = self._seen[place] = 0.0
        self._stopped[place] = self._silent[place] = 0

    def is_hung(self, place: int, pid: int) -> bool:
        """Check one child; to be called every `EVERY_S`."""
        stopped = self._state_of(pid) == STOPPED
        self._stopped[place] = self._stopped[place] + 1 if stopped else 0
        silent = self.times[place] == self._seen[place] != 0.0
        self._silent[place] = self._silent[place] + 1 if silent else 0
        self._seen[place] = self.times[place]
        return self._stopped[place] >= STOPPED_FOR or self._silent[place] >= SILENT_FOR

    def is_alive(self, place: int) -> bool:
        """Return whether a child has said since its start, and lately, that it lives."""
        last = self.times[place]
        return last != 0.0 and time.monotonic() - last < SILENT_FOR * EVERY_S


def state_of_process(pid: int) -> str:
    """Return the state of a process in one character, empty where /proc does not say."""
    with suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    return ""
