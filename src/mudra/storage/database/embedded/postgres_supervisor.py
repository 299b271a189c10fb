"""The supervisor: a small process of its own that starts the embedded server and stops it.

It outlives every holder: when the last one is gone, by whatever end, it gets
the holders' lock, stops PostgreSQL and exits. When PostgreSQL ends while it is
needed, it is started again. A supervisor that finds the server running (its
predecessor was killed) takes it over.

Run as `python -m mudra.storage.database.embedded.postgres_supervisor`, with a `Task` as JSON on
standard input; answers one line on standard output: empty when the server
runs, else what is wrong. Each start of the server waits for it, so it imports
the standard library alone, and little of that.
"""

import contextlib
import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import NamedTuple

from mudra.storage.database.embedded import locks as embedded_locks
from mudra.storage.database.embedded.account import (
    Account,
    AccountError,
    Accounts,
    choose_accounts,
    private_directory,
)

LOG = "postgres.log"
CLUSTER = "postgres"
PORT = 5432
START_SECONDS = 120
"""The most a start may take; only the recovery after a crash ever comes near."""
STOP_SECONDS = 60
"""What the server gets to write everything down, before it is stopped harder."""
_LOG_BYTES = 8 * 1024 * 1024
_LOG_CHECK_SECONDS = 60

_SETTINGS = {
    "listen_addresses": "",
    "port": str(PORT),
    "unix_socket_permissions": "0700",
    "max_connections": "200",
    "shared_buffers": "128MB",
    "synchronous_commit": "on",
    "jit": "off",
    "timezone": "UTC",
    "log_timezone": "UTC",
    "log_line_prefix": "%m [%p] ",
    # A statement, its parameters and the details of its error may hold what
    # no one should read in a log; the service reports its own errors.
    "log_min_messages": "log",
    "log_min_error_statement": "panic",
    "log_error_verbosity": "terse",
    "log_statement": "none",
    "log_parameter_max_length": "0",
    "log_parameter_max_length_on_error": "0",
}
INITDB = (
    "--username=postgres",
    "--auth=trust",
    "--encoding=UTF8",
    "--locale=C",
    "--locale-provider=builtin",
    "--builtin-locale=C.UTF-8",
    "--no-instructions",
)


class Task(NamedTuple):
    """What the holder that starts a supervisor hands to it."""

    data_dir: str
    programs: str
    socket_base: str
    """Where the socket's directory goes; empty means into the cluster."""
    lock: int
    """The open file that holds the supervisor's lock."""

    def to_json(self) -> str:
        """Write it as the supervisor reads it."""
        return json.dumps(self._asdict())


class StartError(Exception):
    """PostgreSQL did not start; the text says what it said."""


class PostgresSupervisor:
    """Keeps one server for as long as it is held."""

    def __init__(self, task: Task) -> None:
        self._task = task
        self._data_dir = Path(task.data_dir)
        self._cluster = self._data_dir / CLUSTER
        self._programs = Path(task.programs)
        self._log = embedded_locks.open_private(self._data_dir, LOG, append=True)
        self._older_log = embedded_locks.open_private(self._data_dir, f"{LOG}.1")
        self._child: subprocess.Popen[bytes] | None = None
        self._events: queue.Queue[tuple[str, int]] = queue.Queue()

    def bring_up(self) -> None:
        """Start the server, or take over the one that runs, and return when it is ready."""
        deadline = time.monotonic() + START_SECONDS
        while (alive := embedded_locks.try_take(self._data_dir, embedded_locks.ALIVE)) is None:
            # The lock without a postmaster is held by its last children, which are about to go.
            if self._postmaster() is not None and self._is_ready():
                return
            if time.monotonic() > deadline:
                raise StartError("processes of an earlier PostgreSQL are still there")
            time.sleep(0.01)
        self._start(alive)
        self._wait_until_ready(deadline)

    def keep(self) -> None:
        """Return when no one holds the server any longer and it has been stopped."""
        self._watch(embedded_locks.HOLDERS)
        self._watch(embedded_locks.ALIVE)
        while True:
            try:
                name, fd = self._events.get(timeout=_LOG_CHECK_SECONDS)
            except queue.Empty:
                self._rotate_log()
                continue
            if name == embedded_locks.HOLDERS:
                self._stop()
                os.close(self._task.lock)  # before the holders' lock: see EmbeddedServer
                os.close(fd)
                return
            self._reap()
            self._start(fd)
            self._wait_until_ready(time.monotonic() + START_SECONDS)
            self._watch(embedded_locks.ALIVE)

    def note(self, problem: str) -> None:
        """Write a line to the server's log."""
        os.write(self._log, f"supervisor: {problem}\n".encode())

    def _start(self, alive: int) -> None:
        """Start PostgreSQL and hand it the lock that shows that it lives."""
        try:
            accounts = choose_accounts(self._data_dir, self._cluster, self._programs)
            self._ensure_cluster(accounts, alive)
            accounts.give(self._cluster)
            self._rotate_log()
            # No one holds the lock of the living, so whatever has that id now is not the server.
            (self._cluster / "postmaster.pid").unlink(missing_ok=True)
            settings = _SETTINGS | {
                "unix_socket_directories": self._socket_directory(accounts.server)
            }
            self._child = subprocess.Popen(  # noqa: S603 - our own programs, no shell
                [
                    *accounts.server.prefix,
                    self._programs / "postgres",
                    "-D",
                    self._cluster,
                    *(f"--{name}={value}" for name, value in settings.items()),
                ],
                stdin=subprocess.DEVNULL,
                stdout=self._log,
                stderr=self._log,
                cwd="/",
                env=_ENVIRONMENT,
                pass_fds=(alive,),
            )
        finally:
            os.close(alive)

    def _ensure_cluster(self, accounts: Accounts, alive: int) -> None:
        if self._cluster.exists():
            return
        fresh = accounts.fresh_directory(self._data_dir / f"{CLUSTER}.new")
        made = subprocess.run(  # noqa: S603 - our own programs, no shell
            [*accounts.initdb.prefix, self._programs / "initdb", "-D", fresh, *INITDB],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            cwd="/",
            env=_ENVIRONMENT,
            pass_fds=(alive,),
            check=False,
        )
        if made.returncode != 0:
            raise StartError(f"initdb failed: {made.stderr.decode(errors='replace').strip()}")
        accounts.give(fresh)
        # Only a whole cluster ever bears the name: a first start that is cut off begins again.
        fresh.rename(self._cluster)
        folder = os.open(self._data_dir, os.O_RDONLY)
        os.fsync(folder)
        os.close(folder)

    def _socket_directory(self, account: Account) -> str:
        base = self._task.socket_base
        path = Path(f"{base}-{account.uid}") if base else self._cluster / "run"
        private_directory(path, account)
        # As with postmaster.pid: left by a server that was killed.
        (path / f".s.PGSQL.{PORT}.lock").unlink(missing_ok=True)
        quoted = str(path).replace('"', '""')
        return f'"{quoted}"'

    def _wait_until_ready(self, deadline: float) -> None:
        assert self._child is not None
        while not self._is_ready():
            if time.monotonic() > deadline:
                raise StartError(f"PostgreSQL is not ready after {START_SECONDS} s")
            with contextlib.suppress(subprocess.TimeoutExpired):
                status = self._child.wait(timeout=0.01)
                raise StartError(f"PostgreSQL ended at once with status {status}")

    def _is_ready(self) -> bool:
        lines = self._pid_file()
        return len(lines) > _STATUS_LINE and lines[_STATUS_LINE].strip() == "ready"

    def _pid_file(self) -> list[str]:
        try:
            return (self._cluster / "postmaster.pid").read_text().splitlines()
        except FileNotFoundError:
            return []

    def _postmaster(self) -> int | None:
        """Give the postmaster's process id, when that process is one of this cluster."""
        lines = self._pid_file()
        if not lines or not lines[0].isdecimal():
            return None
        pid = int(lines[0])
        if not Path("/proc/self/cmdline").exists():
            return pid
        try:
            arguments = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
        except (FileNotFoundError, ProcessLookupError):
            return None
        return pid if os.fsencode(self._cluster) in arguments else None

    def _watch(self, name: str) -> None:
        def wait() -> None:
            self._events.put((name, embedded_locks.take(self._data_dir, name)))

        threading.Thread(target=wait, daemon=True).start()

    def _stop(self) -> None:
        for ending in (signal.SIGINT, signal.SIGQUIT, signal.SIGKILL):
            pid = self._postmaster()
            if pid is not None:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, ending)
            with contextlib.suppress(queue.Empty):
                _, fd = self._events.get(timeout=STOP_SECONDS)
                os.close(fd)
                self._reap()
                return

    def _reap(self) -> None:
        if self._child is not None:
            self._child.wait()
            self._child = None

    def _rotate_log(self) -> None:
        """Keep one older log. Shortened in place: the server appends to the same open file."""
        size = os.fstat(self._log).st_size
        if size <= _LOG_BYTES:
            return
        os.ftruncate(self._older_log, 0)
        os.pwrite(self._older_log, os.pread(self._log, _LOG_BYTES, size - _LOG_BYTES), 0)
        os.ftruncate(self._log, 0)


_PROBLEMS = (StartError, AccountError, OSError, subprocess.SubprocessError)
_STATUS_LINE = 7
_ENVIRONMENT = {"PATH": os.defpath, "LC_ALL": "C", "TZ": "UTC"}


def main() -> None:
    """Keep the server that standard input describes."""
    task = Task(**json.loads(sys.stdin.readline()))
    if os.fork():  # the holder waits for this half only and gets no dead child later
        os._exit(0)
    os.setsid()  # Ctrl-C in the holder's terminal is for the holder
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    os.umask(0o077)
    os.chdir("/")
    try:
        supervisor = PostgresSupervisor(task)
        supervisor.bring_up()
    except _PROBLEMS as error:
        _answer(str(error))
        return
    _answer("")
    try:
        supervisor.keep()
    except _PROBLEMS as error:
        supervisor.note(str(error))


def _answer(problem: str) -> None:
    sys.stdout.write(json.dumps(problem) + "\n")
    sys.stdout.flush()
    # The holder reads to the end, and nothing of its terminal is kept open.
    null = os.open(os.devnull, os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(null, fd)
    os.close(null)


if __name__ == "__main__":
    main()
