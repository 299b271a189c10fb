"""What is shipped to run an agent: its unit file and its example are what the tools accept."""

import shutil
import subprocess
from pathlib import Path

import pytest

from mudra.agent.config import read_config

DEPLOY = Path(__file__).parents[3] / "deploy"


def test_the_example_configuration_is_a_good_one() -> None:
    assert read_config(DEPLOY / "agent.toml").aa_id == "AA-1"


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd is not here")
def test_the_unit_file_is_taken_by_systemd(tmp_path: Path) -> None:
    unit = tmp_path / "mudra-agent.service"
    shipped = (DEPLOY / "systemd" / "mudra-agent.service").read_text()
    unit.write_text(shipped.replace("/opt/mudra/bin/mudra", "/bin/true"))

    done = subprocess.run(
        ["systemd-analyze", "verify", unit], capture_output=True, text=True, timeout=30, check=False
    )

    assert (done.returncode, done.stderr) == (0, "")
