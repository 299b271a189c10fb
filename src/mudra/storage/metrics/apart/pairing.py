"""The two databases of one service name each other, so that neither is taken for another's.

A setting that is missing on one node, or names another database, would show empty pages and split
the metrics. So a start compares a fact of both.
"""

import contextlib
from collections.abc import Iterator
from typing import Final

import psycopg

from mudra.shared.ids import fresh_id

FACT: Final = "metrics-database"
_CONNECT_S: Final = 5
_POOLED: Final = "unsupported startup parameter"
_SAME: Final = """
SELECT system_identifier::text || ' ' || (
    SELECT oid FROM pg_database WHERE datname = current_database())::text
FROM pg_control_system()
"""
_KEEP: Final = """
INSERT INTO service_fact (name, value) VALUES (%s, %s)
ON CONFLICT (name) DO UPDATE SET value = EXCLUDED.value
"""

Connection = psycopg.Connection[tuple[object, ...]]


class MetricsMisplaced(Exception):
    """The metrics of this service are not where the settings say; the text says what to do."""


class MetricsUnreachable(Exception):
    """The second database did not answer; the text is what the driver said, without a password."""

    def __init__(self, said: str) -> None:
        super().__init__(
            f"the metrics database did not answer: check MUDRA_METRICS_DATABASE_URL ({said})"
        )


def pair(first: str, metrics: str | None) -> None:
    """Compare the databases at these addresses, both migrated; two new ones become a pair.

    Raises MetricsMisplaced, and MetricsUnreachable for the second one.
    """
    with psycopg.connect(first, connect_timeout=_CONNECT_S) as own:
        known = fact(own, FACT)
        if metrics is None:
            require_together(known)
            return
        with reaching(), psycopg.connect(metrics, connect_timeout=_CONNECT_S) as other:
            require_apart(own, other)
            theirs = fact(other, FACT)
            if known is not None and theirs == known:
                return
            _require_new(own, other, known, theirs)
            value = theirs or fresh_id()
            keep(other, FACT, value)
        # The second one has committed: without the fact in the first one nothing was promised.
        keep(own, FACT, value)


def _require_new(own: Connection, other: Connection, known: str | None, theirs: str | None) -> None:
    if known is None and has_reports(own):
        raise MetricsMisplaced(
            "the metrics are in the first database: move them by mudra database move-metrics, or "
            "leave MUDRA_METRICS_DATABASE_URL out"
        )
    if known is not None or (theirs is not None and has_reports(other)):
        raise MetricsMisplaced(
            "the database of MUDRA_METRICS_DATABASE_URL does not belong to this one: name the one "
            "that has this service's metrics, or restore both"
        )


@contextlib.contextmanager
def reaching() -> Iterator[None]:
    """Raise MetricsUnreachable for what keeps the second database from answering.

    PgBouncer never will: it refuses how its sessions are set up, so that is MetricsMisplaced.
    """
    try:
        yield
    except psycopg.OperationalError as error:
        if _POOLED in str(error):
            raise MetricsMisplaced(
                "PgBouncer cannot be in front of the metrics database: name the PostgreSQL server "
                "itself in MUDRA_METRICS_DATABASE_URL"
            ) from error
        raise MetricsUnreachable(" ".join(str(error).split())) from error


def require_together(known: str | None) -> None:
    """Raise MetricsMisplaced when a fact of the first database says that metrics are apart."""
    if known is not None:
        raise MetricsMisplaced(
            "the metrics of this service are in a second database: set MUDRA_METRICS_DATABASE_URL"
        )


def require_apart(own: Connection, other: Connection) -> None:
    """Raise MetricsMisplaced when both connections lead to one database."""
    if _asked(own, _SAME) == _asked(other, _SAME):
        raise MetricsMisplaced(
            "MUDRA_METRICS_DATABASE_URL leads to the first database: name another one, or leave it "
            "out"
        )


def fact(connection: Connection, name: str) -> str | None:
    """Return a fact of a database."""
    row = connection.execute("SELECT value FROM service_fact WHERE name = %s", [name]).fetchone()
    return None if row is None else str(row[0])


def keep(connection: Connection, name: str, value: str) -> None:
    """Store a fact in the connection's transaction."""
    connection.execute(_KEEP, [name, value])


def has_reports(connection: Connection) -> bool:
    """Return whether any AA ever reported to this database."""
    return bool(_asked(connection, "SELECT EXISTS (SELECT FROM metrics_receipt)"))


def _asked(connection: Connection, statement: str) -> object:
    row = connection.execute(statement.encode()).fetchone()
    assert row is not None
    return row[0]
