"""The data of an embedded server, and the process that serves it: start, find, stop.

Who may do which of these, and when, is decided in `server.py`.
"""

import os
import signal
import subprocess
import time
from contextlib import suppress
from pathlib import Path
from typing import Final

from mudra.storage.database.embedded import locks
from mudra.storage.database.embedded.account import (
    Account,
    Accounts,
    choose_accounts,
    private_directory,
)
from mudra.storage.database.embedded.programs import MAJOR_VERSION, EmbeddedServerError

LOG: Final = "postgres.log"
CLUSTER: Final = "postgres"
PORT: Final = 5432
STOP_SECONDS: Final = 60
"""What the server gets to write everything down, before it is stopped harder."""
INITDB: Final = (
    "--username=postgres",
    "--auth=trust",
    "--encoding=UTF8",
    "--locale=C",
    "--locale-provider=builtin",
    "--builtin-locale=C.UTF-8",
    "--no-instructions",
)
_GONE_SECONDS: Final = 5
"""How long the last children of a postmaster that is gone may take to end."""
_LOG_BYTES: Final = 8 * 1024 * 1024
_SETTINGS: Final = {
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
_ENVIRONMENT: Final = {"PATH": os.defpath, "LC_ALL": "C", "TZ": "UTC"}
_SOCKET_DIR_LINE: Final = 4
_STATUS_LINE: Final = 7


class Cluster:
    """The cluster of a data directory."""

    def __init__(self, data_dir: Path, socket_base: str = "") -> None:
        self._data_dir: Final = data_dir
        self._socket_base: Final = socket_base
        """Where the socket's directory goes; empty means into the cluster."""
        self.path: Final = data_dir / CLUSTER

    def check_version(self) -> None:
        """Raises EmbeddedServerError for data of another major version of PostgreSQL."""
        if not self.path.exists():
            return
        found = (self.path / "PG_VERSION").read_text().strip()
        if found != str(MAJOR_VERSION):
            raise EmbeddedServerError(
                f"{self.path} was written by PostgreSQL {found}, and this Mudra holds "
                f"PostgreSQL {MAJOR_VERSION}: dump it with the Mudra that wrote it and restore "
                "the dump here, or set MUDRA_DATABASE_URL to a database of your own"
            )

    def make(self, programs: Path, alive: int) -> None:
        """Makes the data where there is none; `alive` is the open file of that lock."""
        if self.path.exists():
            return
        accounts = choose_accounts(self._data_dir, self.path, programs)
        fresh = accounts.fresh_directory(self._data_dir / f"{CLUSTER}.new")
        made = subprocess.run(  # noqa: S603 - our own programs, no shell
            [*accounts.initdb.prefix, programs / "initdb", "-D", fresh, *INITDB],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            cwd="/",
            env=_ENVIRONMENT,
            pass_fds=(alive,),
            check=False,
        )
        if made.returncode != 0:
            problem = made.stderr.decode(errors="replace").strip()
            raise EmbeddedServerError(f"initdb failed: {problem}")
        accounts.give(fresh)
        # Only a whole cluster ever bears the name: a first start that is cut off begins again.
        fresh.rename(self.path)
        folder = os.open(self._data_dir, os.O_RDONLY)
        os.fsync(folder)
        os.close(folder)

    def start(self, programs: Path, alive: int) -> subprocess.Popen[bytes]:
        """Starts the server as a child of this process, which the lock in `alive` goes to."""
        if (other := self.postmaster()) is not None:
            raise EmbeddedServerError(
                f"PostgreSQL process {other} runs on {self.path} and was not started by Mudra: "
                "stop it (pg_ctl stop), then start again"
            )
        accounts = choose_accounts(self._data_dir, self.path, programs)
        accounts.give(self.path)
        self.shorten_log()
        # No one holds the lock of the living, so whatever has that ID now is not the server.
        (self.path / "postmaster.pid").unlink(missing_ok=True)
        settings = _SETTINGS | {"unix_socket_directories": self._socket_directory(accounts)}
        log = locks.open_private(self._data_dir, LOG, append=True)
        try:
            return subprocess.Popen(  # noqa: S603 - our own programs, no shell
                [
                    *accounts.server.prefix,
                    programs / "postgres",
                    "-D",
                    self.path,
                    *(f"--{name}={value}" for name, value in settings.items()),
                ],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd="/",
                env=_ENVIRONMENT,
                pass_fds=(alive,),
                start_new_session=True,  # Ctrl-C in a terminal is for Mudra alone
            )
        finally:
            os.close(log)

    def _socket_directory(self, accounts: Accounts) -> str:
        account: Account = accounts.server
        base = self._socket_base
        path = Path(f"{base}-{account.uid}") if base else self.path / "run"
        private_directory(path, account)
        # As with postmaster.pid: left by a server that was killed.
        (path / f".s.PGSQL.{PORT}.lock").unlink(missing_ok=True)
        quoted = str(path).replace('"', '""')
        return f'"{quoted}"'

    def socket_dir(self) -> str | None:
        """Returns where the running server listens, which another TMPDIR may have decided.

        None while it is not ready.
        """
        lines = self._pid_file()
        ready = len(lines) > _STATUS_LINE and lines[_STATUS_LINE].strip() == "ready"
        return lines[_SOCKET_DIR_LINE] if ready else None

    def _pid_file(self) -> list[str]:
        try:
            return (self.path / "postmaster.pid").read_text().splitlines()
        except FileNotFoundError:
            return []

    def postmaster(self) -> int | None:
        """Returns the postmaster's process ID where that process is one of this cluster."""
        lines = self._pid_file()
        if not lines or not lines[0].isdecimal():
            return None
        process = Path("/proc") / lines[0]
        try:
            if (process / "comm").read_text().strip() != "postgres":
                return None
            arguments = (process / "cmdline").read_bytes().split(b"\0")
            if os.fsencode(self.path) in arguments or (process / "cwd").samefile(self.path):
                return int(lines[0])
        except OSError:
            pass
        return None

    def stop(self) -> None:
        """Stops the server and returns when it is gone.

        It waits as long as the server writes: a slow disk takes its time. Returns at once for a
        server that this process may not stop, and soon for one that it cannot see.
        """
        for ending in (signal.SIGINT, signal.SIGQUIT, signal.SIGKILL):
            if not locks.is_held(self._data_dir, locks.ALIVE):
                return  # a server that runs without the lock is another's
            pid = self.postmaster()
            if pid is not None:
                with suppress(ProcessLookupError):
                    try:
                        os.kill(pid, ending)
                    except PermissionError:
                        return
            if self._is_gone_within(_GONE_SECONDS if pid is None else STOP_SECONDS):
                return

    def _is_gone_within(self, seconds: float) -> bool:
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if not locks.is_held(self._data_dir, locks.ALIVE):
                return True
            time.sleep(0.01)
        return False

    def shorten_log(self) -> None:
        """Keeps one older log. Shortened in place: the server appends to the same open file."""
        log = locks.open_private(self._data_dir, LOG, append=True)
        try:
            size = os.fstat(log).st_size
            if size <= _LOG_BYTES:
                return
            older = locks.open_private(self._data_dir, f"{LOG}.1")
            os.ftruncate(older, 0)
            os.pwrite(older, os.pread(log, _LOG_BYTES, size - _LOG_BYTES), 0)
            os.close(older)
            os.ftruncate(log, 0)
        finally:
            os.close(log)
