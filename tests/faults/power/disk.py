"""A volatile disk for a test, and its loss of power."""

import ctypes
import itertools
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.support.until import PATIENCE_S

_DETACH = 2
_ROOT = Path(__file__).parents[3]
NEEDS_FUSE = pytest.mark.skipif(
    os.geteuid() != 0 or not os.access("/dev/fuse", os.R_OK | os.W_OK),
    reason="only root mounts FUSE, and only where the kernel has it",
)


class PowerlessDisk:
    """`mount` is the disk; what survives a loss of power is in `folder`.

    Of what was not synced, nothing survives one loss, half the next, in turns.
    """

    def __init__(self, folder: Path, seed: int) -> None:
        self.folder, self.mount, self._seed = folder, folder / "disk", seed
        self._shares = itertools.cycle((0.0, 0.5))
        for path in (self.folder / "files", self.mount):
            path.mkdir(parents=True)
        self._start()

    def _start(self) -> None:
        words = [str(self.folder), str(self.mount), str(self._seed), str(next(self._shares))]
        self._server = subprocess.Popen(
            [sys.executable, "-m", "tests.faults.power.volatile_disk", *words],
            cwd=_ROOT,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._await("mounted")

    def _await(self, line: str) -> None:
        assert self._server.stdout is not None
        assert self._server.stdout.readline() == f"{line}\n"

    def lose_power(self) -> None:
        """Lose what was not synced; every use of the disk fails from now on."""
        self._server.send_signal(signal.SIGUSR1)
        self._await("lost")

    def start_again(self) -> None:
        """Mount what is left; the programs that used it must have ended."""
        self.end()
        self._seed += 1
        self._start()

    def end(self) -> None:
        """Unmount."""
        ctypes.CDLL(None).umount2(os.fsencode(self.mount), _DETACH)
        self._server.kill()
        self._server.wait(PATIENCE_S)
