"""A child whose supervisor was killed ends, also when it does not stop by itself."""

import os
import signal
import subprocess
import sys

CHILD = """
import asyncio, sys
from mudra.bootstrap.node.parent_watch import on_parent_exit
async def main():
    on_parent_exit(int(sys.argv[1]), lambda: print("asked", flush=True), within_s=0.2)
    await asyncio.sleep(30)
asyncio.run(main())
"""


def test_a_child_that_does_not_stop_when_asked_is_ended() -> None:
    read, write = os.pipe()
    words = [sys.executable, "-c", CHILD, str(read)]
    child = subprocess.Popen(words, stdout=subprocess.PIPE, pass_fds=[read], text=True)
    os.close(read)
    os.close(write)

    said, _ = child.communicate(timeout=25)

    assert said == "asked\n"
    assert child.returncode == -signal.SIGALRM
