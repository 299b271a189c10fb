"""Move the metrics of an installation to a second database, while no node runs."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Final

import psycopg
from psycopg.sql import SQL, Composed, Identifier

from mudra.shared.ids import fresh_id
from mudra.storage.metrics.apart.distribution import DISTRIBUTED, REFERENCE
from mudra.storage.metrics.apart.pairing import (
    FACT,
    Connection,
    MetricsMisplaced,
    fact,
    has_reports,
    keep,
    require_apart,
)
from mudra.storage.metrics.partitions import HOURS, PAIR_HOURS, PREVIOUS, RAW

_MOVING: Final = "metrics-moving"
"""In the first database while the rows are copied: what a second one has under it is a leftover."""
_TABLES: Final = (*DISTRIBUTED, *REFERENCE)
_PARTITIONED: Final = {one.table: one for one in (RAW, PREVIOUS, HOURS, PAIR_HOURS)}
_NUMBERED: Final = ("metrics_refused", "metrics_stale")
_NODES: Final = "SELECT EXISTS (SELECT FROM node WHERE proven_at > now() - interval '15 seconds')"
_PARTS: Final = """
SELECT c.relname FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
WHERE i.inhparent = %s::regclass ORDER BY c.relname
"""
_COLUMNS: Final = """
SELECT attname FROM pg_attribute
WHERE attrelid = %s::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attnum
"""
_NUMBER_ON: Final = """
SELECT setval(pg_get_serial_sequence(%(table)s, 'id'), %(last)s)
"""


def move_metrics(first: str, second: str, on_table: Callable[[str, int], None]) -> dict[str, int]:
    """Copy all metrics to the second database, then delete them in the first one.

    Both addresses are those of the owners of the tables. The second database commits first: a
    move that ends before the first one has committed begins again, from the beginning. Calls
    `on_table` with each table and its rows; returns these.

    Raises MetricsMisplaced when a node runs, when they were moved before, or when the second
    database has metrics already.
    """
    with psycopg.connect(first, connect_timeout=5) as own:
        moving = _begin(own)
    with psycopg.connect(first, connect_timeout=5) as own:
        with psycopg.connect(second, connect_timeout=5) as other:
            require_apart(own, other)
            _make_room(other, moving)
            # Nothing changes here from now on; waits for no one, since no node runs.
            own.execute("SET LOCAL lock_timeout = '5s'")
            own.execute(SQL("LOCK TABLE {} IN ACCESS EXCLUSIVE MODE").format(_list(_TABLES)))
            rows = {}
            for table in _TABLES:
                rows[table] = _copy(own, other, table)
                on_table(table, rows[table])
            for table in _NUMBERED:
                _number_on(own, other, table)
            keep(other, FACT, moving)
        # The second database has committed.
        _empty(own)
        keep(own, FACT, moving)
        own.execute("DELETE FROM service_fact WHERE name = %s", [_MOVING])
    return rows


def _begin(own: Connection) -> str:
    """Say in the first database what is about to happen; returns the name of this move."""
    if fact(own, FACT) is not None:
        raise MetricsMisplaced("the metrics of this service are in a second database already")
    row = own.execute(_NODES).fetchone()
    if row is None or row[0]:
        raise MetricsMisplaced("a node runs: stop all nodes, and run this again in 15 seconds")
    moving = fact(own, _MOVING) or fresh_id()
    keep(own, _MOVING, moving)
    return moving


def _make_room(other: Connection, moving: str) -> None:
    """Empty the second database of a former try; refuse what is another service's."""
    found = fact(other, FACT)
    if found == moving:
        _empty(other)
    elif found is not None or has_reports(other):
        raise MetricsMisplaced(
            "the database of MUDRA_METRICS_DATABASE_URL has metrics already: name an empty one"
        )


def _copy(own: Connection, other: Connection, table: str) -> int:
    if table in _PARTITIONED:
        for at in _partitions(own, table):
            other.execute("SELECT metrics_partition_make(%s, %s)", [table, at])
    columns = _list([str(row[0]) for row in own.execute(_COLUMNS, [table]).fetchall()])
    out = SQL("COPY (SELECT {} FROM {}) TO STDOUT").format(columns, Identifier(table))
    into = SQL("COPY {} ({}) FROM STDIN").format(Identifier(table), columns)
    with own.cursor() as reading, other.cursor() as writing:
        with reading.copy(out) as read, writing.copy(into) as written:
            for block in read:
                written.write(block)
        if reading.rowcount != writing.rowcount:
            raise MetricsMisplaced(f"{table}: rows were lost on the way; nothing was moved")
        return writing.rowcount


def _number_on(own: Connection, other: Connection, table: str) -> None:
    """Let new rows have numbers that no row had."""
    row = own.execute(SQL("SELECT max(id) FROM {}").format(Identifier(table))).fetchone()
    if row is not None and row[0] is not None:
        other.execute(_NUMBER_ON, {"table": table, "last": row[0]})


def _empty(connection: Connection) -> None:
    """Delete all metrics, with the partitions."""
    for table in _PARTITIONED:
        for at in _partitions(connection, table):
            connection.execute("SELECT metrics_partition_drop(%s, %s)", [table, at])
    connection.execute(SQL("TRUNCATE {}").format(_list(_TABLES)))


def _partitions(connection: Connection, table: str) -> Sequence[datetime]:
    """Return a moment in each partition of a table."""
    form = _PARTITIONED[table].form
    return [
        datetime.strptime(str(name).removeprefix(f"{table}_"), form).replace(tzinfo=UTC)
        for (name,) in connection.execute(_PARTS, [table]).fetchall()
    ]


def _list(names: Sequence[str]) -> Composed:
    return SQL(", ").join(map(Identifier, names))
