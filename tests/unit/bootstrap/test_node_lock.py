"""A node that starts where another was killed waits for what that left behind."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from mudra.bootstrap.node.node_lock import only_node

ENDS_AFTER_S = 7
ORPHAN = """
import os, sys, time
from pathlib import Path
from mudra.bootstrap.node.node_lock import only_node
with only_node(Path(sys.argv[1])):
    if os.fork() == 0:
        time.sleep(float(sys.argv[2]))
    else:
        print("held", flush=True)
    os._exit(0)
"""


@pytest.mark.slow
def test_a_start_waits_while_orphans_of_a_killed_node_end_in_order(tmp_path: Path) -> None:
    words = [sys.executable, "-c", ORPHAN, str(tmp_path), str(ENDS_AFTER_S)]
    with (tmp_path / "said").open("w") as said:
        subprocess.run(words, check=True, stdout=said)
    began = time.monotonic()

    with only_node(tmp_path):
        waited = time.monotonic() - began
        assert int((tmp_path / "serve.pid").read_text()) == os.getpid()
    assert waited > ENDS_AFTER_S / 2
