"""One line of a table of health: an API between two parties."""

from collections.abc import Mapping
from typing import Final

from mudra.metrics.rollup.percentage import percentage

COLUMNS: Final = (
    *("AA", "FIP", "API", "STATUS", "CALLS"),
    *("SUCCESS %", "P50 MS", "P95 MS", "LONGEST MS"),
)


def api_line(row: Mapping[str, object], api: Mapping[str, object]) -> list[str]:
    """One API of one subject; what cannot be said is a dash, never 0 or 100 %."""
    rate, time = api["successRate"], api["time"]
    shown = f"{percentage(rate):.2f}" if isinstance(rate, float | int) else "-"
    times = ["-"] * 3
    if isinstance(time, dict):
        times = [str(time[name]["estimate"]) for name in ("p50", "p95")] + [str(time["p100"])]
    names = [str(row["aaId"]), str(row["fipId"]), str(api["type"])]
    return [*names, str(api["status"] or "-"), str(api["requests"] or 0), shown, *times]
