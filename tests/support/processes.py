"""Processes of this machine, as /proc shows of them."""

import contextlib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Final

LISTENING: Final = "0A"
_TITLE: Final = "mudra serve: "


def children(pid: int) -> list[int]:
    """The direct children of a process, the oldest first as long as numbers do not start over."""
    found: list[int] = []
    with contextlib.suppress(OSError):  # it has just ended
        for task in Path(f"/proc/{pid}/task").iterdir():
            with contextlib.suppress(OSError):
                found += map(int, (task / "children").read_text().split())
    return sorted(found)


def forked_by(supervisor: int) -> dict[str, int]:
    """The processes of a node by name, as `ps` shows them: worker-0, jobs."""
    titles = {one: command_of(one).strip() for one in children(supervisor)}
    return {
        title.removeprefix(_TITLE): one for one, title in titles.items() if title.startswith(_TITLE)
    }


def users_of(folder: Path) -> set[int]:
    """The processes that have a file of a directory open, but for this one."""
    found = set()
    for files in Path("/proc").glob("[0-9]*/fd"):
        with contextlib.suppress(OSError):
            if any(one.readlink().is_relative_to(folder) for one in files.iterdir()):
                found.add(int(files.parent.name))
    return found - {os.getpid()}


def is_alive(pid: int) -> bool:
    """Says whether a process runs; one that only waits to be buried does not."""
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False


def command_of(pid: int) -> str:
    """The words of a process; none when it has ended."""
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ")
    return ""


def environment_of(pid: int) -> dict[str, str]:
    """Returns the environment with which a process was started."""
    lines = Path(f"/proc/{pid}/environ").read_text().split("\0")
    return dict(line.partition("=")[::2] for line in lines if line)


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
