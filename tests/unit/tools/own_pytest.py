"""Another pytest, which runs files that a test wrote."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Final

from tests.support.until import PATIENCE_S

ROOT: Final = Path(__file__).parents[3]
_UNUSED: Final = ("cacheprovider", "anyio", "faker", "schemathesis")
"""Plugins that it does not need: to load them takes more than a second of CPU."""


def run_pytest(folder: Path, *options: str) -> "subprocess.CompletedProcess[str]":
    """Run it in a folder, of which it takes no settings of this suite, with `tests.support`."""
    without = [word for name in _UNUSED for word in ("-p", f"no:{name}")]
    return subprocess.run(
        [sys.executable, "-m", "pytest", "--rootdir", str(folder), *without, *options],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "120", "PYTEST_ADDOPTS": ""},
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
