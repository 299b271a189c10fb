"""The embedded PostgreSQL server: the default database.

    with embedded_server(data_dir) as url:
        ...  # postgresql://mudra_owner@/mudra?host=...&port=5432

It lives in the data directory, listens on a private Unix socket only, and runs
for as long as any process holds it: the service, its workers, a command next to
it. No one needs to stop it, and a holder that is killed leaves nothing behind
(`postgres_supervisor`).
"""

import json
import os
import select
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final
from urllib.parse import quote

import psycopg
from psycopg.sql import SQL, Identifier

from mudra.shared.child_environment import without_settings
from mudra.storage.database.embedded import locks as embedded_locks
from mudra.storage.database.embedded.postgres_supervisor import (
    CLUSTER,
    LOG,
    PORT,
    START_SECONDS,
    STOP_SECONDS,
    Task,
)
from mudra.storage.database.embedded.programs import MAJOR_VERSION, EmbeddedServerError, programs
from mudra.storage.database.roles import OWNER, SERVICE, Role, make_roles

DATABASE: Final = "mudra"
SUPERUSER: Final = "postgres"
_SOCKET_PATH_BYTES: Final = 107
_SOCKET_DIR_LINE: Final = 4
_LOG_TAIL_BYTES: Final = 2000


@contextmanager
def embedded_server(data_dir: Path) -> Iterator[str]:
    """Hold the server of this data directory and give its URL.

    Call it before any fork or event loop: it waits, up to seconds.

    Raises:
        EmbeddedServerError: it does not start.
    """
    server = EmbeddedServer(data_dir)
    url = server.hold()
    try:
        yield url
    finally:
        server.leave()


class EmbeddedServer:
    """One process's hold on the server of a data directory.

    `secured` makes the roles of the service and ends the superuser's sign-ins for good.
    """

    def __init__(self, data_dir: Path, *, secured: bool = False) -> None:
        self._data_dir: Final = data_dir.absolute()
        self._secured: Final = secured
        self._cluster: Final = self._data_dir / CLUSTER
        self._holding: int | None = None

    def hold(self) -> str:
        """Start the server unless it runs, make the database unless it is there; give its URL.

        The URL is the owner's once the roles are made, before that the superuser's.
        """
        found = programs()
        try:
            self._data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
            with embedded_locks.alone(self._data_dir):
                # Waits for a supervisor that is stopping the server, then keeps it from that.
                self._holding = embedded_locks.take_shared(self._data_dir, embedded_locks.HOLDERS)
                self._check_version()
                return self._reach(found)
        except OSError as error:
            self.leave()
            raise EmbeddedServerError(
                f"the data directory {self._data_dir} cannot be used: {error}; "
                "set MUDRA_DATA_DIR to a directory this user can write"
            ) from error
        except BaseException:
            self.leave()
            raise

    def leave(self) -> None:
        """Give up the hold. The last to leave returns when the server has stopped.

        It waits as long as the supervisor lets the server write: a slow disk takes its time.

        A process that is alone in its container takes the server with it when
        it ends, so it must not end sooner.
        """
        if self._holding is None:
            return
        with embedded_locks.alone(self._data_dir):
            self._replace_killed_supervisor()
            os.close(self._holding)
            self._holding = None
        deadline = time.monotonic() + STOP_SECONDS
        while self._may_be_stopping() and time.monotonic() < deadline:
            time.sleep(0.02)

    def heal(self) -> None:
        """Replace a supervisor that was killed; the new one starts the server where that died."""
        with embedded_locks.alone(self._data_dir):
            lock = embedded_locks.try_take(self._data_dir, embedded_locks.SUPERVISOR)
            if lock is not None:
                self._start_supervisor(programs(), lock)

    def _may_be_stopping(self) -> bool:
        """Return whether a supervisor runs unneeded; also while another starts or leaves."""
        alone = embedded_locks.try_take(self._data_dir, embedded_locks.START)
        if alone is None:
            return True
        try:
            return embedded_locks.is_held(
                self._data_dir, embedded_locks.SUPERVISOR
            ) and not embedded_locks.is_shared(self._data_dir, embedded_locks.HOLDERS)
        finally:
            os.close(alone)

    def _reach(self, programs: Path) -> str:
        deadline = time.monotonic() + START_SECONDS
        while True:
            lock = embedded_locks.try_take(self._data_dir, embedded_locks.SUPERVISOR)
            if lock is not None:
                self._start_supervisor(programs, lock)
            try:
                return self._ensure_database()
            except psycopg.OperationalError as error:
                # A supervisor may be starting the server again at this moment.
                if time.monotonic() > deadline:
                    raise self._failure(f"it does not answer: {error}") from error
            time.sleep(0.02)

    def _start_supervisor(self, programs: Path, lock: int) -> None:
        """Start a supervisor that owns `lock` from the start, and wait until the server runs."""
        try:
            task = Task(
                str(self._data_dir),
                str(programs),
                self._socket_base(),
                lock,
            )
            with subprocess.Popen(
                [sys.executable, "-P", "-m", "mudra.storage.database.embedded.postgres_supervisor"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                env=without_settings(os.environ),
                pass_fds=(lock,),
            ) as process:
                answer = _converse(process, task.to_json() + "\n")
        finally:
            os.close(lock)
        try:
            problem = json.loads(answer)
        except ValueError:
            problem = answer.strip() or f"no answer within {START_SECONDS} s"
        if problem:
            raise self._failure(str(problem))

    def _replace_killed_supervisor(self) -> None:
        """Leave no server behind: a supervisor that was killed gets a successor."""
        if not embedded_locks.is_held(self._data_dir, embedded_locks.ALIVE):
            return
        lock = embedded_locks.try_take(self._data_dir, embedded_locks.SUPERVISOR)
        if lock is not None:
            with suppress(EmbeddedServerError):  # leaving must not fail for it
                self._start_supervisor(programs(), lock)

    def _ensure_database(self) -> str:
        address = f"host={quote(self._socket_dir(), safe='')}&port={PORT}"
        owner = f"postgresql://{OWNER}@/{DATABASE}?{address}"
        superuser = f"postgresql://{SUPERUSER}@/{{}}?{address}"
        try:
            with psycopg.connect(superuser.format("postgres"), autocommit=True) as connection:
                query = "SELECT 1 FROM pg_database WHERE datname = %s"
                if connection.execute(query, [DATABASE]).fetchone() is None:
                    connection.execute(SQL("CREATE DATABASE {}").format(Identifier(DATABASE)))
        except psycopg.OperationalError:
            psycopg.connect(owner).close()  # the superuser signs in no longer, or nothing answers
            return owner
        if not self._secured:
            return superuser.format(DATABASE)
        make_roles(superuser.format(DATABASE), Role(OWNER), Role(SERVICE), close_superuser=True)
        return owner

    def _socket_dir(self) -> str:
        """Read from the running server: another holder may have another TMPDIR."""
        try:
            return (self._cluster / "postmaster.pid").read_text().splitlines()[_SOCKET_DIR_LINE]
        except (FileNotFoundError, IndexError) as error:
            raise psycopg.OperationalError("PostgreSQL has not started") from error

    def _socket_base(self) -> str:
        """Give where the socket goes when its path in the cluster would be too long."""
        name = f".s.PGSQL.{PORT}"
        if len(os.fsencode(self._cluster / "run" / name)) <= _SOCKET_PATH_BYTES:
            return ""
        found = self._data_dir.stat()
        base = Path(tempfile.gettempdir()) / f"mudra-{found.st_dev:x}-{found.st_ino:x}"
        if len(os.fsencode(base)) + len(f"-{2**32}/{name}") > _SOCKET_PATH_BYTES:
            raise EmbeddedServerError(
                f"{self._data_dir} and {base} are both too long for a Unix socket "
                f"({_SOCKET_PATH_BYTES} bytes): set MUDRA_DATA_DIR or TMPDIR to a shorter path"
            )
        return str(base)

    def _check_version(self) -> None:
        if not self._cluster.exists():
            return
        found = (self._cluster / "PG_VERSION").read_text().strip()
        if found != str(MAJOR_VERSION):
            raise EmbeddedServerError(
                f"{self._cluster} was written by PostgreSQL {found}, and this Mudra holds "
                f"PostgreSQL {MAJOR_VERSION}: dump it with the Mudra that wrote it and restore "
                "the dump here, or set MUDRA_DATABASE_URL to a database of your own"
            )

    def _failure(self, problem: str) -> EmbeddedServerError:
        log = self._data_dir / LOG
        tail = ""
        with suppress(FileNotFoundError):
            tail = log.read_bytes()[-_LOG_TAIL_BYTES:].decode(errors="replace").strip()
        return EmbeddedServerError(
            f"the embedded PostgreSQL in {self._cluster} cannot be used: {problem}. "
            "Set this right, or set MUDRA_DATABASE_URL to a database of your own. "
            f"The end of {log}:\n{tail}"
        )


def _converse(process: subprocess.Popen[bytes], task: str) -> str:
    """Hand over the task and read the answer, which may take START_SECONDS."""
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(task.encode())
    process.stdin.close()
    answer = b""
    deadline = time.monotonic() + START_SECONDS + 5
    while select.select([process.stdout], [], [], max(0, deadline - time.monotonic()))[0]:
        piece = os.read(process.stdout.fileno(), 4096)
        if not piece:
            break
        answer += piece
    return answer.decode(errors="replace")
