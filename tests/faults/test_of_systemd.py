"""What systemd gives, hears and kills: readiness, beats, a socket that outlives the service."""

import contextlib
import os
import re
import signal
import socket
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Self

import pytest
from tests.faults.side_by_side import SideBySide
from tests.support.database.backup_under_way import backup_under_way, dump_of
from tests.support.database.template_database import prepare
from tests.support.members import new_member
from tests.support.preloaded_program import ForkedProgram
from tests.support.process import running_service
from tests.support.processes import forked_by, users_of
from tests.support.until import PATIENCE_S, until

REQUEST = b"GET /livez HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
CALLERS = 4
DEPLOYED = Path("deploy/systemd")


class Manager:
    """The end of `NOTIFY_SOCKET` at which systemd reads."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.lines: list[str] = []
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.bind(f"\0{address[1:]}" if address.startswith("@") else address)
        self._socket.settimeout(0.1)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    def heard(self, line: str) -> bool:
        """Whether a line has come."""
        with contextlib.suppress(TimeoutError):
            self.lines += self._socket.recv(4096).decode().split("\n")
        return line in self.lines


def watched_by(manager: Manager) -> dict[str, str]:
    return {"NOTIFY_SOCKET": manager.address, "WATCHDOG_USEC": "30000000"}


def test_systemd_hears_what_the_node_does(tmp_path: Path) -> None:
    seen = tmp_path / "environment"
    key = {"MUDRA_MASTER_KEY_COMMAND": f"sh -c 'env > {seen}; echo {'A' * 43}='"}
    with (
        Manager(str(tmp_path / "notify")) as manager,
        running_service(tmp_path / "data", **watched_by(manager), **key) as service,
    ):
        place = service.root.removeprefix("http://")
        until(lambda: manager.heard("READY=1"))
        until(lambda: manager.heard("WATCHDOG=1"))
        until(lambda: manager.heard(f"STATUS=1 of 1 workers serve at {place}."))
        assert "STOPPING=1" not in manager.lines
        assert service.stop() == 0
        until(lambda: manager.heard("STOPPING=1"))

    inherited = seen.read_text()
    assert "MUDRA_MASTER_KEY_COMMAND" in inherited
    assert "NOTIFY_SOCKET" not in inherited
    assert "WATCHDOG_USEC" not in inherited
    assert manager.lines[0] == "STATUS=Starting: the database, its schema, then the workers."
    ready = manager.lines.index("READY=1")
    assert manager.lines[ready + 1] == f"STATUS=Answers at {place}."
    assert "WATCHDOG=1" not in manager.lines[:ready]


def test_no_beat_without_a_worker_that_serves(tmp_path: Path) -> None:
    with (
        Manager(f"@mudra-tests-{os.getpid()}") as manager,
        running_service(tmp_path / "data", **watched_by(manager)) as service,
    ):
        place = service.root.removeprefix("http://")
        whole, gone = (f"STATUS={n} of 1 workers serve at {place}." for n in (1, 0))
        until(lambda: manager.heard(whole))
        os.kill(forked_by(service.process.pid)["worker-0"], signal.SIGSTOP)
        until(lambda: manager.heard(gone))
        until(lambda: manager.heard("-") or manager.lines[-1] == whole)
        silent = manager.lines[manager.lines.index(gone) : -1]

    assert silent == [gone, "WATCHDOG=1"]  # the beat that comes with the worker


def kill_mode(file: str) -> str:
    """What a unit, or a command that makes one, says of its processes once the main one is stopped."""
    said = re.search(r"KillMode=([a-z-]+)", (DEPLOYED / file).read_text())
    return said[1] if said else "control-group"  # systemd.kill(5)


def end_unit(file: str, processes: set[int]) -> None:
    """Do to the rest of a unit's processes what systemd does, once the main one has ended."""
    if kill_mode(file) == "process":
        return
    for one in processes:
        with contextlib.suppress(ProcessLookupError):
            os.kill(one, signal.SIGKILL)


def postmaster(data_dir: Path) -> str:
    return (data_dir / "postgres" / "postmaster.pid").read_text().splitlines()[0]


@pytest.mark.slow
def test_a_backup_outlives_a_stop_of_the_node_and_what_is_left_ends_with_it(tmp_path: Path) -> None:
    data_dir = tmp_path / "data"
    with running_service(data_dir) as service:
        of_node = users_of(data_dir)
        with backup_under_way(data_dir, tmp_path / "kept") as backup:
            assert service.stop() == 0
            end_unit("mudra.service", of_node)
            backup.send_signal(signal.SIGCONT)
            assert backup.wait(PATIENCE_S) == 0
    until(lambda: not users_of(data_dir))


@pytest.mark.parametrize(
    "file", ["mudra-backup.service", "mudra-audit-verify.service", "mudra-command"]
)
@pytest.mark.slow
def test_a_node_keeps_the_database_that_a_command_started(file: str, tmp_path: Path) -> None:
    data_dir = tmp_path / "data"
    prepare(data_dir)
    with backup_under_way(data_dir, tmp_path / "kept") as backup:
        of_backup, before = users_of(data_dir), postmaster(data_dir)
        with running_service(data_dir) as service:
            backup.send_signal(signal.SIGCONT)
            assert backup.wait(PATIENCE_S) == 0
            end_unit(file, of_backup)
            assert new_member(service).secret()
            assert postmaster(data_dir) == before
    until(lambda: not users_of(data_dir))


def test_a_database_that_a_backup_started_has_not_its_low_priority(tmp_path: Path) -> None:
    """As its unit starts it: nodes may use that database afterwards."""
    unit = (DEPLOYED / "mudra-backup.service").read_text()
    options = re.search(r"^ExecStart=.* backup create (.*)$", unit, re.MULTILINE)
    assert options
    data_dir = tmp_path / "data"
    prepare(data_dir)
    with backup_under_way(data_dir, tmp_path / "kept", *options[1].split()) as backup:
        priorities = [
            os.getpriority(os.PRIO_PROCESS, one)
            for one in (int(postmaster(data_dir)), backup.pid, dump_of(backup))
        ]
    own = os.getpriority(os.PRIO_PROCESS, 0)

    assert not re.search(r"^(Nice|IOSchedulingClass|CPUSchedulingPolicy)=", unit, re.MULTILINE)
    assert priorities == [own, min(own + 10, 19), min(own + 10, 19)]


@pytest.mark.slow
def test_all_of_a_node_that_was_killed_alone_ends_by_itself(tmp_path: Path) -> None:
    data_dir = tmp_path / "data"
    with running_service(data_dir, "--workers", "2") as service:
        assert len(users_of(data_dir)) > 4
        service.process.kill()
        until(lambda: not users_of(data_dir))


class Callers(SideBySide):
    """Requests over a new connection each, all the time, none of which is repeated."""

    def __init__(self, port: int) -> None:
        self._port = port
        self.seen: Counter[str] = Counter()
        self.longest_s = 0.0
        super().__init__([self._call] * CALLERS)

    def _call(self) -> None:
        while not self.over.wait(0.06):
            began = time.monotonic()
            self.seen[self._ask()] += 1
            self.longest_s = max(self.longest_s, time.monotonic() - began)

    def _ask(self) -> str:
        try:
            with socket.create_connection(
                ("127.0.0.1", self._port), timeout=PATIENCE_S
            ) as connection:
                connection.sendall(REQUEST)
                return connection.recv(4096).partition(b"\r\n")[0].decode() or "closed"
        except OSError as error:
            return type(error).__name__


def bound(port: int = 0) -> socket.socket:
    listening = socket.socket()
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    listening.bind(("127.0.0.1", port))
    listening.listen(2048)
    return listening


@pytest.mark.parametrize("count", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_not_one_connection_is_refused_during_a_restart(count: int, tmp_path: Path) -> None:
    passed = [bound()]
    port = passed[0].getsockname()[1]
    passed += [bound(port) for _ in range(count - 1)]
    variables = {"MUDRA_WORKERS": "2", "MUDRA_STOP_PAUSE_S": "1"}
    with contextlib.ExitStack() as stack:
        for one in passed:
            stack.enter_context(one)
        with running_service(tmp_path, sandbox=False, passed=passed, **variables) as first:
            callers = stack.enter_context(Callers(port))
            until(lambda: callers.seen.total() > 20)
            assert first.root == f"http://127.0.0.1:{port}"
            assert first.stop() == 0
        stopped = callers.seen.total()
        with running_service(tmp_path, sandbox=False, passed=passed, **variables):
            until(lambda: callers.seen.total() > stopped + 20)
            callers.__exit__()

    assert set(callers.seen) == {"HTTP/1.1 200 OK"}, callers.seen
    assert callers.longest_s > 0.1  # some came while there was no one, and waited


def refused(tmp_path: Path, passed: Sequence[socket.socket], **variables: str) -> str:
    """What `mudra serve` says that does not start."""
    environment = os.environ | {"MUDRA_DATA_DIR": str(tmp_path / "data"), **variables}
    program = ForkedProgram(["serve"], environment, passed=passed)
    with program.stdout:
        said = " ".join(program.stdout.read().split())
    assert program.wait(PATIENCE_S) != 0
    assert not (tmp_path / "data").exists()
    return said


def test_what_cannot_be_served_is_refused_with_the_way_out(tmp_path: Path) -> None:
    with (
        bound() as one,
        bound() as other,
        socket.socket() as silent,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as datagrams,
        socket.socket(socket.AF_UNIX) as local,
        socket.socket() as public,
        (tmp_path / "file").open("w") as file,
    ):
        local.bind(str(tmp_path / "local"))
        local.listen()
        public.bind(("0.0.0.0", 0))
        public.listen()
        assert "descriptor 3, passed by LISTEN_FDS, is no listening stream socket" in refused(
            tmp_path, [silent]
        )
        assert "is no listening stream socket" in refused(tmp_path, [datagrams])
        assert "has no IP address" in refused(tmp_path, [local])
        assert "is no socket" in refused(tmp_path, [file])  # type: ignore[list-item]
        assert "ListenStream=PORT takes IPv4 and IPv6" in refused(tmp_path, [one, other])
        assert "or set MUDRA_WORKERS=1" not in refused(tmp_path, [one, one], MUDRA_WORKERS="3")
        said = refused(tmp_path, [public], MUDRA_PORT="8081")
        assert "MUDRA_PORT=8081 is not used: the passed socket holds" in said
        assert "MUDRA_BASE_URL must be https" in said
    assert "NOTIFY_SOCKET must begin with / or @" in refused(tmp_path, [], NOTIFY_SOCKET="x")
    assert "WatchdogSec=4 or more" in refused(
        tmp_path, [], NOTIFY_SOCKET="/x", WATCHDOG_USEC="1000000"
    )
