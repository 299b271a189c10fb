"""Holds process PID as a hang would: it takes no turn, but a signal that ends it does.

    python3 hang.py PID

Runs by Debian's own Python inside of the machine of `bench/systemd_units.py`. A process that is
stopped by a signal would not do: its children let it go on. It ends with the process.
"""

import ctypes
import os
import sys
import time
from pathlib import Path

ATTACH, ALL = 16, 0x40000000


def main() -> None:
    """Hold it until a signal waits for it."""
    pid = int(sys.argv[1])
    trace = ctypes.CDLL(None, use_errno=True).ptrace
    trace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
    if trace(ATTACH, pid, None, None):
        raise OSError(ctypes.get_errno(), "ptrace")
    os.waitpid(pid, ALL)
    status = Path(f"/proc/{pid}/status")
    while "ShdPnd:\t0000000000000000" in status.read_text():
        time.sleep(0.2)


if __name__ == "__main__":
    main()
