"""Workers start quickly and stay small: each library is loaded where it is needed."""

import subprocess
import sys

import pytest


@pytest.mark.parametrize("module", ["wiring", "node.jobs_process", "command_line"])
def test_nothing_that_a_worker_imports_loads_numpy(module: str) -> None:
    code = f"import sys, mudra.bootstrap.{module}; assert 'numpy' not in sys.modules"

    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)


def test_a_start_without_single_sign_on_loads_no_http_client() -> None:
    code = "import sys, mudra.bootstrap.node.processes; assert 'httpx' not in sys.modules"

    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)
