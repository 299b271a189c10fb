"""One node per data directory: a second `mudra serve` is refused and names the first."""

import contextlib
import fcntl
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from mudra.bootstrap.data_directory import using
from mudra.bootstrap.node.cannot_listen import CannotListen
from mudra.bootstrap.node.supervisor import STOP_S

FILE: Final = "serve.pid"
_WAIT_S: Final = STOP_S + 5
"""Workers and jobs of a node that was killed hold the lock until they have ended in order."""


class AlreadyServed(CannotListen):
    """Another node runs on this data directory: the text names its process."""


@contextlib.contextmanager
def only_node(data_dir: Path) -> Iterator[None]:
    """Hold the lock of this data directory; raises AlreadyServed when another process has it.

    Raises DataDirectoryUnusable when the directory cannot be written.
    """
    with using(data_dir):
        fd = os.open(data_dir / FILE, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    try:
        _take(fd, data_dir)
        os.ftruncate(fd, 0)
        os.pwrite(fd, f"{os.getpid()}\n".encode(), 0)
        yield
    finally:
        os.close(fd)


def _take(fd: int, data_dir: Path) -> None:
    deadline = time.monotonic() + _WAIT_S
    while True:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            pid = os.pread(fd, 32, 0).decode(errors="replace").strip()
            if (pid.isdecimal() and Path(f"/proc/{pid}").exists()) or time.monotonic() > deadline:
                raise AlreadyServed(
                    f"process {pid} already serves the data directory {data_dir}: stop it, or set "
                    "MUDRA_DATA_DIR (or --data-dir) to another directory"
                ) from None
            time.sleep(0.05)
        else:
            return
