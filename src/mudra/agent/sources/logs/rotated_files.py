"""Finds the files that a followed log was before it was rotated.

Rotation renames a log (`access.log.1`, with `dateext` `access.log-20261125`), copies it and
empties it in place (copytruncate), or lets a link lead to another file; then it packs the old one.
A renamed file has its inode number, a copy and a packed file the same bytes: the first ones, and
those before the place up to which it was read.
"""

import contextlib
import os
import stat
import zlib
from pathlib import Path
from typing import Final

from mudra.agent.counting.event import LogPosition
from mudra.agent.sources.logs.log_source import LogSource, open_source

COMPARED: Final = 256
"""Bytes at the begin and before the place that are remembered of a file."""
_MAX_NEIGHBOURS: Final = 10_000


def same_file(one: os.stat_result, other: os.stat_result) -> bool:
    """Return whether both are of one file."""
    return (one.st_dev, one.st_ino) == (other.st_dev, other.st_ino)


def position_in(source: LogSource, offset: int) -> LogPosition:
    """Return this place of an open file. Raises OSError."""
    status, length = source.status(), min(offset, COMPARED)
    head, tail = source.read_at(0, length), source.read_at(offset - length, length)
    return LogPosition(
        status.st_dev, status.st_ino, offset, zlib.crc32(head), length, status.st_mtime_ns,
        zlib.crc32(tail),
    )  # fmt: skip  # the fields in their order


def goes_on(source: LogSource, position: LogPosition) -> bool:
    """Return whether an open file still holds what was read of it. Raises OSError."""
    length = position.head_length
    return (
        zlib.crc32(source.read_at(0, length)) == position.head
        and len(tail := source.read_at(position.offset - length, length)) == length
        and zlib.crc32(tail) == position.tail
    )


def find(path: Path, position: LogPosition) -> Path | None:
    """Return the file of this position, wherever it is now; None when it is gone.

    Raises OSError when it is there and cannot be read: then it is not gone.
    """
    for candidate in (path, *_neighbours(path)):
        if _is(candidate, position):
            return candidate
    return find_copy(path, position)


def find_copy(path: Path, position: LogPosition) -> Path | None:
    """Return the copy of a file that was emptied after this position; None when there is none."""
    for candidate in reversed(_rotated(path)):
        if _is_copy(candidate, position):
            return candidate
    return None


def older_unread(path: Path, position: LogPosition, mine: os.stat_result) -> Path | None:
    """Return the oldest file that was written between a place without content and its own file.

    None when there is none, or something was read. Nothing of the content is known then, so the
    time says it: what rotation copied or renamed meanwhile comes before the log.
    """
    if position.offset:
        return None
    for candidate in _rotated(path, written_after=position.newer):
        with contextlib.suppress(FileNotFoundError):
            status = candidate.stat()
            if not same_file(status, mine) and status.st_mtime_ns < mine.st_mtime_ns:
                return candidate
    return None


def is_read(path: Path, position: LogPosition) -> bool:
    """Return whether a copy was made of the file before this position: nothing of it is unread."""
    for candidate in reversed(_rotated(path)):
        with contextlib.suppress(OSError), contextlib.closing(open_source(candidate)) as source:
            head = source.read_at(0, position.head_length)
            if head and zlib.crc32(head) == position.head and len(head) == position.head_length:
                return len(source.read_at(position.offset, 1)) == 0
    return False


def next_after(path: Path, position: LogPosition, mine: os.stat_result | None = None) -> Path:
    """Return the file that was written after the one of this position: rotated too, or the log.

    `mine` is the state of the file itself, where it is there: it does not follow itself.
    """
    for candidate in _rotated(path, written_after=position.newer):
        if not _is_copy(candidate, position) and not _is_file(candidate, mine):
            return candidate
    return path


def _is(path: Path, position: LogPosition) -> bool:
    """Return whether this is the file of that position, not another with its inode number."""
    try:
        status = path.stat()
        if (status.st_dev, status.st_ino) != (position.device, position.inode):
            return False
        with contextlib.closing(open_source(path)) as source:
            return goes_on(source, position)
    except FileNotFoundError:
        return False


def _is_file(path: Path, status: os.stat_result | None) -> bool:
    with contextlib.suppress(FileNotFoundError):  # renamed or packed just now
        return status is not None and same_file(path.stat(), status)
    return False


def _is_copy(path: Path, position: LogPosition) -> bool:
    if position.head_length == 0:
        return False
    with contextlib.suppress(OSError), contextlib.closing(open_source(path)) as source:
        return goes_on(source, position)
    return False


def _folders(path: Path) -> list[tuple[Path, str]]:
    """Return where files of this log are and how their names begin: a link leads elsewhere too."""
    found = [(path.parent, path.name)]
    with contextlib.suppress(OSError, RuntimeError):  # a loop of links
        real = path.resolve()
        if real != path:
            found.append((real.parent, real.name))
    return found


def _neighbours(path: Path) -> list[Path]:
    """Return the files next to this log, whatever their names: one may be the log of before."""
    found: list[Path] = []
    for folder, _ in _folders(path):
        with (
            contextlib.suppress(PermissionError, FileNotFoundError),
            os.scandir(folder) as entries,
        ):
            found += [folder / one.name for one in entries if one.is_file(follow_symlinks=False)]
    return found[:_MAX_NEIGHBOURS]


def _rotated(path: Path, written_after: int = -1) -> list[Path]:
    """Return rotated files of this log, the oldest first."""
    found: dict[Path, int] = {}
    for folder, name in _folders(path):
        try:
            neighbours = list(folder.iterdir())
        except (PermissionError, FileNotFoundError):
            continue  # a log can be read in a folder that cannot be listed
        for candidate in neighbours:
            if not _is_name_of_rotated(candidate.name, name):
                continue
            with contextlib.suppress(FileNotFoundError):  # renamed or packed just now
                status = candidate.stat()
                if stat.S_ISREG(status.st_mode) and status.st_mtime_ns > written_after:
                    found[candidate] = status.st_mtime_ns
    return sorted(found, key=lambda one: (found[one], one))


def _is_name_of_rotated(name: str, log: str) -> bool:
    """Return whether this is the log's name with a number or date; `log-inner` is another log."""
    rest = name.removeprefix(log)
    return rest != name and (rest[:1] == "." or (rest[:1] == "-" and rest[1:2].isdigit()))
