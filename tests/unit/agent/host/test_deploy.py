"""What is shipped to run an agent: its unit file and its example are what the tools accept."""

import asyncio
import re
import subprocess
from pathlib import Path

from tests.support.agent import agents
from tests.support.agent.hostile_operator import HostileOperator
from tests.support.documents.blocks import blocks_of
from tests.support.manual_clock import MovedClock
from tests.support.programs import program
from tests.support.until import PATIENCE_S

from mudra.agent.host.config import read_config
from mudra.agent.host.metrics import exposition

ROOT = Path(__file__).parents[4]
DEPLOY = ROOT / "deploy"


def test_the_example_configuration_is_a_good_one() -> None:
    assert read_config(DEPLOY / "agent.toml").aa_id == "AA-1"


def test_the_unit_file_is_taken_by_systemd(tmp_path: Path) -> None:
    unit = tmp_path / "mudra-agent.service"
    shipped = (DEPLOY / "systemd" / "mudra-agent.service").read_text()
    unit.write_text(shipped.replace("/opt/mudra/bin/mudra", "/bin/true"))

    done = subprocess.run(
        [program("systemd-analyze"), "verify", unit],
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )

    assert (done.returncode, done.stderr) == (0, "")


def test_the_page_makes_what_the_check_before_the_first_start_needs() -> None:
    """systemd makes the directory at the first start alone, and no package makes /etc/mudra."""
    page = "docs/how-to/run-an-agent.md"
    shell = [one.body for one in blocks_of(page) if one.kind == "sh"]
    install, *later = shell
    unit = dict(
        line.split("=", 1)
        for line in (DEPLOY / "systemd" / "mudra-agent.service").read_text().splitlines()
        if "=" in line
    )
    directory = read_config(DEPLOY / "agent.toml").directory
    user, program = unit["User"], unit["ExecStart"].partition(" ")[0]
    commands = [line for body in later for line in body.splitlines() if "mudra agent " in line]

    assert directory == f"/var/lib/{unit['StateDirectory']}"
    assert f"install -d -m {unit['StateDirectoryMode'][1:]} -o {user} {directory}\n" in install
    assert "install -d -m 755 /etc/mudra\n" in install
    assert install.index("useradd") < install.index(f"-o {user}")
    assert len(commands) == 3
    for command in commands:
        assert command.startswith(f"sudo -u {user} {program} agent "), command


def test_every_figure_that_the_how_to_alarms_on_is_exposed(tmp_path: Path) -> None:
    guide = (ROOT / "docs" / "how-to" / "run-an-agent.md").read_text()
    agent = agents.agent(tmp_path, MovedClock(), HostileOperator(1))
    agent.pusher.metrics.clock_offset = 0  # known from the first answer on
    metrics = exposition(agent)().decode()
    asyncio.run(agent.aclose())

    alarmed = re.findall(r"mudra_agent_\w+(?:\{reason=\"\w+\"\})?", guide)

    assert len(set(alarmed)) == 8
    assert {name for name in alarmed if f"\n{name} " not in metrics} == set()
