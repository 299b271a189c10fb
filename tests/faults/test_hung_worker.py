"""A worker that is stopped is replaced; one that is only late is not."""

import os
import re
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest
from tests.support.agent.agent_process import free_port
from tests.support.http_clients import NO_TLS
from tests.support.process import running_service
from tests.support.processes import LISTENING, children, socket_states
from tests.support.service import Service

from mudra.bootstrap.node.heartbeat import Heartbeats, Report

SILENT_FOR = 30
STOPPED_FOR = 3
STOP_S = 35.0


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A node whose processes are stopped and killed, and are all there until the last test."""
    folder, port = tmp_path_factory.mktemp("hung"), free_port()
    with running_service(folder / "data", MUDRA_TELEMETRY_PORT=str(port)) as running:
        yield running


def worker_of(service: Service) -> int:
    """The process that takes connections."""
    port = int(service.root.rpartition(":")[2])
    states = socket_states(children(service.process.pid), port)
    (worker,) = (pid for pid, held in states.items() if LISTENING in held)
    return worker


def answers(service: Service) -> bool:
    return httpx2.get(f"{service.root}/livez", verify=NO_TLS).status_code == 200


def test_a_stopped_worker_is_replaced_within_5_s_and_that_is_said(service: Service) -> None:
    worker, before = worker_of(service), hung(service)
    os.kill(worker, signal.SIGSTOP)
    stopped = time.monotonic()
    service.wait_until(lambda: worker not in children(service.process.pid))
    noticed_s = time.monotonic() - stopped

    assert answers(service)
    assert noticed_s < 5 + 2  # where other tests run as well
    assert hung(service) == before + 1
    assert "process is hung, killing it" in (service.data_dir / "mudra.log").read_text()


def hung(service: Service) -> float:
    """How often the worker was replaced since it was hung."""
    port = service.environment["MUDRA_TELEMETRY_PORT"]
    figures = httpx2.get(f"http://127.0.0.1:{port}/metrics", verify=NO_TLS).text
    line = r'^mudra_process_restarts_total{cause="hung",process="worker-0"} (\S+)$'
    found = re.search(line, figures, re.MULTILINE)
    return float(found[1]) if found else 0.0


def test_a_stopped_supervisor_goes_on_and_replaces_what_died_meanwhile(service: Service) -> None:
    supervisor, worker = service.process.pid, worker_of(service)
    os.kill(supervisor, signal.SIGSTOP)
    os.kill(worker, signal.SIGKILL)
    service.wait_until(lambda: worker not in children(supervisor))

    assert answers(service)
    assert (
        "the supervisor is stopped, letting it go on"
        in (service.data_dir / "mudra.log").read_text()
    )


def test_a_stop_while_a_process_is_started_again_does_not_wait_for_it(tmp_path: Path) -> None:
    """One that dies at once is started a second later: a stop within that second is heard."""
    with running_service(tmp_path / "data") as service:
        supervisor = service.process.pid
        before = set(children(supervisor))
        os.kill(worker_of(service), signal.SIGKILL)
        service.wait_until(lambda: set(children(supervisor)) - before != set())
        (again,) = set(children(supervisor)) - before
        os.kill(again, signal.SIGKILL)  # it has not lived for a second
        service.process.send_signal(signal.SIGTERM)

        service.process.wait(STOP_S / 2)


def test_a_stop_does_not_wait_for_a_stopped_worker(service: Service) -> None:
    """The last test of the service, which ends with it."""
    os.kill(worker_of(service), signal.SIGSTOP)
    service.process.send_signal(signal.SIGTERM)

    service.process.wait(STOP_S / 2)


def test_a_process_that_is_only_late_gets_half_a_minute() -> None:
    beats = Heartbeats(lambda _: "R")
    report = Report(-1, beats, 0)

    assert not any(beats.is_hung(0, 1) for _ in range(2 * SILENT_FOR))  # it has not begun
    report.beat()
    assert not any(beats.is_hung(0, 1) for _ in range(SILENT_FOR))
    report.beat()
    assert not any(beats.is_hung(0, 1) for _ in range(SILENT_FOR))
    assert beats.is_hung(0, 1)


def test_a_stop_is_noticed_after_three_checks_and_forgotten_when_it_goes_on() -> None:
    state = "T"
    beats = Heartbeats(lambda _: state)

    assert [beats.is_hung(0, 1) for _ in range(STOPPED_FOR)] == [False, False, True]
    state = "S"
    assert not beats.is_hung(0, 1)
