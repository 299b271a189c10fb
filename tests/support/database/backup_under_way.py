"""A backup that is stopped while it is being made."""

import contextlib
import os
import signal
from collections.abc import Iterator
from pathlib import Path

from tests.support.preloaded_program import ForkedProgram
from tests.support.processes import children, command_of
from tests.support.until import PATIENCE_S, until

from mudra.storage.backup.encryption import new_identity


@contextlib.contextmanager
def backup_under_way(data_dir: Path, folder: Path, *more: str) -> Iterator[ForkedProgram]:
    """`mudra backup create`, stopped while it dumps until the test lets it go on."""
    _, public = new_identity()
    words = ["backup", "create", "--to", str(folder), "--recipient", public, *more]
    run = ForkedProgram(words, {**os.environ, "MUDRA_DATA_DIR": str(data_dir)})
    with run.stdout:
        until(lambda: dump_of(run), every_s=0.001)
        run.send_signal(signal.SIGSTOP)
        try:
            yield run
        finally:
            run.kill()
            run.wait(PATIENCE_S)


def dump_of(backup: ForkedProgram) -> int:
    """The process of pg_dump that a backup runs; 0 while there is none."""
    return next((one for one in children(backup.pid) if "pg_dump" in command_of(one)), 0)
