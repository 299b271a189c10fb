"""Builds an index of a large table next to what is written to it, before its migration runs."""

import time
from collections.abc import Callable, Mapping
from typing import Final

import psycopg
from psycopg.sql import SQL, Identifier

_LOCK: Final = 0x6D75647262
_ASK_EVERY_S: Final = 0.5
_VALID: Final = "SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass(%s)"


def build_missing(
    connect: Callable[[], psycopg.Connection[tuple[object, ...]]],
    statements: Mapping[str, str],
    wait_s: float,
) -> None:
    """Build the indexes of these names that are not there, each by its statement.

    No one who writes waits for it. It waits itself for transactions that began before, up to
    `wait_s` seconds for each: then psycopg.errors.LockNotAvailable is raised. What a start left
    half built is built from its beginning.
    """
    if not statements:
        return
    connection = connect()
    try:
        connection.autocommit = True
        connection.execute(f"SET lock_timeout = {max(1, round(wait_s * 1000))}".encode())
        # Not by waiting in a statement: the other node's build would wait for that.
        while connection.execute("SELECT pg_try_advisory_lock(%s)", [_LOCK]).fetchone() == (False,):
            time.sleep(_ASK_EVERY_S)
        for name, statement in statements.items():
            found = connection.execute(_VALID, [name]).fetchone()
            if found == (True,):
                continue
            if found is not None:
                connection.execute(SQL("DROP INDEX CONCURRENTLY {}").format(Identifier(name)))
            connection.execute(statement.encode())
    finally:
        connection.close()
