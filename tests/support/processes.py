"""Processes of this machine, as /proc shows of them."""

import contextlib
import os
from pathlib import Path


def children(pid: int) -> list[int]:
    """The direct children of a process, the oldest first as long as numbers do not start over."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            fields = stat.read_text().rpartition(")")[2].split()
            if int(fields[1]) == pid:
                found.append(int(stat.parent.name))
    return sorted(found)


def users_of(folder: Path) -> set[int]:
    """The processes that have a file of a directory open, but for this one."""
    found = set()
    for files in Path("/proc").glob("[0-9]*/fd"):
        with contextlib.suppress(OSError):
            if any(one.readlink().is_relative_to(folder) for one in files.iterdir()):
                found.add(int(files.parent.name))
    return found - {os.getpid()}


def command_of(pid: int) -> str:
    """The words of a process; none when it has ended."""
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ")
    return ""


def environment_of(pid: int) -> dict[str, str]:
    """What a process had in its environment when it was started."""
    lines = Path(f"/proc/{pid}/environ").read_text().split("\0")
    return dict(line.partition("=")[::2] for line in lines if line)
