"""Workers start quickly and stay small: each library is loaded where it is needed."""

import subprocess
import sys

from tests.support.until import PATIENCE_S

IMPORTS = """
import importlib, sys
def load(module, *without):
    importlib.import_module(f"mudra.bootstrap.{module}")
    assert not sys.modules.keys() & {*without}, f"{module} loads one of {without}"
load("command_line", "numpy")
load("node.supervisor", "numpy")
load("node.processes", "httpx2")
"""


def test_a_start_loads_no_http_client_without_single_sign_on_and_no_command_loads_numpy() -> None:
    done = subprocess.run(
        [sys.executable, "-c", IMPORTS],
        check=False,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
    )

    assert done.returncode == 0, done.stderr
