"""Processes of this machine, as /proc shows of them."""

import contextlib
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
