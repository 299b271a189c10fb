"""A child that is being forked as its supervisor stops hears of it."""

import subprocess
import sys

from tests.support.until import PATIENCE_S

PROGRAM = """
import os, select, signal, time
from mudra.bootstrap.node.supervisor import SignalWait, Supervisor

class StopArrives(SignalWait):
    "The stop comes before the child has its own signals."
    def close(self):
        os.kill(os.getppid(), signal.SIGTERM)
        until = time.monotonic() + 5
        while signal.SIGTERM not in signal.sigpending() and time.monotonic() < until:
            time.sleep(0.001)
        super().close()

def body(parent_pipe, report):
    print("it does not know that it is to stop", flush=True)
    select.select([parent_pipe], [], [])

supervisor = Supervisor(10, _signals=StopArrives())
supervisor.add("child", body)
supervisor.run(lambda: None)
print("stopped", flush=True)
"""


def test_a_child_that_is_being_forked_hears_of_a_stop() -> None:
    words = [sys.executable, "-c", PROGRAM]
    done = subprocess.run(words, capture_output=True, text=True, timeout=PATIENCE_S, check=True)

    assert done.stdout == "stopped\n"
