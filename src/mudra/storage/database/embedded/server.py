"""The embedded PostgreSQL server: the default database.

    with embedded_server(data_dir) as url:
        ...  # postgresql://mudra_owner@/mudra?host=...&port=5432

It lives in the data directory and listens on a private Unix socket only. The first that needs it
starts it as its own child: the supervisor of a node, or a command. Others use its socket. The last
that leaves stops it, also where another has started it. One whose starter was killed goes on, and
the next that needs it uses it as it is.
"""

import os
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final
from urllib.parse import quote

import psycopg
from psycopg.sql import SQL, Identifier

from mudra.storage.database.embedded import locks
from mudra.storage.database.embedded.account import AccountError
from mudra.storage.database.embedded.cluster import CLUSTER, LOG, PORT, Cluster
from mudra.storage.database.embedded.programs import EmbeddedServerError, programs
from mudra.storage.database.schema.roles import OWNER, SERVICE, Role, make_roles

DATABASE: Final = "mudra"
SUPERUSER: Final = "postgres"
START_SECONDS: Final = 120
"""The most a start may take; only the recovery after a crash ever comes near."""
_SOCKET_PATH_BYTES: Final = 107
_LOG_TAIL_BYTES: Final = 2000
_MAKING: Final = 0x6D75647261
"""Advisory lock of those that make the database and its roles."""


@contextmanager
def embedded_server(data_dir: Path) -> Iterator[str]:
    """Holds the server of this data directory and gives its URL.

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
        self._cluster: Cluster
        self._programs: Path
        self._holding: int | None = None
        self._child: subprocess.Popen[bytes] | None = None

    def hold(self) -> str:
        """Starts the server unless it runs, makes the database unless it is there; gives its URL.

        The URL is the owner's once the roles are made, before that the superuser's.
        """
        self._programs = programs()
        try:
            self._data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._cluster = Cluster(self._data_dir, self._socket_base())
            # Waits for one that is stopping the server, then keeps others from that.
            self._holding = locks.share(self._data_dir, locks.HOLDERS)
            self._cluster.check_version()
            return self._reach()
        except OSError as error:
            with suppress(OSError):
                self.leave()
            raise EmbeddedServerError(
                f"the data directory {self._data_dir} cannot be used: {error}; "
                "set MUDRA_DATA_DIR to a directory this user can write"
            ) from error
        except BaseException:
            self.leave()
            raise

    def hold_in_child(self) -> None:
        """Gives this forked process a hold of its own, so that the last of a killed node stops it.

        `leave` ends it.
        """
        inherited, self._child = self._holding, None
        self._holding = locks.share(self._data_dir, locks.HOLDERS)
        assert inherited is not None
        os.close(inherited)

    def leave(self) -> None:
        """Gives up the hold. The last to leave stops the server and returns when it has ended.

        A process that is alone in its container takes the server with it when it ends, so it must
        not end sooner.
        """
        if self._holding is None:
            return
        try:
            if locks.take_alone(self._holding):
                self._cluster.stop()
                if self._child is not None:
                    self._child.wait()
        finally:
            os.close(self._holding)
            self._holding = None

    def restart(self) -> bool:
        """Starts the server where it has died, without waiting; returns whether it did.

        To be called every now and then by a process that holds it; also keeps its log short.
        Raises EmbeddedServerError where it cannot be started.
        """
        try:
            self._cluster.shorten_log()
            return self._started()
        except OSError as error:
            raise EmbeddedServerError(str(error)) from error

    def _reach(self) -> str:
        deadline = time.monotonic() + START_SECONDS
        problem = "it is not ready"
        while True:
            self._started(make=True)
            try:
                if (folder := self._cluster.socket_dir()) is not None:
                    return self._ensure_database(folder)
            except psycopg.OperationalError as error:
                problem = f"it does not answer: {error}"
            if self._child is not None and (status := self._child.poll()) is not None:
                raise self._failure(f"PostgreSQL ended at once with status {status}")
            if time.monotonic() > deadline:
                raise self._failure(f"{problem}, after {START_SECONDS} s")
            time.sleep(0.01)

    def _started(self, *, make: bool = False) -> bool:
        """Starts the server unless it runs; a lock without one is of its last, dying children."""
        alive = locks.try_take(self._data_dir, locks.ALIVE)
        if alive is None:
            return False
        try:
            if make:
                self._cluster.make(self._programs, alive)
            self._child = self._cluster.start(self._programs, alive)
        except (AccountError, EmbeddedServerError, subprocess.SubprocessError) as error:
            raise self._failure(str(error)) from error
        finally:
            os.close(alive)
        return True

    def _ensure_database(self, folder: str) -> str:
        address = f"host={quote(folder, safe='')}&port={PORT}"
        owner = f"postgresql://{OWNER}@/{DATABASE}?{address}"
        superuser = f"postgresql://{SUPERUSER}@/{{}}?{address}"
        try:
            connection = psycopg.connect(superuser.format("postgres"), autocommit=True)
        except psycopg.OperationalError:
            psycopg.connect(owner).close()  # the superuser signs in no longer, or nothing answers
            return owner
        with connection:
            connection.execute("SELECT pg_advisory_lock(%s)", [_MAKING])  # until it is closed
            query = "SELECT 1 FROM pg_database WHERE datname = %s"
            if connection.execute(query, [DATABASE]).fetchone() is None:
                connection.execute(SQL("CREATE DATABASE {}").format(Identifier(DATABASE)))
            made = superuser.format(DATABASE)
            if not self._secured:
                return made
            make_roles(made, Role(OWNER), Role(SERVICE), close_superuser=True)
        return owner

    def _socket_base(self) -> str:
        """Returns where the socket goes when its path in the cluster would be too long."""
        name = f".s.PGSQL.{PORT}"
        if len(os.fsencode(self._data_dir / CLUSTER / "run" / name)) <= _SOCKET_PATH_BYTES:
            return ""
        found = self._data_dir.stat()
        base = Path(tempfile.gettempdir()) / f"mudra-{found.st_dev:x}-{found.st_ino:x}"
        if len(os.fsencode(base)) + len(f"-{2**32}/{name}") > _SOCKET_PATH_BYTES:
            raise EmbeddedServerError(
                f"{self._data_dir} and {base} are both too long for a Unix socket "
                f"({_SOCKET_PATH_BYTES} bytes): set MUDRA_DATA_DIR or TMPDIR to a shorter path"
            )
        return str(base)

    def _failure(self, problem: str) -> EmbeddedServerError:
        log = self._data_dir / LOG
        tail = ""
        with suppress(FileNotFoundError):
            tail = log.read_bytes()[-_LOG_TAIL_BYTES:].decode(errors="replace").strip()
        return EmbeddedServerError(
            f"the embedded PostgreSQL in {self._cluster.path} cannot be used: {problem}. "
            "Set this right, or set MUDRA_DATABASE_URL to a database of your own. "
            f"The end of {log}:\n{tail}"
        )
