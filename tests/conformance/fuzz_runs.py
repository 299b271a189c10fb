"""Runs of schemathesis, each forked from one process that has loaded it: that takes two seconds.

python -m tests.conformance.fuzz_runs

It reads one run a line, and answers with a line when the run has ended.
"""

import importlib
import os
import select
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NoReturn

import msgspec
from tests.support.rare_collection import collect_rarely
from tests.support.until import PATIENCE_S

ROOT: Final = Path(__file__).parents[2]
_LOADED: Final = (
    "pyrate_limiter",
    "rich.progress",
    "schemathesis.cli.commands.run.executor",
    "schemathesis.engine.core",
    "schemathesis.engine.fuzz",
    "schemathesis.engine.run.analysis",
    "schemathesis.engine.run.unit._hypothesis_executor",
    "schemathesis.python.asgi",
    "schemathesis.specs.openapi.auth_inference",
    "schemathesis.specs.openapi.schemas",
    "schemathesis.transport.wsgi",
    "tests.support.metrics.metrics_payloads",
    "tests.support.registry.registry_payloads",
)
"""The program loads most of itself only when it needs it, which is in every run."""


class Run(msgspec.Struct, frozen=True):
    """One run: what follows the name of the program, what is set, and where its words go."""

    arguments: Sequence[str]
    variables: dict[str, str]
    output: str


class Runs:
    """The process that forks them."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.conformance.fuzz_runs"],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def run(
        self, arguments: Sequence[str], variables: dict[str, str], timeout_s: float
    ) -> tuple[int, str]:
        """Run schemathesis to its end; gives its exit code and what it said."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with tempfile.NamedTemporaryFile("r") as output:
            run = Run(arguments, variables, output.name)
            self._process.stdin.write(msgspec.json.encode(run).decode() + "\n")
            self._process.stdin.flush()
            ended, _, _ = select.select([self._process.stdout], [], [], timeout_s)
            assert ended, f"it runs for {timeout_s} s already: {output.read()[-6000:]}"
            return int(self._process.stdout.readline()), output.read()

    def close(self) -> None:
        """End it."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        try:
            self._process.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait(PATIENCE_S)
        self._process.stdout.close()


def main() -> None:
    """Load what each run needs, then fork one for each line."""
    for name in _LOADED:
        importlib.import_module(name)
    collect_rarely()
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            _become(msgspec.json.decode(line, type=Run))
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


def _become(run: Run) -> NoReturn:
    output = os.open(run.output, os.O_WRONLY)
    nothing = os.open(os.devnull, os.O_RDONLY)
    for found, wanted in ((nothing, 0), (output, 1), (output, 2)):
        os.dup2(found, wanted)
    os.environ |= run.variables
    sys.argv = ["schemathesis", *run.arguments]
    code: int | str | None = 1
    try:
        importlib.import_module("schemathesis.cli").schemathesis()
    except SystemExit as end:
        code = end.code
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code if isinstance(code, int) else int(code is not None))


if __name__ == "__main__":
    main()
