"""Faults that `bench/faults.py` makes at a node: each breaks a part and repairs it in one call."""

import contextlib
import os
import random
import shutil
import signal
import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, Final

import httpx2
import psycopg
from tests.support.process import running_service
from tests.support.processes import children, command_of, forked_by
from tests.support.service import Service
from tests.support.smtp_sink import SmtpSink

from bench.alert_faults import Other, output_kept
from bench.lasting_faults import ROOM, resize, small_disk
from bench.moved_clock_faults import mail_server
from bench.support import free_port, postmaster
from mudra.storage.database.embedded.server import embedded_server

WORKERS: Final = 2
IS_ROOT: Final = os.geteuid() == 0
"""Only root may have a disk of its own, which can be full."""
_STARTS: Final = 5
_STOPPED_S: Final = (1.0, 6.0)
_FULL_S: Final = (1.0, 4.0)
_AWAY_S: Final = (2.0, 6.0)
_MIB: Final = 1 << 20
_OTHERS: Final = "datname IS NOT NULL AND pid <> pg_backend_pid()"


class Node:
    """A node of two workers over its embedded PostgreSQL, on a disk and with a mail server."""

    def __init__(self, folder: Path, dice: random.Random) -> None:
        self.folder, self.dice = folder, dice
        self.disk = folder / "disk"
        self.data_dir = self.disk / "data"
        self.sink = SmtpSink()
        self._smtp = free_port()
        self.mail = Other(partial(mail_server, self._smtp, self.sink))
        self._held = contextlib.ExitStack()
        self.service: Service

    @contextlib.contextmanager
    def running(self) -> Iterator[None]:
        """Run it until the end of the block."""
        with contextlib.ExitStack() as end:
            if IS_ROOT:
                end.enter_context(small_disk(self.disk))
            end.enter_context(self.mail.listening())
            end.callback(self._held.close)
            self.start(0)
            yield

    def start(self, port: int) -> None:
        """Start it, once more where a start fails, as a service manager does."""
        variables: dict[str, Any] = {
            "MUDRA_SMTP_URL": f"smtp://127.0.0.1:{self._smtp}",
            "MUDRA_SANDBOX": "true",  # for commands, which know no option of the service
            "MUDRA_REGISTRY_WRITES_PER_HOUR": "100000",
            "MUDRA_ENTITY_TOKEN_RATE": "100000+100000",
        }
        words = ("--workers", str(WORKERS))
        for left in reversed(range(_STARTS)):
            try:
                self.service = self._held.enter_context(
                    running_service(self.data_dir, *words, port=port, **variables)
                )
            except AssertionError:
                if not left:
                    raise
            else:
                break
        log = self.folder / f"service-{self.service.process.pid}.log"
        self._held.enter_context(output_kept(self.service.process.stdout, log))

    def start_again(self) -> None:
        """Start it at its port, once it has ended."""
        self.service.process.wait(60)
        port = int(self.service.root.rpartition(":")[2])
        self._held.close()
        self.start(port)

    @contextlib.contextmanager
    def database(self) -> Iterator[psycopg.Connection[tuple[object, ...]]]:
        """Connect as the superuser."""
        with embedded_server(self.data_dir) as url, psycopg.connect(url) as connection:
            yield connection

    def processes(self) -> dict[str, int]:
        """Its processes by name, once all are there."""
        names = {"jobs", *(f"worker-{number}" for number in range(WORKERS))}

        def there() -> dict[str, int]:
            found = forked_by(self.service.process.pid)
            return found if names <= found.keys() else {}

        return self.service.wait_until(there)

    def advance(self, duration: str) -> None:
        """Move its clock on; again where no answer comes."""

        def moved() -> bool:
            with contextlib.suppress(httpx2.TransportError):
                self.service.advance(duration)
                return True
            return False

        self.service.wait_until(moved)

    def for_a_while(self, between: tuple[float, float]) -> None:
        """Wait as long as the dice say."""
        time.sleep(self.dice.uniform(*between))


def _send(number: signal.Signals, pids: Iterable[int]) -> None:
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)


def _worker(node: Node) -> int:
    return node.processes()[f"worker-{node.dice.randrange(WORKERS)}"]


def _worker_killed(node: Node) -> None:
    _send(signal.SIGKILL, [_worker(node)])


def _jobs_killed(node: Node) -> None:
    _send(signal.SIGKILL, [node.processes()["jobs"]])


def _supervisor_killed(node: Node) -> None:
    _send(signal.SIGKILL, [node.service.process.pid])
    node.start_again()


def _node_killed(node: Node) -> None:
    """The supervisor, its processes and the keeper of its PostgreSQL, which then ends."""
    pid = node.service.process.pid
    _send(signal.SIGKILL, [pid, *children(pid)])
    node.start_again()


def _node_stopped(node: Node) -> None:
    _send(signal.SIGTERM, [node.service.process.pid])
    node.start_again()


def _postmaster_killed(node: Node) -> None:
    _send(signal.SIGKILL, [postmaster(node.data_dir)])


def _backend_killed(node: Node) -> None:
    """PostgreSQL ends all connections and recovers."""
    backends = [
        pid
        for pid in children(postmaster(node.data_dir))
        if "127.0.0.1" in command_of(pid) or "[local]" in command_of(pid)
    ]
    _send(signal.SIGKILL, [node.dice.choice(backends)])


def _connections_ended(node: Node) -> None:
    with node.database() as connection:
        connection.execute(
            f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE {_OTHERS}".encode()
        )


def _stopped(node: Node, pids: list[int]) -> None:
    _send(signal.SIGSTOP, pids)
    try:
        node.for_a_while(_STOPPED_S)
    finally:
        _send(signal.SIGCONT, pids)


def _database_stopped(node: Node) -> None:
    first = postmaster(node.data_dir)
    _stopped(node, [first, *children(first)])


def _worker_stopped(node: Node) -> None:
    _stopped(node, [_worker(node)])


def _jobs_stopped(node: Node) -> None:
    _stopped(node, [node.processes()["jobs"]])


def _disk_full(node: Node) -> None:
    used = shutil.disk_usage(node.disk).used
    resize(node.disk, f"{used // _MIB + 1}m")
    try:
        node.for_a_while(_FULL_S)
    finally:
        resize(node.disk, ROOM)


def _mail_away(node: Node) -> None:
    with node.mail.away():
        node.for_a_while(_AWAY_S)


def _clock_moved(node: Node) -> None:
    node.advance(f"PT{node.dice.randrange(1, 20)}M")


FAULTS: Final[dict[str, Callable[[Node], None]]] = {
    "kill -9 of a worker": _worker_killed,
    "kill -9 of the jobs": _jobs_killed,
    "kill -9 of the supervisor": _supervisor_killed,
    "kill -9 of all of the node": _node_killed,
    "SIGTERM of the node, and its start": _node_stopped,
    "kill -9 of the postmaster": _postmaster_killed,
    "kill -9 of one backend": _backend_killed,
    "all connections of the database ended": _connections_ended,
    "PostgreSQL stopped for 1 to 6 s": _database_stopped,
    "a worker stopped for 1 to 6 s": _worker_stopped,
    "the jobs stopped for 1 to 6 s": _jobs_stopped,
    "disk full for 1 to 4 s": _disk_full,
    "mail server away for 2 to 6 s": _mail_away,
    "clock moved by 1 to 19 minutes": _clock_moved,
}
if not IS_ROOT:
    del FAULTS["disk full for 1 to 4 s"]
