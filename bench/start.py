"""From the start of `mudra serve` to its first answer: a fresh data directory, and a warm one.

    python -m bench.start [ROUNDS]

Goals: fresh ≤ 6 s, warm ≤ 2 s. Next to them, in CPU seconds, what importing costs: it is
the part of both that does not wait for a disk. The libraries alone are the peer: what any
service of this stack pays on this machine before its first line of code.
"""

import compileall
import re
import resource
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import mudra
from bench.machine import slowness, speed_note
from bench.sizes import SHORT, argument, sized
from bench.support import RunningService, data_directory, scratch

FRESH_GOAL_S = 6.0
WARM_GOAL_S = 2.0
LIBRARIES = (
    "alembic.command", "argon2", "cryptography.x509", "jinja2", "joserfc.jwk", "litestar",
    "prometheus_client", "sqlalchemy.ext.asyncio", "structlog",
    "typer", "uvicorn", "uvloop",
)  # fmt: skip  # a list of names
_NO_CODE = re.compile("node_modules")
IMPORTS = (
    "mudra.bootstrap.command_line",
    "mudra.cli.commands.entity.token",
    "mudra.bootstrap.node.processes",
)


def main() -> None:
    """Measure and print."""
    # As an installed package is; a work tree may have been configured not to keep what it compiles.
    if not SHORT:
        compileall.compile_dir(Path(mudra.__file__).parent, quiet=1, rx=_NO_CODE)
    rounds = int(argument(1, 3, 1))
    fresh, warm = [], []
    for _ in range(rounds):
        with scratch() as folder:
            data_dir = data_directory(folder)  # empty, but in a test run
            fresh.append(seconds_to_first_answer(data_dir))
            warm.append(seconds_to_first_answer(data_dir))
    slow = slowness()
    print(speed_note(slow))
    for name, measured, goal in (("fresh", fresh, FRESH_GOAL_S), ("warm", warm, WARM_GOAL_S)):
        shown = ", ".join(f"{seconds:.2f}" for seconds in measured)
        print(
            f"{name} data directory: {shown} s to the first answer; "
            f"best ÷ goal of {goal:.0f} s: {min(measured) / goal:.2f}, "
            f"at that machine's speed {min(measured) / slow / goal:.2f}"
        )
    nothing = import_cpu_seconds("sys")
    peer = import_cpu_seconds(", ".join(sized(LIBRARIES, LIBRARIES[-1:]))) - nothing
    print(f"import of the libraries alone: {peer:.2f} s of CPU")
    for module in sized(IMPORTS, IMPORTS[-1:]):
        seconds = import_cpu_seconds(module) - nothing
        print(f"import {module}: {seconds:.2f} s of CPU, {seconds / peer:.2f} of the libraries'")


def seconds_to_first_answer(data_dir: Path) -> float:
    """Start a service, ask it whether it lives, stop it."""
    started = time.monotonic()
    with RunningService(data_dir) as service:
        with urllib.request.urlopen(f"http://127.0.0.1:{service.port}/readyz") as answer:
            assert answer.status == 200
        return time.monotonic() - started


def import_cpu_seconds(modules: str) -> float:
    """CPU time of a Python that imports one module, or some with commas, best of three."""
    found = []
    for _ in range(sized(3, 1)):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, "-c", f"import {modules}"], check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        found.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(found)


if __name__ == "__main__":
    main()
