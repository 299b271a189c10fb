"""Workers stay small: numpy belongs to the jobs process."""

import subprocess
import sys

import pytest


@pytest.mark.parametrize("module", ["wiring", "node.jobs_process", "command_line"])
def test_nothing_that_a_worker_imports_loads_numpy(module: str) -> None:
    code = f"import sys, mudra.bootstrap.{module}; assert 'numpy' not in sys.modules"

    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)
