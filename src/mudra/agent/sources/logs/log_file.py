"""Follows a log file through rotation and restart.

The position is written to the journal together with the events of the lines, so a
crash neither loses nor doubles a line. Before each read the file is compared with what
was read of it: it may have been renamed, or copied and emptied, also within one write.
The file that it was is found again (`rotated_files.py`) and read to its end first. Programs
write to a renamed file until they have opened the new one, so it is left only when the new one
has content and nothing has come for some seconds. What cannot be found is counted as a gap, and
said.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from mudra.agent.clock import SECOND
from mudra.agent.counting.event import LogPosition
from mudra.agent.sources.logs.log_source import DamagedLog, LogSource, open_source
from mudra.agent.sources.logs.rotated_files import (
    find,
    find_copy,
    goes_on,
    is_read,
    next_after,
    older_unread,
    position_in,
    same_file,
)

CHUNK: Final = 1 << 20
MAX_LINE: Final = 1 << 20
QUIET: Final = 10 * SECOND
"""A rotated file to which nothing was written for so long is complete."""
MAX_WAIT: Final = 60 * SECOND
"""It is left after so long in any case: a program that never opens the new file keeps no
one from reading that."""


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
        self.gaps = 0
        """Places where lines may be missing, and no one can know: each is said once."""
        self.too_long = 0
        """Lines of more than `MAX_LINE`, which are left out."""
        self._warn = warn
        self._monotonic = monotonic
        self._file: LogSource | None = None
        self._offset = 0
        self._skipping = False
        self._leaving: _Leaving | None = None
        self._position = position
        """After the lines that were returned last."""
        self._read_until = 0 if position is None else position.read_until
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
            else:
                self._look()
            found = self._next_lines()
        except DamagedLog as error:
            self._leave_damaged(error)
            return None
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

    def _look(self) -> None:
        """Before each read: is this still the file up to whose place was read?

        Its size does not say it: emptied in place, it may have grown beyond that place since.
        """
        position = self._position
        if position is None or self._opened().is_packed:  # no one writes to a packed file
            return
        copy = older_unread(self.path, position, self._opened().status())
        if copy is None and goes_on(self._opened(), position):
            return
        copy = copy or find_copy(self.path, position)
        if copy is not None:
            self._open(copy, position.offset)
            return
        if not is_read(self.path, position):
            self._note_gap(f"{self.path} was emptied or written again, and no copy of it is there")
        self._open(self.path, 0)

    def _next_lines(self) -> Lines:
        chunk = self._opened().read_at(self._offset, CHUNK)
        if chunk and not chunk.strip(b"\0"):
            self._offset += len(chunk)  # a hole, which a writer that does not append leaves
            return Lines([], self._position_here(), at_end=False)
        cut = chunk.rfind(b"\n") + 1
        lines: list[bytes] = []
        if cut:
            lines = chunk[:cut].split(b"\n")[:-1]
            if self._skipping:
                lines, self._skipping = lines[1:], False
        elif len(chunk) >= MAX_LINE:
            self.too_long += not self._skipping
            cut, self._skipping = len(chunk), True  # no log line is a megabyte long
        self._offset += cut
        goes_on_here = len(chunk) == CHUNK or self._goes_on(lines)
        at_end = not lines and not cut and not goes_on_here
        return Lines(lines, self._position_here(), at_end)

    def _goes_on(self, lines: list[bytes]) -> bool:
        """At the end of this file: return whether more is to be read, in it or in the next one.

        A rotated file that is left may end in half a line, which then is its last one.
        """
        file = self._opened()
        mine = file.status()
        try:
            log = self.path.stat()
        except FileNotFoundError:
            return False  # between two steps of a rotation
        if not file.is_packed and same_file(mine, log):
            return False
        rest = file.read_at(self._offset, MAX_LINE)
        if b"\n" in rest:
            return True
        # The log may have been rotated more than once since the last read.
        here = self._position_here()
        copy = find_copy(self.path, here)
        if copy is not None and (copy == self.path or not mine.st_nlink):
            self._open(copy, self._offset)  # it took the place of this file
            return True
        following = next_after(self.path, here, mine)
        if following == self.path and not log.st_size:
            return False  # no one has opened the new log: this one may still be written
        if file.is_packed or self._is_complete(mine.st_size):
            if rest.strip(b"\0") and not self._skipping:
                lines.append(rest)
                self._offset += len(rest)
            self._read_until = max(self._read_until, mine.st_mtime_ns)
            self._open(following, 0)
        return True

    def _is_complete(self, size: int) -> bool:
        """Return whether nothing has been written to this rotated file for long enough."""
        now = self._monotonic()
        if self._leaving is None:
            self._leaving = _Leaving(now, size, now)
        elif self._leaving.size != size:
            self._leaving.size, self._leaving.quiet_since = size, now
        leaving = self._leaving
        return now - leaving.quiet_since >= QUIET or now - leaving.since >= MAX_WAIT

    def _leave_damaged(self, error: DamagedLog) -> None:
        """Go on behind a packed file that cannot be unpacked to its end."""
        self._note_gap(f"a packed file of {self.path} is damaged: {error.strerror}")
        modified = self._opened().status().st_mtime_ns
        position = self._position or LogPosition(0, 0, 0)
        self._read_until = max(self._read_until, modified)
        self._open(next_after(self.path, replace(position, modified=modified, head_length=0)), 0)
        self._position = self._position_here()

    def _reopen(self) -> None:
        """Open the file where the last lines ended, in this run or the one before."""
        position = self._position
        if position is None:
            self._open(self.path, 0)
            if not self._from_start:
                self._offset = self._opened().status().st_size
            return
        found = find(self.path, position)
        if found is not None:
            older = older_unread(self.path, position, found.stat())
            self._open(older or found, position.offset)
            return
        if position.offset and not is_read(self.path, position):
            self._note_gap(f"the file that was being read as {self.path} is gone")
        self._open(next_after(self.path, position), 0)

    def _note_gap(self, reason: str) -> None:
        self.gaps += 1
        self._warn(
            f"{reason}: what was not read of it is lost, reading goes on with the next file that "
            "is there"
        )

    def _open(self, path: Path, offset: int) -> None:
        file = open_source(path)
        self.close()
        self._file, self._offset = file, offset
        self._skipping, self._leaving = False, None

    def _opened(self) -> LogSource:
        if self._file is None:
            raise FileNotFoundError(2, "No such file", str(self.path))
        return self._file

    def _position_here(self) -> LogPosition:
        here = position_in(self._opened(), self._offset)
        return replace(here, read_until=self._read_until)
