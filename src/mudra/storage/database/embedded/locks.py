"""The two lock files of an embedded server, next to its data.

A `flock` belongs to an open file: it ends with the last process that has the file open, however
that process ends, and means the same in every container that mounts the directory. A process ID
proves nothing after a crash or a restart of the machine; these locks do.

| file | held | means |
|---|---|---|
| `postgres.holders` | shared by all users of the server, alone by the last one | it is needed |
| `postgres.alive` | alone, by every process of PostgreSQL | it runs, or is dying |

Locks are given up by closing the file, never by `LOCK_UN`, which would take them from forked
processes too.
"""

import errno
import fcntl
import os
import stat
from pathlib import Path

HOLDERS = "postgres.holders"
ALIVE = "postgres.alive"


def open_private(data_dir: Path, name: str, *, append: bool = False) -> int:
    """Opens (or makes) a private file of the data directory, owned as the directory is."""
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
    """Refuses a second name of another file: root would write there for the directory's owner."""
    found = os.fstat(fd)
    if stat.S_ISREG(found.st_mode) and found.st_nlink == 1:
        return fd
    os.close(fd)
    raise OSError(errno.EPERM, "must be a plain file with one name; remove it", str(path))


def share(data_dir: Path, name: str) -> int:
    """Waits for a shared lock; the file returned holds it until closed."""
    fd = open_private(data_dir, name)
    try:
        fcntl.flock(fd, fcntl.LOCK_SH)
    except BaseException:
        os.close(fd)
        raise
    return fd


def try_take(data_dir: Path, name: str) -> int | None:
    """Takes the exclusive lock at once; None when others have it."""
    fd = open_private(data_dir, name)
    if take_alone(fd):
        return fd
    os.close(fd)
    return None


def take_alone(fd: int) -> bool:
    """Turns the lock of an open file into the exclusive one; False when others have it too.

    In both cases the shared one is gone: of two that leave at once, the later one gets this.
    """
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def is_held(data_dir: Path, name: str) -> bool:
    """Returns whether another open file holds the lock in any way."""
    fd = try_take(data_dir, name)
    if fd is None:
        return True
    os.close(fd)
    return False
