"""The machine's clock of a service, set by a test: the one thing that a test cannot really have.

libfaketime would do, but that of Debian 12 breaks Python's sleep.
"""

import os
from datetime import timedelta
from pathlib import Path

from mudra.bootstrap.clock import ServiceClock

VARIABLE = "TEST_CLOCK_FILE"


class SetClock:
    """The clock of one service's processes, not of its database."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self.variables = {VARIABLE: str(file)}
        self.set(0)

    def set(self, seconds_ahead: float) -> None:
        draft = self._file.with_suffix(".new")
        draft.write_text(str(seconds_ahead))
        draft.replace(self._file)


def install() -> None:
    """Let this process's machine have the time that the test says."""
    if VARIABLE not in os.environ:
        return
    file, real = Path(os.environ[VARIABLE]), ServiceClock.machine
    ServiceClock.machine = staticmethod(  # type: ignore[method-assign]
        lambda: real() + timedelta(seconds=float(file.read_text()))
    )
