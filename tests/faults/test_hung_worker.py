"""A worker that is stopped is replaced; one that is only late is not (issue 17, k)."""

import os
import signal
import time
from pathlib import Path

import httpx
from tests.support.agent.agent_process import free_port
from tests.support.processes import children
from tests.support.service import NO_TLS, running_service

from mudra.bootstrap.node.heartbeat import SILENT_FOR, STOPPED_FOR, Heartbeats, Report
from mudra.bootstrap.node.supervisor import STOP_S


def test_a_stopped_worker_is_replaced_within_5_s_and_that_is_said(tmp_path: Path) -> None:
    port = free_port()
    with running_service(tmp_path / "data", MUDRA_TELEMETRY_PORT=str(port)) as service:
        worker = children(service.process.pid)[0]
        os.kill(worker, signal.SIGSTOP)
        stopped = time.monotonic()
        service.wait_until(lambda: worker not in children(service.process.pid), 20)
        noticed_s = time.monotonic() - stopped
        answer = httpx.get(f"{service.root}/livez", timeout=20, verify=NO_TLS)
        figures = httpx.get(f"http://127.0.0.1:{port}/metrics", verify=NO_TLS).text
        log = (service.data_dir / "mudra.log").read_text()

    assert answer.status_code == 200
    assert noticed_s < 5 + 2  # where other tests run as well
    assert 'mudra_process_restarts_total{cause="hung",process="worker-0"} 1.0' in figures
    assert "process is hung, killing it" in log


def test_what_a_process_measured_last_ends_with_it(tmp_path: Path) -> None:
    """Else an alarm that it raised would stay until the node is started again."""
    with running_service(tmp_path / "data") as service:
        jobs = children(service.process.pid)[1]
        gauges = f"telemetry/gauge_live*_{jobs}.db"
        service.wait_until(lambda: bool(list(service.data_dir.glob(gauges))))
        os.kill(jobs, signal.SIGKILL)
        service.wait_until(lambda: not list(service.data_dir.glob(gauges)))

        assert list(service.data_dir.glob(f"telemetry/counter_{jobs}.db"))


def test_a_stop_while_a_process_is_started_again_does_not_wait_for_it(tmp_path: Path) -> None:
    """One that dies at once is started a second later: a stop within that second is heard."""
    with running_service(tmp_path / "data") as service:
        supervisor = service.process.pid
        worker = children(supervisor)[0]
        os.kill(worker, signal.SIGKILL)
        service.wait_until(lambda: set(children(supervisor)) - {worker} != set())
        service.wait_until(lambda: worker not in children(supervisor))
        os.kill(max(children(supervisor)), signal.SIGKILL)  # it has not lived for a second
        service.process.send_signal(signal.SIGTERM)

        service.process.wait(STOP_S / 2)


def test_a_stopped_supervisor_goes_on_and_replaces_what_died_meanwhile(tmp_path: Path) -> None:
    with running_service(tmp_path / "data") as service:
        supervisor = service.process.pid
        worker = children(supervisor)[0]
        os.kill(supervisor, signal.SIGSTOP)
        os.kill(worker, signal.SIGKILL)
        service.wait_until(lambda: worker not in children(supervisor), 20)
        answer = httpx.get(f"{service.root}/livez", timeout=20, verify=NO_TLS)
        log = (service.data_dir / "mudra.log").read_text()

    assert answer.status_code == 200
    assert "the supervisor is stopped, letting it go on" in log


def test_a_stop_does_not_wait_for_a_stopped_worker(tmp_path: Path) -> None:
    with running_service(tmp_path / "data") as service:
        os.kill(children(service.process.pid)[0], signal.SIGSTOP)
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
