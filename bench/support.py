"""A service under load, and what it costs: shared by the benchmarks."""

import asyncio
import contextlib
import itertools
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.parse
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Self, cast

from tests.support.database.template_database import prepare
from tests.support.forked_command import run_mudra
from tests.support.preloaded_program import ForkedProgram

from bench.sizes import SHORT
from mudra.storage.database.embedded.server import embedded_server

_LISTENS = re.compile(r"  listens +\S+:(?P<port>\d+)$", re.MULTILINE)
_LENGTH = re.compile(rb"\r\ncontent-length: (\d+)", re.IGNORECASE)
_PROGRAM = ("-c", "from mudra.bootstrap.entry_point import run; run()")
_TITLE = "mudra serve: "


def say(text: str) -> None:
    """Progress, apart from the figures."""
    print(f"  {datetime.now(UTC):%H:%M:%S} {text}", file=sys.stderr, flush=True)


class RunningService:
    """`mudra serve` as a process on a free port; a context manager.

    In a run of the smallest size it is forked from a process that has the code loaded.
    """

    module = ""
    """A benchmark that runs `mudra` with something added, in place of the program itself."""

    def __init__(self, data_dir: Path, *options: str, **variables: str) -> None:
        self._words = ["serve", "--port", "0", "--data-dir", str(data_dir), *options]
        # No proxy is in front that would need the pause to choose another node.
        ours = {"MUDRA_TELEMETRY_PORT": "0", "MUDRA_STOP_PAUSE_S": "0"}
        self._environment = {**os.environ, **ours, **variables}
        self._log = data_dir.parent / "service.log"
        self.port = 0
        self.pid = 0
        self.seconds_to_answer = 0.0

    def __enter__(self) -> Self:
        started = time.monotonic()
        self._process = self._start()
        assert self._process.stdout is not None
        for line in self._process.stdout:
            found = _LISTENS.search(line)
            if found:
                self.port = int(found["port"])
                break
        else:
            raise RuntimeError(f"the service did not start: {self._log.read_text()}")
        self.pid = self._process.pid
        self.seconds_to_answer = time.monotonic() - started
        return self

    def _start(self) -> "subprocess.Popen[str] | ForkedProgram":
        if SHORT:
            return ForkedProgram(
                self._words, self._environment, module=self.module, errors=self._log
            )
        program = ("-m", self.module) if self.module else _PROGRAM
        command = [sys.executable, *program, *self._words]
        with self._log.open("w") as log:
            return subprocess.Popen(
                command, stdout=subprocess.PIPE, stderr=log, text=True, env=self._environment
            )

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._process.send_signal(signal.SIGTERM)
        self._process.wait(60)
        assert self._process.stdout is not None
        self._process.stdout.close()


@contextmanager
def scratch(place: Path | None = None) -> Iterator[str]:
    """A folder that is removed at the end, by `rm`: Python takes ten times the CPU for it."""
    folder = tempfile.mkdtemp(dir=place)
    try:
        yield folder
    finally:
        subprocess.run(["rm", "-rf", folder], check=True)


def database_kept_up(data_dir: Path) -> AbstractContextManager[object]:
    """In a run of the smallest size the database runs on meanwhile: one start of it is enough."""
    return embedded_server(data_dir) if SHORT else nullcontext()


def data_directory(folder: str, name: str = "data") -> Path:
    """A data directory in `folder`; within a test run it has the database of that run."""
    path = Path(folder) / name
    prepare(path)
    return path


def copy_tree(source: Path, target: Path) -> None:
    """Copy a directory with its owners: Python's own copy takes three times the CPU."""
    subprocess.run(["cp", "-a", "--reflink=auto", str(source), str(target)], check=True)


def mudra(*words: str) -> str:
    """Run a command of mudra to its end; gives what it printed."""
    if SHORT:
        done = run_mudra(*words)
    else:
        environment = {k: v for k, v in os.environ.items() if not k.startswith("MUDRA_")}
        program = str(Path(sys.executable).with_name("mudra"))
        done = subprocess.run(
            [program, *words], check=False, text=True, stdout=subprocess.PIPE, env=environment
        )
    done.check_returncode()
    return done.stdout


def free_port() -> int:
    """A port that is free at this moment."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def form_request(path: str, **fields: str) -> bytes:
    """A POST of a form over a connection that stays open, ready to be sent."""
    body = urllib.parse.urlencode(fields).encode()
    return (
        f"POST {path} HTTP/1.1\r\nhost: 127.0.0.1\r\n"
        "content-type: application/x-www-form-urlencoded\r\n"
        f"content-length: {len(body)}\r\n\r\n"
    ).encode() + body


class Load:
    """Sends prepared requests over keep-alive connections and counts the answers.

    As cheap as Python allows, so that the service and not the load is what waits.
    """

    def __init__(self, port: int, requests: list[bytes], expect: bytes = b"HTTP/1.1 200") -> None:
        self._port = port
        self._requests = itertools.cycle(requests)
        self._expect = expect
        self.failed = 0
        self.latencies: list[float] = []
        """Seconds, of the last run."""

    async def run(self, connections: int, seconds: float) -> int:
        """Run for so long; gives the number of answers."""
        self.latencies = []
        until = time.monotonic() + seconds
        loop = asyncio.get_running_loop()
        talks = [
            (await loop.create_connection(lambda: _Talk(self, until), "127.0.0.1", self._port))[1]
            for _ in range(connections)
        ]
        await asyncio.gather(*(talk.ended for talk in talks))
        return len(self.latencies)

    def next_request(self) -> bytes:
        """Give what is asked next, on whichever connection."""
        return next(self._requests)

    def heard(self, answer: bytes, seconds: float) -> None:
        """Note an answer."""
        self.latencies.append(seconds)
        self.failed += not answer.startswith(self._expect)


class _Talk(asyncio.Protocol):
    """One connection: asks, reads the answer to its end, asks again until the time is up."""

    def __init__(self, load: Load, until: float) -> None:
        self._load = load
        self._until = until
        self._got = b""
        self._asked_at = 0.0
        self.ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)  # uvloop's is of another family
        self._ask()

    def data_received(self, data: bytes) -> None:
        self._got += data
        head, end, body = self._got.partition(b"\r\n\r\n")
        length = _LENGTH.search(head)
        if not end or (length and len(body) < int(length[1])):
            return
        self._load.heard(self._got, time.monotonic() - self._asked_at)
        self._got = b""
        if time.monotonic() < self._until:
            self._ask()
        else:
            self._transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        if self._got or exc:
            self._load.heard(b"cut off", 0.0)
        self.ended.set_result(None)

    def _ask(self) -> None:
        self._asked_at = time.monotonic()
        self._transport.write(self._load.next_request())


def worker_pids(supervisor: int, workers: int = 1) -> list[int]:
    """The processes that serve HTTP."""
    named = _named(supervisor)
    return [named[f"worker-{number}"] for number in range(workers)]


def jobs_pid(supervisor: int) -> int:
    """The process that runs the jobs."""
    return _named(supervisor)["jobs"]


def forks(supervisor: int) -> list[int]:
    """The supervisor's processes but PostgreSQL, in the order of their start."""
    return sorted(_named(supervisor).values())


def _named(supervisor: int) -> dict[str, int]:
    """The supervisor's processes by the names that `ps` shows."""
    found = {}
    for pid in Path(f"/proc/{supervisor}/task/{supervisor}/children").read_text().split():
        with contextlib.suppress(OSError):  # it has just ended
            title = Path(f"/proc/{pid}/cmdline").read_bytes().rstrip(b"\0").decode()
            if title.startswith(_TITLE):
                found[title.removeprefix(_TITLE)] = int(pid)
    return found


def cpu_seconds(pid: int) -> float:
    """CPU time of a process so far, in user and system.

    By the process's own clock (clock_getcpuclockid(3)): `/proc` counts hundredths of a second, in
    which a short form on a quick machine used nothing.
    """
    return time.clock_gettime(~pid << 3 | 2)


def cpu_of_tree(pid: int) -> float:
    """CPU seconds of a process and all below it, those that have ended included.

    Without the PostgreSQL of a node, which is counted by its own process.
    """
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    total = cpu_seconds(pid) + sum(int(fields[n]) for n in (13, 14)) / 100
    for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
        with contextlib.suppress(OSError):  # it has just ended
            if _is_postgres(pid) or not _is_postgres(int(child)):
                total += cpu_of_tree(int(child))
    return total


def _is_postgres(pid: int) -> bool:
    return Path(f"/proc/{pid}/comm").read_text() == "postgres\n"


def postmaster(data_dir: Path) -> int:
    """The process of a data directory's PostgreSQL."""
    (pid_file,) = data_dir.rglob("postmaster.pid")
    return int(pid_file.read_text().splitlines()[0])


def pss_mb(pid: int) -> float:
    """Proportional memory of a process in MB."""
    return _mb_of("smaps_rollup", pid, "Pss:")


def rss_mb(pid: int) -> float:
    """The memory of a process that is resident, in MB."""
    return _mb_of("status", pid, "VmRSS:")


def peak_rss_mb(pid: int) -> float:
    """The most memory of a process that was resident since it began, in MB."""
    return _mb_of("status", pid, "VmHWM:")


def _mb_of(file: str, pid: int, name: str) -> float:
    for line in Path(f"/proc/{pid}/{file}").read_text().splitlines():
        if line.startswith(name):
            return int(line.split()[1]) / 1000
    raise ValueError(f"no {name} of process {pid}")


def percentile(values: list[float], share: float) -> float:
    """The nearest-rank percentile."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]
