"""The four lock files of an embedded server, next to its data.

A `flock` belongs to an open file: it ends with the last process that has the
file open, however that process ends, and means the same in every container
that mounts the directory. A process id proves nothing after a crash or a
restart of the machine; these locks do.

| file | held | means |
|---|---|---|
| `postgres.start` | exclusively, by a process that starts or leaves | one at a time |
| `postgres.holders` | shared, by every user of the server and its forked workers | it is needed |
| `postgres.keeper` | exclusively, by the supervisor | somebody will stop it |
| `postgres.alive` | exclusively, by every process of PostgreSQL | it runs, or is dying |

Locks are given up by closing the file, never by `LOCK_UN`, which would take
them from forked workers too.
"""

import errno
import fcntl
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

START = "postgres.start"
HOLDERS = "postgres.holders"
SUPERVISOR = "postgres.keeper"
ALIVE = "postgres.alive"


def open_private(data_dir: Path, name: str, *, append: bool = False) -> int:
    """Open (or make) a private file of the data directory, owned as the directory is."""
    flags = os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | (os.O_APPEND if append else 0)
    try:
        fd = os.open(data_dir / name, flags | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return _only_name(os.open(data_dir / name, flags), data_dir / name)
    if os.geteuid() == 0:  # what root makes must not lock out the owner of the directory
        owner = data_dir.stat()
        os.fchown(fd, owner.st_uid, owner.st_gid)
    return fd


def _only_name(fd: int, path: Path) -> int:
    """Refuse a second name of another file: root would write there for the directory's owner."""
    found = os.fstat(fd)
    if stat.S_ISREG(found.st_mode) and found.st_nlink == 1:
        return fd
    os.close(fd)
    raise OSError(errno.EPERM, "must be a plain file with one name; remove it", str(path))


def take_shared(data_dir: Path, name: str) -> int:
    """Wait for a shared lock; the file returned holds it until closed."""
    return _taken(open_private(data_dir, name), fcntl.LOCK_SH)


def take(data_dir: Path, name: str) -> int:
    """Wait for the exclusive lock; the file returned holds it until closed."""
    return _taken(open_private(data_dir, name), fcntl.LOCK_EX)


def try_take(data_dir: Path, name: str) -> int | None:
    """Take the exclusive lock at once, or nothing when another has it."""
    return _try(data_dir, name, fcntl.LOCK_EX)


def is_shared(data_dir: Path, name: str) -> bool:
    """Return whether others hold the lock, and hold it shared.

    One process at a time may ask: who asks takes the lock for a moment, and seems to hold it.
    """
    fd = try_take(data_dir, name)
    if fd is None:
        # In this order: who waits for it alone may have it as soon as a shared one is closed.
        fd = _try(data_dir, name, fcntl.LOCK_SH)
        if fd is None:
            return False
        os.close(fd)
        return True
    os.close(fd)
    return False


def is_held(data_dir: Path, name: str) -> bool:
    """Return whether another open file holds the lock in any way."""
    fd = try_take(data_dir, name)
    if fd is None:
        return True
    os.close(fd)
    return False


@contextmanager
def alone(data_dir: Path) -> Iterator[None]:
    """Be the only one that starts or leaves the server of this data directory."""
    fd = take(data_dir, START)
    try:
        yield
    finally:
        os.close(fd)


def _try(data_dir: Path, name: str, kind: int) -> int | None:
    fd = open_private(data_dir, name)
    try:
        return _taken(fd, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return None


def _taken(fd: int, kind: int) -> int:
    try:
        fcntl.flock(fd, kind)
    except BaseException:
        os.close(fd)
        raise
    return fd
