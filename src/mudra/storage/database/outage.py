"""What an error of the driver says about the database as a whole."""

from collections.abc import Callable
from typing import Final

import psycopg
import structlog
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from mudra.shared.unavailable import DatabaseUnavailable, Outage
from mudra.storage.database.primary import SupersededPrimary

_BY_SQLSTATE: Final = {
    "25006": Outage.READ_ONLY,
    "40001": Outage.TOO_SLOW,
    "40P01": Outage.TOO_SLOW,
    "53100": Outage.DISK_FULL,
    "53300": Outage.ALL_IN_USE,
    "55P03": Outage.TOO_SLOW,
    "57014": Outage.TOO_SLOW,
    "42P01": Outage.SCHEMA,
    "42703": Outage.SCHEMA,
    "42P10": Outage.SCHEMA,
}
_STANDBY: Final = "server is in hot standby mode"
"""Libpq's own text, for a session that asks for a primary."""

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
    if cause is None and _STANDBY in str(driver):
        cause = Outage.STANDBY
    lost = isinstance(error, DBAPIError) and error.connection_invalidated
    if cause is None and (isinstance(driver, psycopg.OperationalError) or lost):
        cause = Outage.UNREACHABLE
    return DatabaseUnavailable(type(driver).__name__, cause) if cause else None


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
