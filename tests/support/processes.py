"""Processes of this machine, as /proc shows of them."""

import contextlib
from collections.abc import Sequence
from pathlib import Path
from typing import Final

LISTENING: Final = "0A"


def children(pid: int) -> list[int]:
    """The direct children of a process, the oldest first as long as numbers do not start over."""
    found: list[int] = []
    with contextlib.suppress(OSError):  # it has just ended
        for task in Path(f"/proc/{pid}/task").iterdir():
            with contextlib.suppress(OSError):
                found += map(int, (task / "children").read_text().split())
    return sorted(found)


def socket_states(pids: Sequence[int], port: int) -> dict[int, set[str]]:
    """Return the states (proc(5), net/tcp) of each process's sockets at a local port."""
    states = {}
    for line in Path("/proc/net/tcp").read_text().splitlines()[1:]:
        fields = line.split()
        if int(fields[1].partition(":")[2], 16) == port:
            states[f"socket:[{fields[9]}]"] = fields[3]
    found: dict[int, set[str]] = {}
    for pid in pids:
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # it has just ended
            for file in Path(f"/proc/{pid}/fd").iterdir():
                held = found.setdefault(pid, set())
                with contextlib.suppress(FileNotFoundError):  # closed meanwhile
                    held |= {states[link] for link in [str(file.readlink())] if link in states}
    return found
