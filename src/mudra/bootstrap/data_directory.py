"""The data directory, and what is said when it cannot be used."""

import contextlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Final

_PASS: Final = stat.S_IXGRP | stat.S_IXOTH


class DataDirectoryUnusable(Exception):
    """The data directory cannot be made or written: the text names it and the way out."""


@contextlib.contextmanager
def using(data_dir: Path) -> Iterator[None]:
    """Make the directory, and explain each failure to write into it; raises the error above."""
    try:
        data_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
        _close(data_dir)
        yield
    except OSError as error:
        raise DataDirectoryUnusable(
            f"the data directory {data_dir} cannot be used: {error.strerror}; set MUDRA_DATA_DIR "
            "(or --data-dir) to a directory that this user can write"
        ) from error


def _close(data_dir: Path) -> None:
    """Take others' rights from a directory of our own that was made by hand.

    Root leaves the right to pass: PostgreSQL runs as another user, which else needed a right to
    pass every directory, and to read every file (decision 0119).
    """
    found = data_dir.stat()
    kept = _PASS if os.geteuid() == 0 else 0
    mode = stat.S_IMODE(found.st_mode)
    if found.st_uid == os.geteuid() and mode & ~(stat.S_IRWXU | kept):
        data_dir.chmod(mode & (stat.S_IRWXU | kept))
