"""pg_dump and pg_restore as streams: nothing that was not encrypted is written to a disk.

The programs are of PostgreSQL 18 and work with servers from 15 on. A server before 17 refuses what
pg_restore 18 sends, so a restore to one takes a way of its own (`restore_before_17`).
"""

import contextlib
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Final, NamedTuple

import psycopg

from mudra.storage.backup.client_programs import client_programs, encrypted_as, environment, way_out
from mudra.storage.database.schema.roles import without

_DUMP: Final = ("--format=custom", "--no-owner", "--no-privileges")
_RESTORE: Final = ("--no-owner", "--no-privileges", "--single-transaction", "--exit-on-error")
_TAIL: Final = 600
_LOCK: Final = 0x6D756261636B
_UNREADABLE: Final = """
SELECT current_user, min(relname) FROM pg_class
WHERE relkind IN ('r', 'p', 'S') AND relnamespace = current_schema()::regnamespace
    AND NOT has_table_privilege(oid, 'SELECT')
HAVING count(*) > 0
"""
_VERSION_17: Final = 170_000
_BEFORE_17: Final = "mudra.storage.backup.restore_before_17"


class DumpFailed(Exception):
    """pg_dump or pg_restore ended with an error; the text is the end of what it said."""


@contextlib.contextmanager
def only_backup(conninfo: str) -> Iterator[None]:
    """Hold what one backup of a service holds until the end of the block.

    Each backup writes its name into the database before it reads it: of two at once the first
    would have the name of the second one, and no restore would take it. Raises DumpFailed.
    """
    # In a transaction, not in a session: so it holds behind PgBouncer too. It reads and writes
    # nothing, keeps no row from being cleaned up, and has nothing to commit.
    with contextlib.closing(psycopg.connect(conninfo, connect_timeout=5)) as connection:
        connection.execute("SET LOCAL idle_in_transaction_session_timeout = 0")
        row = connection.execute("SELECT pg_try_advisory_xact_lock(%s)", [_LOCK]).fetchone()
        if row is None or not row[0]:
            raise DumpFailed(
                "another backup of this service is being made: run it again when that has ended"
            )
        yield


def unreadable_part(conninfo: str) -> tuple[str, str] | None:
    """Return the role of an address, and a table or sequence that it may not read, if any."""
    with psycopg.connect(conninfo, connect_timeout=5) as connection:
        row = connection.execute(_UNREADABLE).fetchone()
    return None if row is None else (str(row[0]), str(row[1]))


@contextlib.contextmanager
def dumping(conninfo: str) -> Iterator[IO[bytes]]:
    """Give what pg_dump writes, of one snapshot; raises DumpFailed at the end."""
    way = _way(conninfo)
    command: Sequence[str | Path] = [way.programs / "pg_dump", *_DUMP, way.option]
    with _running(command, environment(way.programs, way.password), writes=True) as stream:
        yield stream


@contextlib.contextmanager
def restoring(conninfo: str) -> Iterator[IO[bytes]]:
    """Take a dump and restore it whole or not at all; raises DumpFailed at the end.

    An exception within the block kills pg_restore, whose transaction is rolled back.
    """
    way = _way(conninfo)
    command: Sequence[str | Path] = [way.programs / "pg_restore", *_RESTORE, way.option]
    variables = environment(way.programs, way.password)
    if way.before_17:
        command = [sys.executable, "-P", "-m", _BEFORE_17, way.programs, way.address]
        variables = environment(None, way.password)
    with _running(command, variables, writes=False) as stream:
        yield stream


@contextlib.contextmanager
def _running(
    command: Sequence[str | Path], variables: Mapping[str, str], *, writes: bool
) -> Iterator[IO[bytes]]:
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(  # noqa: S603 - our own programs, no shell
            command,
            stdin=subprocess.DEVNULL if writes else subprocess.PIPE,
            stdout=subprocess.PIPE if writes else subprocess.DEVNULL,
            stderr=said,
            env=variables,
        )
        stream = process.stdout if writes else process.stdin
        assert stream is not None
        try:
            yield stream
            with contextlib.suppress(BrokenPipeError):  # it said why on its way out
                stream.close()
            failed = process.wait() != 0
        except BrokenPipeError:
            failed = process.wait() != 0
        except BaseException:
            process.kill()
            with contextlib.suppress(BrokenPipeError):
                stream.close()
            process.wait()
            raise
        if failed:
            said.seek(0)
            text = " ".join(said.read().decode(errors="replace").split())
            name = "pg_dump" if writes else "pg_restore"
            raise DumpFailed(f"{name}: {text[-_TAIL:]}{way_out(text)}")


class _Way(NamedTuple):
    """The programs, and how they reach a server."""

    programs: Path
    address: str
    password: str
    before_17: bool

    @property
    def option(self) -> str:
        return f"--dbname={self.address}"


def _way(conninfo: str) -> _Way:
    try:
        with psycopg.connect(conninfo, connect_timeout=5) as connection:
            return _Way(
                client_programs(),
                without(conninfo, "password", **encrypted_as(connection)),
                connection.info.password,
                connection.info.server_version < _VERSION_17,
            )
    except psycopg.Error as error:
        raise DumpFailed(str(error)) from error
