"""The two databases of one service name each other, so that neither is taken for another's.

A setting that is missing on one node, or names another database, would show empty pages and split
the metrics. So a start compares a fact of both: which service's they are, and since which pairing.
A restore makes a new pairing: the database that was replaced fits no more, should it come back.
"""

import contextlib
import enum
from collections.abc import Iterator
from typing import Final

import psycopg

from mudra.shared.ids import fresh_id

FACT: Final = "metrics-database"
_CONNECT_S: Final = 5
_SINCE: Final = "."
"""Between the service and the pairing; there is none in a first pairing."""
_CARRIED: Final = "DELETE FROM handover WHERE noted_at < now() - interval '29 days'"
"""What a restored one still hands over was carried then, and `handover_done` forgets in 30 days."""
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


class Kinship(enum.Enum):
    """What the second database is to the first one."""

    PAIRED = enum.auto()
    RELATED = enum.auto()
    """Of the same service, by another pairing: one of the two was restored or recovered."""
    EMPTY = enum.auto()
    """No service's, without a report."""
    NEW = enum.auto()
    """Both are new."""
    FOREIGN = enum.auto()


def pair(own: Connection, metrics: str | None) -> None:
    """Compare the first database and the one at an address, both migrated; new ones become a pair.

    `own` has no transaction, so that what is kept in it is there at once.
    Raises MetricsMisplaced, and MetricsUnreachable for the second one.
    """
    if metrics is None:
        require_together(fact(own, FACT))
        return
    with reaching(), psycopg.connect(metrics, connect_timeout=_CONNECT_S) as other:
        require_apart(own, other)
        kinship = _kinship(own, other)
        if kinship is Kinship.PAIRED:
            return
        if kinship is not Kinship.NEW:
            raise MetricsMisplaced(_WAYS_OUT[kinship])
        value = fact(other, FACT) or fresh_id()
        keep(other, FACT, value)
    # The second one has committed: without the fact in the first one nothing was promised.
    keep(own, FACT, value)


def pair_again(first: str, metrics: str, *, begin_empty: bool = False) -> Kinship:
    """Pair databases after one was restored, recovered or lost; returns what the second one was.

    Changes nothing for a second one that is FOREIGN, nor for an EMPTY one without `begin_empty`.
    Both addresses are those of owners; the second one is migrated. One that was replaced fits the
    other no more. Run again after it was cut off between the two commits, it goes on.

    Raises MetricsMisplaced when both are one database, or the first one has metrics of its own;
    MetricsUnreachable.
    """
    with psycopg.connect(first, connect_timeout=_CONNECT_S) as own:
        with reaching(), psycopg.connect(metrics, connect_timeout=_CONNECT_S) as other:
            require_apart(own, other)
            kinship = _kinship(own, other)
            if kinship is Kinship.FOREIGN or (kinship is Kinship.EMPTY and not begin_empty):
                return kinship
            service = service_of(fact(own, FACT) or fact(other, FACT) or "") or fresh_id()
            value = f"{service}{_SINCE}{fresh_id()}"
            other.execute(_CARRIED)
            keep(other, FACT, value)
        keep(own, FACT, value)
    return kinship


def service_of(value: str) -> str:
    """Return the service that a fact names, whatever the pairing."""
    return value.partition(_SINCE)[0]


def pairing_of(conninfo: str) -> str:
    """Return service and pairing, as this database names them; "" where metrics are not apart."""
    with psycopg.connect(conninfo, connect_timeout=_CONNECT_S) as connection:
        return fact(connection, FACT) or ""


def require_two(first: str, metrics: str) -> None:
    """Raise MetricsMisplaced when both addresses lead to one database; MetricsUnreachable."""
    with (
        psycopg.connect(first, connect_timeout=_CONNECT_S) as own,
        reaching(),
        psycopg.connect(metrics, connect_timeout=_CONNECT_S) as other,
    ):
        require_apart(own, other)


_WAYS_OUT: Final = {
    Kinship.RELATED: (
        "the database of MUDRA_METRICS_DATABASE_URL is this service's, of another pairing: one of "
        "the two was replaced since. Name the one in use; if either was recovered to another time, "
        "run mudra database pair-metrics"
    ),
    Kinship.EMPTY: (
        "the database of MUDRA_METRICS_DATABASE_URL is empty, and this service has metrics "
        "elsewhere: name the database that has them, restore it by mudra restore, or begin without "
        "them by mudra database pair-metrics --begin-empty"
    ),
    Kinship.FOREIGN: (
        "the database of MUDRA_METRICS_DATABASE_URL does not belong to this one: name the one "
        "that has this service's metrics, or restore it"
    ),
}


def way_out(kinship: Kinship) -> str:
    """Return what is wrong with a second database of this kinship, and what to do."""
    return _WAYS_OUT[kinship]


def _kinship(own: Connection, other: Connection) -> Kinship:
    """Compare; raises MetricsMisplaced for a first one that has metrics of its own."""
    known, theirs = fact(own, FACT), fact(other, FACT)
    if known is not None and theirs is not None and service_of(known) == service_of(theirs):
        return Kinship.PAIRED if known == theirs else Kinship.RELATED
    if known is None and has_reports(own):
        raise MetricsMisplaced(
            "the metrics are in the first database: move them by mudra database move-metrics, or "
            "leave MUDRA_METRICS_DATABASE_URL out"
        )
    # A pairing that was cut off left a fact in a second one without a report.
    if has_reports(other) or (known is not None and theirs is not None):
        return Kinship.FOREIGN
    return Kinship.NEW if known is None else Kinship.EMPTY


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
