"""Finds the files that a followed log was before it was rotated.

Rotation renames a log (`access.log.1`, with `dateext` `access.log-20261125`), or
copies it and empties it in place (copytruncate). A renamed file has its inode
number, a copy the same first bytes.
"""

import os
import zlib
from pathlib import Path
from typing import BinaryIO, Final

from mudra.agent.counting.event import LogPosition

_PACKED: Final = frozenset({".gz", ".zst", ".xz", ".bz2"})


def checksum(file: BinaryIO, length: int) -> int:
    """Return the checksum of the first bytes of an open file."""
    file.seek(0)
    return zlib.crc32(file.read(length))


def same_file(one: os.stat_result, other: os.stat_result) -> bool:
    """Return whether both are of one file."""
    return (one.st_dev, one.st_ino) == (other.st_dev, other.st_ino)


def find(path: Path, position: LogPosition) -> Path | None:
    """Return the file of this position, wherever it is now; None when it is gone.

    Raises OSError when it is there and cannot be read: then it is not gone.
    """
    for candidate in (path, *_rotated(path)):
        if _is(candidate, position):
            return candidate
    return find_copy(path, position)


def find_copy(path: Path, position: LogPosition) -> Path | None:
    """Return the copy of a file that was emptied after this position; None when there is none."""
    for candidate in reversed(_rotated(path)):
        if _is_copy(candidate, position):
            return candidate
    return None


def next_after(path: Path, position: LogPosition) -> Path:
    """Return the file that was written after the one of this position: rotated too, or the log."""
    for candidate in _rotated(path, written_after=position.modified):
        if not _is_copy(candidate, position):
            return candidate
    return path


def _is(path: Path, position: LogPosition) -> bool:
    """Return whether this is the file of that position, not another with its inode number."""
    try:
        status = path.stat()
        if (status.st_dev, status.st_ino) != (position.device, position.inode):
            return False
        return _begins_as(path, position)
    except FileNotFoundError:
        return False


def _is_copy(path: Path, position: LogPosition) -> bool:
    try:
        return position.head_length > 0 and _begins_as(path, position)
    except OSError:
        return False


def _begins_as(path: Path, position: LogPosition) -> bool:
    with path.open("rb") as file:
        return (
            os.fstat(file.fileno()).st_size >= position.offset
            and checksum(file, position.head_length) == position.head
        )


def _rotated(path: Path, written_after: int = -1) -> list[Path]:
    """Return rotated files next to this log that are plain text, the oldest first."""
    found: list[tuple[int, Path]] = []
    try:
        neighbours = list(path.parent.iterdir())
    except PermissionError:
        neighbours = []  # a log can be read in a folder that cannot be listed
    for candidate in neighbours:
        if not _is_name_of_rotated(candidate.name, path.name) or candidate.suffix in _PACKED:
            continue
        try:
            modified = candidate.stat().st_mtime_ns
        except FileNotFoundError:
            continue  # renamed or packed just now
        if modified > written_after:
            found.append((modified, candidate))
    return [candidate for _, candidate in sorted(found)]


def _is_name_of_rotated(name: str, log: str) -> bool:
    """Return whether this is the log's name with a number or date; `log-inner` is another log."""
    rest = name.removeprefix(log)
    return rest != name and (rest[:1] == "." or (rest[:1] == "-" and rest[1:2].isdigit()))
