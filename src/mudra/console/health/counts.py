"""The fifteen counts of each type as an AA reported them: a part of a pair's page, after its words.

Half of what that page has to lay out is in this one table, and it is rarely read first.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Final

from msgspec import Struct

from mudra.console.framework.page_results import Download
from mudra.console.framework.table import Column, Table, TableView
from mudra.console.health.lazy_fragment import LazyFragment
from mudra.metrics.payload.catalogue import REQUEST_COUNT_NAMES, Position, Tag
from mudra.metrics.rollup.rollup import Cell, Rollup

AS_REPORTED: Final = LazyFragment("as-reported", "counts")
COUNTS_PART: Final = "health_as_reported.html"


class CountsRow(Struct, frozen=True):
    """What was reported of one type, its fifteen counts."""

    type: str
    counts: Sequence[int]


def counted(totals: Mapping[Cell, Rollup], query: Mapping[str, str]) -> TableView:
    """Show the counts of these cells; what is zero in every row has no column."""
    rows = _rows(totals)
    return _table(rows).view(rows, AS_REPORTED.table_query(query))


def counts_export(totals: Mapping[Cell, Rollup], query: Mapping[str, str]) -> Download | None:
    """Give all fifteen as CSV when the address asks for this table's."""
    asked = query.get("export") == AS_REPORTED.table
    return _table().export(_rows(totals), query) if asked else None


def _table(shown: Sequence[CountsRow] | None = None) -> Table[CountsRow]:
    """The fifteen counts of each type, by their names in request metrics.

    With rows to show, what is zero in all of them has no column: the names are long.
    """
    return Table(
        AS_REPORTED.table,
        "The fifteen counts of each type",
        (
            Column("type", "Type", lambda row: row.type, "code"),
            *(
                Column(f"n{place}", _count_title(name), partial(_count, place=place), "number")
                for place, name in enumerate(REQUEST_COUNT_NAMES)
                if shown is None or any(row.counts[place] for row in shown)
            ),
        ),
    )


def _count_title(name: str) -> str:
    return name.replace("RecdCnt", "").replace("totalSentCnt", "total")


def _count(row: CountsRow, *, place: int) -> int:
    return row.counts[place]


def _rows(totals: Mapping[Cell, Rollup]) -> list[CountsRow]:
    """The counts of each type as they were reported, requests first."""
    found: list[CountsRow] = []
    for tag, words in ((Tag.REQUESTS, "{}"), (Tag.NOTIFICATIONS, "{} (notification)")):
        sums: dict[str, list[int]] = {}
        for cell, row in totals.items():
            if cell.tag is tag:
                held = sums.setdefault(cell.type, [0] * len(Position))
                sums[cell.type] = [a + b for a, b in zip(held, row.counts, strict=True)]
        found += [CountsRow(words.format(code), sums[code]) for code in sorted(sums)]
    return found
