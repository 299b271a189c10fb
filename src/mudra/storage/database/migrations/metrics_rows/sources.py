"""The tables of 1.0.0 with the rows of metrics, and how large they are."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple

import psycopg
from psycopg.sql import SQL, Identifier

Connection = psycopg.Connection[tuple[Any, ...]]

OLD: Final = "old_"
"""Before their names from revision 0027 on, so that no node of 1.0.0 writes into them any more."""
RAW: Final = "metrics_raw"
PREVIOUS: Final = "metrics_previous"
HOURS: Final = "metrics_hour"
DAYS: Final = "metrics_day"
CONVERTED: Final = (RAW, PREVIOUS, HOURS, DAYS)
_SIZES: Final = """
SELECT c.relname, pg_total_relation_size(c.oid)
FROM pg_class c LEFT JOIN pg_inherits i ON i.inhrelid = c.oid
WHERE c.relkind = 'r' AND coalesce(i.inhparent, c.oid) = to_regclass(%s)
ORDER BY c.relname
"""


class Part(NamedTuple):
    """A partition, or a table without any."""

    name: str
    size: int
    """Bytes, with its indexes."""

    @property
    def begin(self) -> datetime:
        """The day or month of a partition, by its name."""
        day = self.name.rpartition("_")[2]
        return datetime.strptime(f"{day}01"[:8], "%Y%m%d").replace(tzinfo=UTC)

    @property
    def named(self) -> Identifier:
        """The name in a statement."""
        return Identifier(self.name)


def parts_of(connection: Connection, table: str) -> Sequence[Part]:
    """Returns what is left of an old table, under its old name or its new one, the oldest first."""
    found: list[Part] = []
    for name in (table, OLD + table):
        rows = connection.execute(_SIZES, [name]).fetchall()
        found += [Part(*row) for row in rows]
    return found


def drop(connection: Connection, part: Part) -> None:
    """Drops a partition that is converted."""
    connection.execute(SQL("DROP TABLE {}").format(part.named))
