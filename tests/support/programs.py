"""Programs of the machine that tests run: found, or installed by the project's own script."""

import subprocess
from functools import cache
from pathlib import Path

import pytest

_SCRIPT = Path(__file__).parents[2] / "tools" / "install_program.sh"


@cache
def program(name: str) -> str:
    """Where `chromium`, `java` or `nginx` is; a test is skipped that cannot have it."""
    found = subprocess.run(
        [str(_SCRIPT), name], capture_output=True, text=True, timeout=900, check=False
    )
    if found.returncode:
        pytest.skip(found.stderr.strip())
    return found.stdout.strip()
