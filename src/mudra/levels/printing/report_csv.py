"""A report as CSV: one line for each number, the same ones as everywhere."""

from typing import Final

from mudra.levels.report import Report
from mudra.shared.text.csv_file import csv_text

COLUMNS: Final = [
    *("entityId", "role", "start", "end", "version", "measure", "api", "value", "unit"),
    *("part", "whole", "reporters", "leftOut", "uncertain", "downWindows", "windows"),
    *("target", "met", "budgetAllowed", "budgetSpent"),
]
"""The head of the file."""


def report_as_csv(report: Report) -> str:
    """Returns one line for each figure (RFC 4180)."""
    member = report.member
    of_report = [
        member.entity_id,
        "" if member.role is None else member.role.value,
        report.start.isoformat(),
        report.end.isoformat(),
        report.version,
    ]
    return csv_text(
        COLUMNS,
        (
            [
                *of_report,
                *(one.measure.value, one.api, one.value, "ms" if one.measure.in_ms else "percent"),
                *(one.part, one.whole, one.reporters, one.left_out, one.uncertain),
                *(one.down_windows, one.windows, one.target, _yes(one.met)),
                *((None, None) if one.budget is None else (one.budget.allowed, one.budget.spent)),
            ]
            for one in report.figures
        ),
    )


def _yes(met: bool | None) -> str | None:
    return None if met is None else "yes" if met else "no"
