"""CSV files (RFC 4180) that are safe to open in a spreadsheet."""

import csv
import io
from collections.abc import Iterable
from typing import Final

_FORMULA_STARTS: Final = (
    "=",
    "+",
    "-",
    "@",
    "\t",
    "\r",
    "\n",
    *"\uff1d\uff0b\uff0d\uff20\u2212\ufe62\ufe63\ufe66\ufe6b",
)
"""The wide and small forms count too: spreadsheets of some languages read them as the others."""


def csv_text(header: Iterable[object], rows: Iterable[Iterable[object]]) -> str:
    """Return a header and rows as CSV; None is an empty cell.

    Text that a spreadsheet would run as a formula gets an apostrophe in front
    (OWASP, "CSV Injection"): entity IDs and reasons come from outside.
    """
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(header)
    writer.writerows([safe_cell(cell) for cell in row] for row in rows)
    return text.getvalue()


def safe_cell(cell: object) -> object:
    """Return a cell that no spreadsheet runs; numbers stay numbers."""
    if isinstance(cell, str) and cell.startswith(_FORMULA_STARTS):
        return f"'{cell}"
    return cell


def plain_cell(cell: str) -> str:
    """Return the text that `safe_cell` was given: a file that was exported reads as it was."""
    return cell[1:] if cell[:1] == "'" and cell[1:].startswith(_FORMULA_STARTS) else cell
