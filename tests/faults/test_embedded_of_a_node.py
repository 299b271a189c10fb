"""A running node repairs its embedded database, and is the only one on its data directory."""

import os
import signal
import subprocess
import sys

import pytest
from tests.support.database.embedded_holder import is_gone, postmaster, supervisor
from tests.support.service import running_service
from tests.support.until import until

RUN = "from mudra.bootstrap.command_line import run; run()"


@pytest.fixture
def service(tmp_path):
    with running_service(tmp_path / "data") as running:
        yield running


def is_ready(service):
    return service.client().get(f"{service.root}/readyz").status_code == 200


def test_a_node_heals_its_database_when_supervisor_and_postmaster_were_killed(service):
    server = postmaster(service.data_dir)
    os.kill(supervisor(service.data_dir), signal.SIGKILL)
    os.kill(server, signal.SIGKILL)

    until(lambda: not is_ready(service), 10)
    until(lambda: is_ready(service), 10)

    assert postmaster(service.data_dir) != server
    service.stop()
    assert is_gone(service.data_dir)


def test_a_second_node_on_one_data_directory_is_refused_by_name(service):
    second = subprocess.run(
        [sys.executable, "-c", RUN, "serve", "--sandbox", "--port", "0"],
        env=service.environment,
        capture_output=True,
        check=False,
        text=True,
        timeout=60,
    )

    assert second.returncode == 1
    assert f"process {service.process.pid} already serves" in second.stderr
    assert "MUDRA_DATA_DIR" in second.stderr
    assert is_ready(service)
