"""A second PostgreSQL that follows the first, as a replica of an operator does."""

import contextlib
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psycopg
from tests.support.processes import children
from tests.support.until import PATIENCE_S, until

from mudra.storage.database.embedded.account import Account, choose_accounts
from mudra.storage.database.embedded.cluster import CLUSTER
from mudra.storage.database.embedded.programs import programs


@dataclass
class Standby:
    """A running standby; its log is applied as it comes unless that is paused."""

    url: str
    process: subprocess.Popen[bytes]

    def pause(self) -> None:
        """Apply no more of the primary's log."""
        self._say("SELECT pg_wal_replay_pause()")
        until(lambda: self._say("SELECT pg_get_wal_replay_pause_state()") == "paused")

    def resume(self) -> None:
        """Go on."""
        self._say("SELECT pg_wal_replay_resume()")

    def freeze(self) -> None:
        """Answer nothing, and keep every connection."""
        self._signal(signal.SIGSTOP)

    def thaw(self) -> None:
        """Answer again."""
        self._signal(signal.SIGCONT)

    def _signal(self, number: signal.Signals) -> None:
        for pid in (self.process.pid, *children(self.process.pid)):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)

    def _say(self, statement: str) -> object:
        with psycopg.connect(self.url, autocommit=True) as connection:
            row = connection.execute(statement.encode()).fetchone()
        return row and row[0]


@contextlib.contextmanager
def standby(primary: str, database: Path, folder: Path) -> Iterator[Standby]:
    """Copy the server whose data is in `database`, and follow it until the end of the block."""
    account = choose_accounts(database, database / CLUSTER, programs()).server
    folder.mkdir()
    sockets = Path(f"/tmp/mudra-standby-{os.getpid()}")
    sockets.mkdir(mode=0o700)
    for path in (folder, sockets):
        os.chown(path, account.uid, account.gid)
    data = folder / "cluster"
    words = ("--pgdata", str(data), "--dbname", primary, "-R", "-X", "stream", "--checkpoint=fast")
    _run(account, "pg_basebackup", *words)
    process = subprocess.Popen(
        [
            *(*account.prefix, str(programs() / "postgres"), "-D", str(data)),
            *("--listen_addresses=", f"--unix_socket_directories={sockets}"),
            "--max_connections=200",  # no fewer than the primary has
        ],
        stderr=(folder / "log").open("wb"),
        cwd="/",
    )
    url = psycopg.conninfo.make_conninfo(primary, host=str(sockets))
    try:
        _wait(url, process)
        yield Standby(url, process)
    finally:
        process.kill()
        process.wait(PATIENCE_S)
        shutil.rmtree(sockets, ignore_errors=True)


def _run(account: Account, program: str, *words: str) -> None:
    command = [*account.prefix, str(programs() / program), *words]
    subprocess.run(command, check=True, cwd="/", timeout=PATIENCE_S)


def _wait(url: str, process: subprocess.Popen[bytes]) -> None:
    def answers() -> bool:
        assert process.poll() is None, "the standby has ended"
        with contextlib.suppress(psycopg.OperationalError), psycopg.connect(url, connect_timeout=2):
            return True
        return False

    until(answers)
