"""What the locks of an embedded server tell, anyone who gets them in between."""

import os
import subprocess
import sys

from mudra.storage.database.embedded import locks as embedded_locks

ROUNDS = 500
SUPERVISOR = """
import os, sys
from pathlib import Path
from mudra.storage.database.embedded import locks as embedded_locks
while sys.stdin.buffer.raw.read(1):
    os.write(1, b"w")
    lock = embedded_locks.take(Path(sys.argv[1]), embedded_locks.HOLDERS)
    sys.stdin.buffer.raw.read(1)
    os.close(lock)
    os.write(1, b"d")
"""


def test_a_supervisor_that_waits_for_its_lock_is_never_taken_for_a_holder(tmp_path):
    """Who leaves last, and took it for one, would go before the server has stopped."""
    with subprocess.Popen(
        [sys.executable, "-c", SUPERVISOR, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        bufsize=0,
    ) as supervisor:
        for _ in range(ROUNDS):
            held = embedded_locks.take_shared(tmp_path, embedded_locks.HOLDERS)
            supervisor.stdin.write(b"h")
            assert supervisor.stdout.read(1) == b"w"
            os.close(held)
            asked = [embedded_locks.is_shared(tmp_path, embedded_locks.HOLDERS) for _ in range(5)]
            supervisor.stdin.write(b"l")
            assert supervisor.stdout.read(1) == b"d"
            assert not any(asked)
