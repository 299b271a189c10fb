"""Restores a dump to a PostgreSQL before 17, which refuses one statement of pg_restore 18.

    python -m mudra.storage.backup.restore_before_17 PROGRAMS ADDRESS <DUMP

pg_restore writes its script, here that statement is left out, and psql runs the rest. It gets
`COMMIT` only once pg_restore has ended well: what is cut off is rolled back.
"""

import contextlib
import itertools
import shutil
import subprocess
import sys
from pathlib import Path
from typing import IO, Final

from mudra.storage.backup.client_programs import environment

_REFUSED: Final = b"SET transaction_timeout = 0;\n"
_HEAD: Final = 40
"""The statement is among so many lines; what follows may be data."""
_WRITE: Final = ("--no-owner", "--no-privileges", "--exit-on-error", "--file=-")
_RUN: Final = ("--no-psqlrc", "--quiet", "--set=ON_ERROR_STOP=1")


def main() -> int:
    """Restore; gives the exit code of the program that failed, else 0."""
    programs, address = Path(sys.argv[1]), sys.argv[2]
    variables = environment(programs)
    writing = subprocess.Popen(  # noqa: S603 - our own programs, no shell
        [programs / "pg_restore", *_WRITE], stdout=subprocess.PIPE, env=variables
    )
    running = subprocess.Popen(  # noqa: S603 - as above
        [programs / "psql", *_RUN, f"--dbname={address}"],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        env=variables,
    )
    assert writing.stdout is not None
    assert running.stdin is not None
    with contextlib.suppress(BrokenPipeError), running.stdin as script:  # psql said why it ended
        script.write(b"BEGIN;\n")
        _pass_on(writing.stdout, script)
        if writing.wait() == 0:
            script.write(b"COMMIT;\n")
    writing.stdout.close()
    return running.wait() or writing.wait()


def _pass_on(script: IO[bytes], to: IO[bytes]) -> None:
    for line in itertools.islice(script, _HEAD):
        if line != _REFUSED:
            to.write(line)
    shutil.copyfileobj(script, to)


if __name__ == "__main__":
    sys.exit(main())
