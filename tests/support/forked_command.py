"""A command of mudra as a process of its own, without the second that loading its code takes."""

import os
import subprocess
import tempfile
from pathlib import Path

from tests.support.preloaded_program import ForkedProgram
from tests.support.until import PATIENCE_S


def run_mudra(*words: str, **variables: str) -> "subprocess.CompletedProcess[str]":
    """Run a command to its end, as a shell does that has set only these of Mudra's variables."""
    known = {name: value for name, value in os.environ.items() if not name.startswith("MUDRA_")}
    with tempfile.NamedTemporaryFile() as errors:
        program = ForkedProgram(list(words), known | variables, errors=Path(errors.name))
        with program.stdout:
            printed = program.stdout.read()
        code = program.wait(PATIENCE_S)
        return subprocess.CompletedProcess(["mudra", *words], code, printed, errors.read().decode())
