"""A disk with little room, which a test can fill; only root may have one."""

import contextlib
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.programs import program


@contextlib.contextmanager
def small_disk(folder: Path, mebibytes: int) -> Iterator[Path]:
    """Mount one of this size at a folder that is there, until the end of the block."""
    size = f"size={mebibytes}m,mode=0755"
    made = subprocess.run(
        [program("mount"), "-t", "tmpfs", "-o", size, "none", str(folder)],
        capture_output=True,
        check=False,
    )
    if made.returncode:
        pytest.skip("no disk of its own can be had here: only root may mount one")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def fill(disk: Path) -> Path:
    """Fill a disk to its last byte; gives the file to remove."""
    filler = disk / "filler"
    subprocess.run(["dd", "if=/dev/zero", f"of={filler}"], check=False, stderr=subprocess.DEVNULL)
    assert shutil.disk_usage(disk).free == 0
    return filler
