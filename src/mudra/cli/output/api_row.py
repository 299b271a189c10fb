"""One line of a table of health: an API between two parties."""

from typing import Any, Final

from mudra.metrics.rollup.percentage import percentage

COLUMNS: Final = (
    *("AA", "FIP", "API", "STATUS", "CALLS"),
    *("SUCCESS %", "P50 MS", "P95 MS", "LONGEST MS"),
)


def api_line(row: dict[str, Any], api: dict[str, Any]) -> list[str]:
    """One API of one subject; what cannot be said is a dash, never 0 or 100 %."""
    rate, time = api["successRate"], api["time"]
    shown = "-" if rate is None else f"{percentage(rate):.2f}"
    times = ["-"] * 3
    if time is not None:
        times = [str(time["p50"]["estimate"]), str(time["p95"]["estimate"]), str(time["p100"])]
    names = [row["aaId"], row["fipId"], api["type"]]
    return [*names, api["status"] or "-", str(api["requests"] or 0), shown, *times]
