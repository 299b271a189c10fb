"""One line of a table of health: an API between two parties."""

from typing import Final

from mudra.http.response.health_responses import ApiDetails, RowDetails
from mudra.metrics.rollup.percentage import percentage

COLUMNS: Final = (
    *("AA", "FIP", "API", "STATUS", "CALLS"),
    *("SUCCESS %", "P50 MS", "P95 MS", "LONGEST MS"),
)


def api_line(row: RowDetails, api: ApiDetails) -> list[str]:
    """One API of one subject; what cannot be said is a dash, never 0 or 100 %."""
    shown = "-" if api.success_rate is None else f"{percentage(api.success_rate):.2f}"
    times = ["-"] * 3
    if api.time is not None:
        times = [str(api.time.p50.estimate), str(api.time.p95.estimate), str(api.time.p100)]
    names = [row.aa_id, row.fip_id, api.type]
    return [*names, api.status or "-", str(api.requests or 0), shown, *times]
