"""Converts the rows of metrics of 1.0.0 to blocks, in pieces, each in a transaction of its own.

| of | is made |
|---|---|
| raw rows of a day of an AA | the blocks of its windows, and of these its hours and its day |
| replaced reports of a day of an AA | their blocks |
| sums of an hour or a day, where there are no raw rows | the same; late calls by the old cells |
| the hours and days of all AAs | those over all AAs |
| held reports | their blocks |

A piece is done when its blocks are there, so a conversion that was cut short goes on where it was.
A partition is dropped once all of its pieces are done: there is never much more than before. Stale
marks stay: what is stale is made again of the blocks. Nothing else may write meanwhile.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Final, NamedTuple

from psycopg.sql import SQL, Composed

from mudra.storage.database.migrations.metrics_rows.pieces import (
    add_over_aas,
    convert_day,
    convert_held,
    convert_hours,
    convert_previous,
    convert_reports,
)
from mudra.storage.database.migrations.metrics_rows.progress import Progress
from mudra.storage.database.migrations.metrics_rows.sources import (
    CONVERTED,
    DAYS,
    HOURS,
    PREVIOUS,
    RAW,
    Connection,
    Part,
    drop,
    parts_of,
)

_ADDING: Final = 0.1
"""What it takes to add up over all AAs, of the cost of converting hours."""
_AAS: Final = "SELECT DISTINCT aa_id FROM {part} EXCEPT SELECT DISTINCT aa_id FROM {done}"
_WINDOWS_DONE: Final = (
    "metrics_block WHERE grain = 'window' AND at >= %(begin)s AND at < %(begin)s + interval '1 day'"
)
_PREVIOUS_DONE: Final = (
    "metrics_block_previous WHERE at >= %(begin)s AND at < %(begin)s + interval '1 day'"
)
_DAYS_OF_AAS: Final = """
SELECT DISTINCT aa_id, date_trunc('day', at, 'UTC') FROM {part} WHERE aa_id <> ''
EXCEPT
SELECT DISTINCT aa_id, date_trunc('day', at, 'UTC') FROM metrics_block
WHERE grain = 'hour' AND at >= %(begin)s AND at < %(begin)s + interval '1 month'
ORDER BY 2, 1
"""
_DAYS: Final = """
SELECT DISTINCT old.at FROM (SELECT DISTINCT aa_id, tag, at FROM {part} WHERE aa_id <> '') old
WHERE NOT EXISTS (
    SELECT FROM metrics_block b
    WHERE b.grain = 'day' AND (b.aa_id, b.tag, b.at) = (old.aa_id, old.tag, old.at)
) ORDER BY 1
"""
_NOT_ADDED: Final = """
SELECT DISTINCT date_trunc('day', at, 'UTC') FROM metrics_block WHERE grain = %s AND aa_id <> ''
EXCEPT
SELECT DISTINCT date_trunc('day', at, 'UTC') FROM metrics_block WHERE grain = %s AND aa_id = ''
ORDER BY 1
"""
_HELD: Final = "SELECT aa_id, receipt_id::text FROM metrics_held WHERE buckets IS NULL"


class _Step(NamedTuple):
    """Pieces of one table; `end` is done when all of them are."""

    table: str
    size: float
    pieces: Sequence[Callable[[], None]]
    end: Callable[[], None] | None = None


def convert(connection: Connection) -> None:
    """Converts what is left to convert; on a connection that commits by itself."""
    connection.execute("SET TIME ZONE 'UTC'")  # its hours and days are counted
    parts = {table: parts_of(connection, table) for table in CONVERTED}
    sizes = {table: sum(part.size for part in found) for table, found in parts.items()}
    progress = Progress(round(sum(sizes.values()) + _ADDING * sizes[HOURS]))
    progress.begin()
    for step in _steps(connection, parts, sizes[HOURS]):
        for number, piece in enumerate(step.pieces, 1):
            with connection.transaction():
                piece()
            progress.step(step.table, number, len(step.pieces), step.size / len(step.pieces))
        if not step.pieces:
            progress.skip(step.size)
        if step.end is not None:
            step.end()
    progress.end()


def _steps(
    connection: Connection, parts: dict[str, Sequence[Part]], hours_size: int
) -> Iterator[_Step]:
    """Yields the steps in their order: each asks what is left when it begins."""
    for part in parts[RAW]:
        yield _of_aas(connection, part, convert_reports, _WINDOWS_DONE)
    for part in parts[PREVIOUS]:
        yield _of_aas(connection, part, convert_previous, _PREVIOUS_DONE)
    for part in parts[HOURS]:
        found = connection.execute(_of(_DAYS_OF_AAS, part), {"begin": part.begin}).fetchall()
        pieces = [partial(convert_hours, connection, part, *one) for one in found]
        yield _Step(part.name, part.size, pieces, partial(drop, connection, part))
    for part in parts[DAYS]:
        days = connection.execute(_of(_DAYS, part)).fetchall()
        pieces = [partial(convert_day, connection, part, *one) for one in days]
        yield _Step(part.name, part.size, pieces)
    for grain in ("hour", "day"):
        left = connection.execute(_NOT_ADDED, [grain, grain]).fetchall()
        over_aas = [partial(add_over_aas, connection, grain, *one) for one in left]
        yield _Step(f"metrics_block_{grain}", _ADDING * hours_size / 2, over_aas)
    held = connection.execute(_HELD).fetchall()
    yield _Step("metrics_held", 0, [partial(convert_held, connection, *one) for one in held])


def _of_aas(
    connection: Connection,
    part: Part,
    convert_one: Callable[[Connection, Part, str], None],
    done: str,
) -> _Step:
    query = _of(_AAS.replace("{done}", done), part)
    found = connection.execute(query, {"begin": part.begin}).fetchall()
    pieces = [partial(convert_one, connection, part, aa_id) for (aa_id,) in sorted(found)]
    return _Step(part.name, part.size, pieces, partial(drop, connection, part))


def _of(query: str, part: Part) -> Composed:
    return SQL(query).format(part=part.named)
