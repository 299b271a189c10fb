"""The fifteen counts of each type as an AA reported them: a lazy fragment of a pair's page.

Half of that page's HTML is this one table, which is rarely read first.
"""

import re
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Final

from msgspec import Struct

from mudra.console.framework.page_results import Download
from mudra.console.framework.table import Column, Table, TableView
from mudra.console.health.lazy_fragment import LazyFragment
from mudra.metrics.health.api_names import type_name
from mudra.metrics.payload.catalogue import REQUEST_COUNT_NAMES, Tag
from mudra.metrics.sums.totals import Totals

AS_REPORTED: Final = LazyFragment("as-reported", "counts")
COUNTS_PART: Final = "health_as_reported.html"


class CountsRow(Struct, frozen=True):
    """The fifteen counts reported of one type."""

    tag: Tag
    code: str
    counts: Sequence[int]

    @property
    def type(self) -> str:
        """Returns the type as the file has it, with its payload where that is the second."""
        return self.code if self.tag is Tag.REQUESTS else f"{self.code} (notification)"


def counted(totals: Totals, query: Mapping[str, str]) -> TableView:
    """Returns the counts of these cells; counts that are zero in every row have no column."""
    rows = _rows(totals)
    return _table(rows).view(rows, AS_REPORTED.table_query(query))


def counts_export(totals: Totals, query: Mapping[str, str]) -> Download | None:
    """Returns all fifteen as CSV when the query requests the export of this table."""
    requested = query.get("export") == AS_REPORTED.table
    return _table().export(_rows(totals), query) if requested else None


def _table(rows: Sequence[CountsRow] | None = None) -> Table[CountsRow]:
    """Returns the table of the fifteen counts, by their names in request metrics.

    With `rows`, counts that are zero in all of them have no column: the names are long.
    """
    return Table(
        AS_REPORTED.table,
        "The fifteen counts of each type",
        (
            Column("type", "API", _named) if rows else Column("type", "Type", lambda row: row.type),
            *(
                Column(
                    f"n{place}",
                    _words(_count_title(name)) if rows else _count_title(name),
                    partial(_count, place=place),
                    "number",
                )
                for place, name in enumerate(REQUEST_COUNT_NAMES)
                if rows is None or any(row.counts[place] for row in rows)
            ),
            *([Column("none", "No answer", _unanswered, "number")] if rows else []),
        ),
    )


def _count_title(name: str) -> str:
    return name.replace("RecdCnt", "").replace("totalSentCnt", "Total")


def _words(title: str) -> str:
    """Returns a name of a count in words, which may break: "503 Service Unavailable"."""
    return " ".join(re.findall(r"\d+|[A-Z][a-z]+|[A-Z]+|\w+", title))


def _named(row: CountsRow) -> str:
    return f"{type_name(row.tag, row.code)} ({row.code})"


def _unanswered(row: CountsRow) -> int:
    sent, *answered = row.counts
    return sent - sum(answered)


def _count(row: CountsRow, *, place: int) -> int:
    return row.counts[place]


def _rows(totals: Totals) -> list[CountsRow]:
    """Returns the counts of each type as they were reported: most failed calls first.

    So has the table by API, to which they are.
    """
    found = [
        CountsRow(tag, cell.type, sums.counts)
        for tag in (Tag.REQUESTS, Tag.NOTIFICATIONS)
        for cell, sums in totals.only(tag).by("type").items()
    ]
    return sorted(
        found, key=lambda row: (row.tag is not Tag.REQUESTS, -_failed(row), -row.counts[0])
    )


def _failed(row: CountsRow) -> int:
    """Returns the calls that failed: by 5xx, or without an answer."""
    of_server = (
        count
        for name, count in zip(REQUEST_COUNT_NAMES, row.counts, strict=True)
        if name.startswith("5")
    )
    return sum(of_server) + _unanswered(row)
