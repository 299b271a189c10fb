"""A running node repairs its embedded database, and is the only one on its data directory."""

import os
import signal

import pytest
from tests.faults.postgres.embedded_holder import is_gone, postmaster, supervisor
from tests.support.preloaded_program import ForkedProgram
from tests.support.process import running_service
from tests.support.until import until


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    with running_service(tmp_path_factory.mktemp("node") / "data") as running:
        yield running


def is_ready(service):
    return service.client().get(f"{service.root}/readyz").status_code == 200


def test_a_second_node_on_one_data_directory_is_refused_by_name(service, tmp_path):
    errors = tmp_path / "errors"
    second = ForkedProgram(
        ["serve", "--sandbox", "--port", "0"], service.environment, errors=errors
    )
    with second.stdout:
        second.stdout.read()

    assert second.wait(60) == 1
    assert f"process {service.process.pid} already serves" in errors.read_text()
    assert "MUDRA_DATA_DIR" in errors.read_text()
    assert is_ready(service)


def test_a_node_heals_its_database_when_supervisor_and_postmaster_were_killed(service):
    server = postmaster(service.data_dir)
    os.kill(supervisor(service.data_dir), signal.SIGKILL)
    os.kill(server, signal.SIGKILL)

    until(lambda: not is_ready(service), 10)
    until(lambda: is_ready(service), 10)

    assert postmaster(service.data_dir) != server
    service.stop()
    assert is_gone(service.data_dir)
