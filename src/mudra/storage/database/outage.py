"""The meaning of a driver's error for the database as a whole."""

import contextlib
import re
from collections.abc import Callable, Iterator
from typing import Final

import psycopg
import structlog
from psycopg.pq import TransactionStatus
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.ext.asyncio import AsyncConnection

from mudra.shared.unavailable import DatabaseUnavailable, Outage
from mudra.storage.database.deadline import (
    DEADLINE,
    TRANSACTION_S,
    WATCH,
    WATCHED_S,
    AnswerWatch,
    Deadline,
    cut,
)
from mudra.storage.database.primary import SupersededPrimary

_BY_SQLSTATE: Final = {
    "25006": Outage.READ_ONLY,
    "40001": Outage.TOO_SLOW,
    "40P01": Outage.TOO_SLOW,
    "53100": Outage.DISK_FULL,
    "53300": Outage.CONNECTION_LIMIT,
    "55P03": Outage.TOO_SLOW,
    "57014": Outage.TOO_SLOW,
    "42P01": Outage.SCHEMA,
    "42703": Outage.SCHEMA,
    "42P10": Outage.SCHEMA,
}
_BY_WORDS: Final = {
    Outage.CONNECTION_LIMIT: re.compile(
        "too many clients already|too many connections for"
        "|remaining connection slots are reserved|no more connections allowed"
    ),
    Outage.SIGN_IN_REFUSED: re.compile(
        'authentication failed|no password supplied|pg_hba.conf|(role|database) ".*" does not exist'
        "|is not permitted to log in|permission denied for database"
    ),
    # Last: of several hosts of an address the others may be standbys.
    Outage.STANDBY: re.compile("server is in hot standby mode"),
}
"""Of a connection that was not made, libpq keeps the words of the server, not their SQLSTATE.

A server that speaks another language than English counts as out of reach; the log has its words.
"""
_WORDS: Final = 300
"""Characters of them that are logged."""

_log = structlog.get_logger()


def outage_of(error: Exception) -> DatabaseUnavailable | None:
    """Return what callers are shown of an error; None when it is about one statement alone."""
    if isinstance(error, PoolTimeout):
        return DatabaseUnavailable(type(error).__name__, Outage.ALL_IN_USE)
    driver = error.orig if isinstance(error, DBAPIError) else error
    if not isinstance(driver, psycopg.Error):
        return None
    cause = _BY_SQLSTATE.get(driver.sqlstate or "")
    if cause is None and isinstance(driver, SupersededPrimary):
        cause = Outage.SUPERSEDED
    if cause is None and driver.sqlstate is None:
        said = str(driver)
        cause = next((found for found, words in _BY_WORDS.items() if words.search(said)), None)
    lost = isinstance(error, DBAPIError) and error.connection_invalidated
    if cause is None and (isinstance(driver, psycopg.OperationalError) or lost):
        cause = Outage.UNREACHABLE
    return DatabaseUnavailable(_described(driver), cause) if cause else None


def _described(driver: psycopg.Error) -> str:
    """Return the class of an error, and what PostgreSQL or libpq said: no values, no password."""
    said = " ".join((driver.diag.message_primary or str(driver)).split())
    name = type(driver).__name__
    return f"{name}: {said[:_WORDS]}" if said else name


def is_lost(error: Exception) -> bool:
    """Return whether the server did not answer: not even with an error of its own."""
    driver = error.orig if isinstance(error, DBAPIError) else error
    return isinstance(driver, psycopg.OperationalError) and driver.sqlstate is None


class OutageLog:
    """Says once what is wrong with the database, and once that it is over."""

    def __init__(self) -> None:
        self.current: Outage | None = None
        self.count: Callable[[Outage], None] = lambda _: None
        """Called at each failure."""

    def begun(self, outage: DatabaseUnavailable) -> None:
        """Note a failure."""
        self.count(outage.cause)
        if outage.cause is not self.current and outage.cause is not Outage.ALL_IN_USE:
            self.current = outage.cause
            _log.error("the database cannot be used", cause=outage.cause, error=str(outage))

    def over(self) -> None:
        """Note that the database takes changes."""
        if self.current is not None:
            _log.warning("the database can be used again", was=self.current)
            self.current = None


@contextlib.contextmanager
def watched(
    connection: AsyncConnection,
    driver: psycopg.AsyncConnection[tuple[object, ...]],
    within_s: float,
    deadline: Deadline,
) -> Iterator[AnswerWatch | None]:
    """Watch the answers of a transaction that may take longer than a server may hang.

    What was lost may be the connection of another reader, for whom this one waited: that server
    would not answer a rollback either.
    """
    info = connection.sync_connection.info if connection.sync_connection else {}
    info[DEADLINE] = deadline
    if not TRANSACTION_S < within_s <= WATCHED_S:
        yield None
        return
    watch = info[WATCH] = AnswerWatch(driver, deadline)
    try:
        yield watch
    except Exception as error:
        if is_lost(error) and driver.info.transaction_status is not TransactionStatus.IDLE:
            cut(driver, deadline)
        raise
    finally:
        watch.end()
        del info[WATCH]
