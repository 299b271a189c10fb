"""Follows a log file through rotation and restart.

The position is written to the journal together with the events of the lines, so a
crash neither loses nor doubles a line. A file that was rotated away by name is
found again by its inode among its neighbours (`access.log.1`) and read to its
end first; a file that was emptied in place (copytruncate) is read from its start.
"""

import os
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final

from mudra.agent.counting.event import LogPosition

CHUNK: Final = 1 << 20
MAX_LINE: Final = 1 << 20
_HEAD: Final = 256


@dataclass(frozen=True, slots=True)
class Lines:
    """Whole lines that were read, and the position after them."""

    lines: list[bytes]
    position: LogPosition
    at_end: bool
    """Whether there is nothing more to read at the moment."""


class LogFile:
    """One followed file. `read` reads a bounded piece and never waits."""

    def __init__(
        self,
        path: Path,
        position: LogPosition | None,
        warn: Callable[[str], None],
        *,
        from_start: bool,
    ) -> None:
        self.path = path
        self.error = ""
        self._warn = warn
        self._file: BinaryIO | None = None
        self._offset = 0
        self._head: tuple[int, int] = (0, 0)
        self._older: list[Path] = []
        """Rotated files that are still to be read, oldest first."""
        self._skipping = False
        self._wanted = position
        self._from_start = from_start

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def read(self) -> Lines | None:
        """Return the next lines; None when the file cannot be read (`error` says why)."""
        try:
            if self._file is None:
                self._open_first()
            found = self._next_lines()
        except OSError as error:
            reason = f"{self.path} cannot be read: {error.strerror}"
            if self.error != reason:
                self._warn(f"{reason}; the agent tries again")
            self.error = reason
            self.close()
            return None
        self.error = ""
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
        at_end = not cut and not self._next_file(file)
        return Lines(lines, self._position(self._opened()), at_end)

    def _next_file(self, file: BinaryIO) -> bool:
        """At the end of this file: return whether there is a next one, or this one was emptied."""
        mine = os.fstat(file.fileno())
        if mine.st_size < self._offset:
            self._offset = 0
            self._head = (0, 0)
            return mine.st_size > 0
        if self._older:
            self._open(self._older.pop(0), 0)
            return True
        try:
            current = self.path.stat()
        except FileNotFoundError:
            return False  # between two steps of a rotation
        if _same(mine, current):
            return False
        if mine.st_size > self._offset and not self._is_torn(file, mine.st_size):
            return True  # written to between the read and now
        # The file may have been rotated more than once since the last read.
        self._older = _between(self.path, mine)
        self._open(self._older.pop(0) if self._older else self.path, 0)
        return True

    def _is_torn(self, file: BinaryIO, size: int) -> bool:
        """Return whether the file ends in half a line that will never be completed."""
        file.seek(self._offset)
        return b"\n" not in file.read(size - self._offset)

    def _open_first(self) -> None:
        wanted, self._wanted = self._wanted, None
        if wanted is not None:
            for candidate in [self.path, *_neighbours(self.path)]:
                if _is(candidate, wanted):
                    self._open(candidate, wanted.offset)
                    if candidate != self.path:
                        self._older = _between(self.path, candidate.stat())
                    return
            self._warn(
                f"the file that was being read as {self.path} is gone (rotated away or packed); "
                "what was not read of it is lost, reading goes on with the oldest that is there"
            )
            self._older = _neighbours(self.path, newer_than=wanted)
            self._open(self._older.pop(0) if self._older else self.path, 0)
            return
        self._open(self.path, 0)
        if not self._from_start:
            self._offset = os.fstat(self._opened().fileno()).st_size
        self._from_start = True  # whatever comes after is new

    def _open(self, path: Path, offset: int) -> None:
        file = path.open("rb")
        self.close()
        self._file, self._offset, self._head = file, offset, (0, 0)
        self._skipping = False

    def _opened(self) -> BinaryIO:
        if self._file is None:
            raise FileNotFoundError(2, "No such file", str(self.path))
        return self._file

    def _position(self, file: BinaryIO) -> LogPosition:
        status = os.fstat(file.fileno())
        length = min(self._offset, _HEAD)
        if self._head[1] < length:
            self._head = (_checksum(file, length), length)
        checksum, length = self._head
        return LogPosition(status.st_dev, status.st_ino, self._offset, checksum, length)


def _checksum(file: BinaryIO, length: int) -> int:
    file.seek(0)
    return zlib.crc32(file.read(length))


def _is(path: Path, position: LogPosition) -> bool:
    """Return whether this is the file of that position, not another with its inode number."""
    try:
        with path.open("rb") as file:
            status = os.fstat(file.fileno())
            return (
                (status.st_dev, status.st_ino) == (position.device, position.inode)
                and status.st_size >= position.offset
                and _checksum(file, position.head_length) == position.head
            )
    except OSError:
        return False


def _same(one: os.stat_result, other: os.stat_result) -> bool:
    return (one.st_dev, one.st_ino) == (other.st_dev, other.st_ino)


def _neighbours(path: Path, newer_than: LogPosition | None = None) -> list[Path]:
    """Return rotated files next to this one that are plain text, oldest first."""
    found: list[tuple[int, Path]] = []
    for candidate in path.parent.glob(f"{path.name}.*"):
        if candidate.suffix in {".gz", ".zst", ".xz", ".bz2"}:
            continue
        status = candidate.stat()
        if newer_than is None or status.st_ino != newer_than.inode:
            found.append((status.st_mtime_ns, candidate))
    return [candidate for _, candidate in sorted(found)]


def _between(path: Path, previous: os.stat_result) -> list[Path]:
    """Return the files between the one that was read last and the current one, and that one."""
    rotated = [
        candidate
        for candidate in _neighbours(path)
        if candidate.stat().st_mtime_ns > previous.st_mtime_ns
        and not _same(candidate.stat(), previous)
    ]
    return [*rotated, path]
