"""Figures over time: charts and their table, which come after the words of a page.

A page says in words how things stand and is painted; htmx then asks the same address for this
part. Without htmx, or when the address asks for the table, the part stands in the page itself.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from mudra.console.answer import Download
from mudra.console.health.asked import Asked
from mudra.console.health.charts import timeline
from mudra.console.health.tables import moments_table
from mudra.console.shelf import SHELF
from mudra.console.visit import Visit
from mudra.metrics.incident import Incident
from mudra.metrics.series import points
from mudra.metrics.step import step_for

WORD: Final = "over-time"
"""The member of the query: `part` gives this part alone, anything else has it in the page."""
PART: Final = "health_over_time.html"
_SHOWN: Final = "shown"
"""Asked for by the link beside charts that did not come; a live page keeps its table as it is."""
_TABLE: Final = "moments"
LATER: Final[Mapping[str, object]] = {"times": None, "moments": None}
"""What a page shows whose charts come later."""


def comes_later(query: Mapping[str, str]) -> bool:
    """Tell whether the page leaves this part to a request of its own."""
    asked = WORD in query or query.get("export") == _TABLE
    return not asked and not _table_asked(query) and bool(SHELF.address("built/htmx.min.js"))


def is_part(query: Mapping[str, str]) -> bool:
    """Tell whether this part alone is asked for."""
    return query.get(WORD) == "part"


async def over_time(
    visit: Visit,
    asked: Asked,
    incidents: Sequence[Incident],
    *,
    aa_id: str | None = None,
    fip_id: str | None = None,
) -> Mapping[str, object] | Download:
    """Read the figures of each step; gives what `health_over_time.html` shows, or the CSV."""
    step = step_for(asked.within)
    found = await points(
        visit.work.series, asked.within, step, asked.code, aa_id=aa_id, fip_id=fip_id
    )
    times = timeline(found, step, asked, incidents)
    table, query = moments_table(step), {k: v for k, v in visit.query.items() if k != WORD}
    return table.export(times.moments, query) or {
        "times": times,
        "moments": table.view(times.moments, query),
        "opened": _table_asked(query) or visit.query.get(WORD) == _SHOWN,
    }


def _table_asked(query: Mapping[str, str]) -> bool:
    return any(name.startswith(f"{_TABLE}.") for name in query)
