"""What a process freed goes back to the machine, whichever thread freed it."""

import subprocess
import sys

_PROGRAM = """
import threading
from mudra.bootstrap.node.free_memory import give_back, allocate_apart

def resident():
    pages = int(open("/proc/self/statm").read().split()[1])
    return pages * 4096 / 1e6

def read_much(done):
    pieces = [bytes(4000 + place % 50) for place in range(20_000)]
    kept.extend(pieces[::100])
    del pieces
    done.set()
    end.wait()

kept, end = [], threading.Event()
{first}
before = resident()
for _ in range(3):
    done = threading.Event()
    threading.Thread(target=read_much, args=[done]).start()
    done.wait()
held = resident()
give_back()
print(held - before, resident() - before)
end.set()
"""


_LARGE = """
from mudra.bootstrap.node.free_memory import allocate_apart

def resident():
    return int(open("/proc/self/statm").read().split()[1]) * 4096 / 1e6

{first}
before, kept = resident(), []
for turn in range(10):
    large = []
    for _ in range(100):
        large.append(bytes(2_500_000 - 100_000 * turn))
        kept.append(bytes(2_000))
    del large
held = resident()
print(held - before, 0)
"""


def run(first: str, program: str = _PROGRAM) -> tuple[float, float]:
    """Megabytes that stay when three threads took 80 each, one after the other; and then."""
    done = subprocess.run(
        [sys.executable, "-c", program.format(first=first)],
        capture_output=True,
        text=True,
        check=True,
    )
    held, left = map(float, done.stdout.split())
    return held, left


def test_free_pages_between_used_ones_are_given_back():
    held, left = run("allocate_apart()")

    assert held > 60
    assert left < 20


def test_threads_share_what_one_of_them_freed():
    shared, _ = run("allocate_apart()")
    apart, _ = run("")

    assert shared < 120
    assert apart > 1.5 * shared


def test_large_blocks_leave_no_gaps_between_small_ones():
    apart, _ = run("allocate_apart()", _LARGE)
    together, _ = run("", _LARGE)

    assert apart < 5
    assert together > 20
