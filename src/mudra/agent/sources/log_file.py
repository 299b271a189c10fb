"""Follows a log file through rotation and restart.

The position is written to the journal together with the events of the lines, so a
crash neither loses nor doubles a line. A file that was rotated away is found again
(`rotated_files.py`) and read to its end first, also after an error: nothing is read
twice. Programs write to the rotated file until they have opened the new one, so it
is left only when nothing has come for some seconds.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final

from mudra.agent.clock import SECOND
from mudra.agent.counting.event import LogPosition
from mudra.agent.sources.rotated_files import checksum, find, find_copy, next_after, same_file

CHUNK: Final = 1 << 20
MAX_LINE: Final = 1 << 20
QUIET: Final = 10 * SECOND
"""A rotated file to which nothing was written for so long is complete."""
MAX_WAIT: Final = 60 * SECOND
"""It is left after so long in any case: a program that never opens the new file keeps no
one from reading that."""
_HEAD: Final = 256


@dataclass(frozen=True, slots=True)
class Lines:
    """Whole lines that were read, and the position after them."""

    lines: list[bytes]
    position: LogPosition
    at_end: bool
    """Whether there is nothing more to read, now or in the next seconds."""


@dataclass(slots=True)
class _Leaving:
    """The end of a rotated file was reached."""

    since: int
    size: int
    quiet_since: int


class LogFile:
    """One followed file. `read` reads a bounded piece and never waits."""

    def __init__(
        self,
        path: Path,
        position: LogPosition | None,
        warn: Callable[[str], None],
        monotonic: Callable[[], int],
        *,
        from_start: bool,
    ) -> None:
        self.path = path
        self.error = ""
        self._warn = warn
        self._monotonic = monotonic
        self._file: BinaryIO | None = None
        self._offset = 0
        self._head: tuple[int, int] = (0, 0)
        self._skipping = False
        self._leaving: _Leaving | None = None
        self._position = position
        """After the lines that were returned last."""
        self._from_start = from_start

    @property
    def is_leaving(self) -> bool:
        """Return whether it waits at the end of a rotated file, with the next one still unread."""
        return self._leaving is not None

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def read(self) -> Lines | None:
        """Return the next lines; None when the file cannot be read (`error` says why)."""
        try:
            if self._file is None:
                self._reopen()
            found = self._next_lines()
        except OSError as error:
            reason = f"{self.path} cannot be read: {error.strerror}"
            if self.error != reason:
                self._warn(f"{reason}; the agent tries again")
            self.error = reason
            self.close()
            return None
        self.error = ""
        self._position = found.position
        return found

    def _next_lines(self) -> Lines:
        file = self._opened()
        file.seek(self._offset)
        chunk = file.read(CHUNK)
        cut = chunk.rfind(b"\n") + 1
        lines: list[bytes] = []
        if cut:
            lines = chunk[:cut].split(b"\n")[:-1]
            if self._skipping:
                lines, self._skipping = lines[1:], False
        elif len(chunk) >= MAX_LINE:
            cut, self._skipping = len(chunk), True  # no log line is a megabyte long
        self._offset += cut
        goes_on = len(chunk) == CHUNK or self._goes_on(file)
        at_end = not cut and not goes_on
        return Lines(lines, self._position_in(self._opened()), at_end)

    def _goes_on(self, file: BinaryIO) -> bool:
        """At the end of this file: return whether more is to be read, in it or in the next one."""
        mine = os.fstat(file.fileno())
        if mine.st_size < self._offset:
            return self._was_emptied(mine)
        try:
            current = self.path.stat()
        except FileNotFoundError:
            return False  # between two steps of a rotation
        if same_file(mine, current):
            return False
        is_read = mine.st_size == self._offset or self._is_torn(file, mine.st_size)
        if self._is_complete(mine.st_size) and is_read:
            # The log may have been rotated more than once since the last read.
            self._open(next_after(self.path, self._position_in(file)), 0)
        return True

    def _was_emptied(self, mine: os.stat_result) -> bool:
        """Go on in the copy of a file that was emptied in place, if there is one, else here."""
        copy = None if self._position is None else find_copy(self.path, self._position)
        if copy is not None:
            self._open(copy, self._offset)
            return True
        self._offset, self._head = 0, (0, 0)
        return mine.st_size > 0

    def _is_complete(self, size: int) -> bool:
        """Return whether nothing has been written to this rotated file for long enough."""
        now = self._monotonic()
        if self._leaving is None:
            self._leaving = _Leaving(now, size, now)
        elif self._leaving.size != size:
            self._leaving.size, self._leaving.quiet_since = size, now
        leaving = self._leaving
        return now - leaving.quiet_since >= QUIET or now - leaving.since >= MAX_WAIT

    def _is_torn(self, file: BinaryIO, size: int) -> bool:
        """Return whether the file ends in half a line, which may never be completed."""
        file.seek(self._offset)
        return b"\n" not in file.read(size - self._offset)

    def _reopen(self) -> None:
        """Open the file where the last lines ended, in this run or the one before."""
        position = self._position
        if position is None:
            self._open(self.path, 0)
            if not self._from_start:
                self._offset = os.fstat(self._opened().fileno()).st_size
            return
        found = find(self.path, position)
        if found is not None:
            self._open(found, position.offset)
            return
        # A position without a time is of an older agent: then no rotated file is known to be newer.
        self._open(next_after(self.path, position) if position.modified else self.path, 0)
        self._warn(
            f"the file that was being read as {self.path} is gone (rotated away or packed); "
            "what was not read of it is lost, reading goes on with the next one that is there"
        )

    def _open(self, path: Path, offset: int) -> None:
        file = path.open("rb")
        self.close()
        self._file, self._offset, self._head = file, offset, (0, 0)
        self._skipping, self._leaving = False, None

    def _opened(self) -> BinaryIO:
        if self._file is None:
            raise FileNotFoundError(2, "No such file", str(self.path))
        return self._file

    def _position_in(self, file: BinaryIO) -> LogPosition:
        status = os.fstat(file.fileno())
        length = min(self._offset, _HEAD)
        if self._head[1] < length:
            self._head = (checksum(file, length), length)
        head, length = self._head
        return LogPosition(
            status.st_dev, status.st_ino, self._offset, head, length, status.st_mtime_ns
        )
