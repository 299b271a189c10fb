"""A running node repairs its embedded database, and is the only one on its data directory."""

import os
import signal

import pytest
from tests.faults.postgres.embedded_holder import is_gone, parent, postmaster
from tests.support.preloaded_program import ForkedProgram
from tests.support.process import running_service
from tests.support.processes import children, is_alive
from tests.support.until import PATIENCE_S, until


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

    assert second.wait(PATIENCE_S) == 1
    assert f"process {service.process.pid} already serves" in errors.read_text()
    assert "MUDRA_DATA_DIR" in errors.read_text()
    assert is_ready(service)


def test_a_node_starts_a_killed_postgresql_again(service):
    server = postmaster(service.data_dir)
    assert parent(service.data_dir) == service.process.pid

    os.kill(server, signal.SIGKILL)

    until(lambda: not is_ready(service))
    until(lambda: is_ready(service))
    assert postmaster(service.data_dir) != server
    assert parent(service.data_dir) == service.process.pid


def test_a_killed_supervisor_leaves_nothing_running(service):
    """Its children write what waits, then the last of them stops PostgreSQL."""
    os.kill(service.process.pid, signal.SIGKILL)

    until(lambda: is_gone(service.data_dir))


def test_the_next_start_uses_the_postgresql_that_a_killed_node_left_and_stops_it(tmp_path):
    data_dir = tmp_path / "data"
    with running_service(data_dir) as killed:
        server = postmaster(data_dir)
        others = {killed.process.pid, *children(killed.process.pid)} - {server}
        for pid in others:
            os.kill(pid, signal.SIGKILL)
        until(lambda: not any(map(is_alive, others)))
        with running_service(data_dir) as next_one:
            assert postmaster(data_dir) == server
            assert is_ready(next_one)
            os.kill(server, signal.SIGKILL)
            until(lambda: not is_ready(next_one))
            until(lambda: is_ready(next_one))
            next_one.stop()
        assert is_gone(data_dir)
