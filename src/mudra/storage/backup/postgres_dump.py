"""pg_dump and pg_restore as streams: nothing that was not encrypted is written to a disk.

The programs are those that come with the embedded server; they work with PostgreSQL 15 to 18.
What pg_restore 18 sends, a server before 17 refuses (transaction_timeout), and what pg_dump 18
writes, pg_restore 16 cannot read: with such a server both are of version 16.
"""

import contextlib
import os
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Final, NamedTuple

import psycopg

from mudra.shared.child_environment import without_settings
from mudra.storage.backup.tls_tunnel import tunnel
from mudra.storage.database.embedded.server import programs
from mudra.storage.database.roles import without

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
    with _running("pg_dump", _DUMP, conninfo, writes=True) as stream:
        yield stream


@contextlib.contextmanager
def restoring(conninfo: str) -> Iterator[IO[bytes]]:
    """Take a dump and restore it whole or not at all; raises DumpFailed at the end.

    An exception within the block kills pg_restore, whose transaction is rolled back.
    """
    with _running("pg_restore", _RESTORE, conninfo, writes=False) as stream:
        yield stream


@contextlib.contextmanager
def _running(
    name: str, options: tuple[str, ...], conninfo: str, *, writes: bool
) -> Iterator[IO[bytes]]:
    environment = {**without_settings(os.environ), "PGAPPNAME": "mudra backup"}
    with tempfile.TemporaryFile() as said, _way(conninfo) as way:
        if way.password:  # not an argument, which every user of the machine could read
            environment["PGPASSWORD"] = way.password
        process = subprocess.Popen(  # noqa: S603 - our own programs, no shell
            [way.programs / name, *options, f"--dbname={way.address}"],
            stdin=subprocess.DEVNULL if writes else subprocess.PIPE,
            stdout=subprocess.PIPE if writes else subprocess.DEVNULL,
            stderr=said,
            env=environment,
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
            raise DumpFailed(f"{name}: {text[-_TAIL:]}")


class _Way(NamedTuple):
    """The programs that a server understands, and how they reach it."""

    programs: Path
    address: str
    password: str


@contextlib.contextmanager
def _way(conninfo: str) -> Iterator[_Way]:
    with contextlib.ExitStack() as stack:
        try:
            with psycopg.connect(conninfo, connect_timeout=5) as connection:
                chosen = programs(before_17=connection.info.server_version < _VERSION_17)
                password = connection.info.password
                address = without(conninfo, "password")
                if connection.pgconn.ssl_in_use:
                    address = stack.enter_context(tunnel(connection, conninfo))
        except (psycopg.Error, OSError) as error:
            raise DumpFailed(str(error)) from error
        yield _Way(chosen, address, password)
