"""A disk with little room, which a test can fill; only root may have one."""

import contextlib
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.programs import program


@contextlib.contextmanager
def small_disk(folder: Path, mebibytes: int, *, ext4: bool = False) -> Iterator[Path]:
    """Mount one of this size, in memory or in a file, at a folder that is there."""
    words = ["-t", "tmpfs", "-o", f"size={mebibytes}m,mode=0755", "none"]
    if ext4:
        words = ["-o", "loop", str(_formatted(folder.parent / f"{folder.name}.ext4", mebibytes))]
    made = subprocess.run([program("mount"), *words, str(folder)], capture_output=True, check=False)
    if made.returncode:
        pytest.skip("no disk of its own can be had here: only root may mount one")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def _formatted(disk: Path, mebibytes: int) -> Path:
    """Make the file of a disk of which root has nothing to itself."""
    with disk.open("wb") as made:
        made.truncate(mebibytes << 20)
    subprocess.run([program("mkfs.ext4"), "-q", "-m", "0", str(disk)], check=True)
    return disk


def fill(disk: Path) -> Path:
    """Fill a disk to its last byte; gives the file to remove."""
    filler = disk / "filler"
    subprocess.run(["dd", "if=/dev/zero", f"of={filler}"], check=False, stderr=subprocess.DEVNULL)
    assert shutil.disk_usage(disk).free == 0
    return filler
