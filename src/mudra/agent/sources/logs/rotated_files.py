"""Finds the files that a followed log was before it was rotated.

Rotation renames a log (`access.log.1`, with `dateext` `access.log-20261125`), copies it and
empties it in place (copytruncate), or lets a link lead to another file; then it packs the old one.
A renamed file has its inode number, a copy and a packed file the same bytes: the first ones, and
those before the place up to which it was read.
"""

import contextlib
import os
import re
import stat
import zlib
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Final

from mudra.agent.counting.event import LogPosition
from mudra.agent.sources.logs.log_source import DamagedLog, LogSource, open_source

COMPARED: Final = 256
"""Bytes at the begin and before the place that are remembered of a file."""
_MAX_NEIGHBOURS: Final = 10_000
_NUMBER: Final = re.compile(r"\.(\d{1,5})(\.[a-zA-Z]\w*)?")
"""`.1`, `.2.gz`: logrotate's, and of most programs that rotate their own log."""
_DATE: Final = re.compile(r"[.-]\d{4}-?\d\d")
"""`-20261125`, `.2026-11-25.gz`."""


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
    """Return a file of the same content as the one of this position; None when there is none.

    The log itself where it was replaced by its copy, as on another disk; else a rotated file.
    """
    for candidate in (path, *reversed(_rotated(path))):
        if continues(candidate, position):
            return candidate
    return None


def continues(path: Path, position: LogPosition) -> bool:
    """Return whether this file holds what was read up to this position, whatever file it is."""
    if position.head_length == 0:
        return False
    with contextlib.suppress(OSError), contextlib.closing(open_source(path)) as source:
        return goes_on(source, position)
    return False


def older_unread(path: Path, position: LogPosition, mine: os.stat_result) -> Path | None:
    """Return the oldest file that was written between a place without content and its own file.

    None when there is none, or something was read. Nothing of the content is known then, so the
    time says it: what rotation copied or renamed meanwhile comes before the log.
    """
    if position.offset:
        return None
    rotated = _rotated(path)
    at = _place_of(mine, rotated)
    before = rotated[:at]
    if at is None:  # what is later than the log is written by a program that never opened it
        before = [one for one in rotated if _written_at(one) <= mine.st_mtime_ns]
    return _first_unread(before, position.newer, mine, [*rotated, path])


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

    `mine` is the state of the file itself, where it is there: it does not follow itself, and where
    it is among the rotated files, their order says what follows it.
    """
    rotated = _rotated(path)
    at = None if mine is None else _place_of(mine, rotated)
    if at is None:  # gone, or packed meanwhile
        same = (at for at, one in enumerate(rotated) if continues(one, position))
        at = next(same, None)
    after, written_after = (rotated, position.newer) if at is None else (rotated[at + 1 :], -1)
    after = [one for one in after if not continues(one, position)]
    return _first_unread(after, written_after, mine, [*rotated, path]) or path


def _first_unread(
    files: list[Path], written_after: int, mine: os.stat_result | None, others: list[Path]
) -> Path | None:
    """Return the first file with content of its own that was written after this time."""
    for candidate in files:
        with contextlib.suppress(FileNotFoundError, DamagedLog):  # renamed or packed just now
            status = candidate.stat()
            if status.st_mtime_ns <= written_after or (mine and same_file(status, mine)):
                continue
            with contextlib.closing(open_source(candidate)) as source:
                later = others[others.index(candidate) + 1 :]
                if not source.read_at(0, 1) or _is_copied(source, later):
                    continue
        return candidate
    return None


def _is_copied(source: LogSource, later: list[Path]) -> bool:
    """Return whether a later file holds all of this one: it is a copy from next to the log."""
    if source.is_packed:
        return False  # rotation packs what is over, and where its text ends is not known
    status = source.status()
    end = position_in(source, status.st_size)
    for other in later:
        with contextlib.suppress(OSError):
            if not same_file(other.stat(), status) and continues(other, end):
                return True
    return False


def _written_at(path: Path) -> int:
    with contextlib.suppress(FileNotFoundError):
        return path.stat().st_mtime_ns
    return 0


def _place_of(mine: os.stat_result, files: list[Path]) -> int | None:
    """Return where the file of this state is among these."""
    for at, candidate in enumerate(files):
        with contextlib.suppress(FileNotFoundError):
            if same_file(candidate.stat(), mine):
                return at
    return None


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


def _rotated(path: Path) -> list[Path]:
    """Return rotated files of this log, the oldest first.

    Their names say it better than their times: a clock may have been set back, and files that
    were rotated in one instant have one time.
    """
    found: dict[Path, tuple[str, os.stat_result]] = {}
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
                if stat.S_ISREG(status.st_mode):
                    found[candidate] = candidate.name.removeprefix(name), status
    return _in_order(found)


def _in_order(found: Mapping[Path, tuple[str, os.stat_result]]) -> list[Path]:
    """Return files by number or date, unless most times say otherwise; the others by time."""
    times = {one: status.st_mtime_ns for one, (_, status) in found.items()}
    places = dict.fromkeys(found, 0)
    for series in _series(found):
        # An empty file may be made before the last line of the one before it is written.
        written = [times[one] for one in series if found[one][1].st_size]
        if 2 * sum(one > other for one, other in pairwise(written)) > len(written) - 1:
            series.reverse()  # 1 is the oldest
        latest = -1
        for place, one in enumerate(series):
            latest = times[one] = max(latest, times[one])
            places[one] = place
    return sorted(found, key=lambda one: (times[one], places[one], one))


def _series(found: Mapping[Path, tuple[str, os.stat_result]]) -> tuple[list[Path], list[Path]]:
    """Return the numbered files, 1 as the newest, and the dated ones, by date."""
    numbers: dict[Path, int] = {}
    dates: dict[Path, str] = {}
    for path, (suffix, _) in found.items():
        if number := _NUMBER.fullmatch(suffix):
            numbers[path] = int(number[1])
        elif _DATE.match(suffix):
            dates[path] = suffix
    return sorted(numbers, key=lambda one: -numbers[one]), sorted(dates, key=lambda one: dates[one])


def _is_name_of_rotated(name: str, log: str) -> bool:
    """Return whether this is the log's name with a number or date; `log-inner` is another log."""
    rest = name.removeprefix(log)
    return rest != name and (rest[:1] == "." or (rest[:1] == "-" and rest[1:2].isdigit()))
