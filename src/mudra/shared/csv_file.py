"""CSV files (RFC 4180): safe to open in a spreadsheet, and read as people write them."""

import csv
import io
import unicodedata
from collections.abc import Iterable, Iterator
from typing import Final, Protocol

MARK: Final = "\ufeff"
"""At the beginning of files for people: without it Excel reads UTF-8 as another encoding."""
_FORMULA_STARTS: Final = frozenset("=+-@")
_CONTROL_STARTS: Final = frozenset("\t\r\n")
_UNSEEN: Final = frozenset({"Zs", "Cf", "Cc"})


class CsvReader(Protocol):
    """A reader of the library, which counts the lines that it has read."""

    line_num: int

    def __iter__(self) -> Iterator[list[str]]: ...

    def __next__(self) -> list[str]: ...


def csv_reader(text: str) -> CsvReader:
    """Return the rows of a text, separated by comma or semicolon, whichever its first line has.

    Reading raises csv.Error for what is no CSV, such as a quote without its end.
    """
    text = text.removeprefix(MARK)
    head = text.lstrip().partition("\n")[0]
    delimiter = ";" if head.count(";") > head.count(",") else ","
    return csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)


def csv_text(
    header: Iterable[object], rows: Iterable[Iterable[object]], *, for_people: bool = False
) -> str:
    """Return a header and rows as CSV; None is an empty cell.

    A file `for_people` begins with a byte order mark, open data for programs does not. Text that
    a spreadsheet would run as a formula gets an apostrophe in front (OWASP, "CSV Injection"):
    entity IDs and reasons come from outside.
    """
    text = io.StringIO(MARK if for_people else "")
    text.seek(0, io.SEEK_END)
    writer = csv.writer(text)
    writer.writerow(header)
    writer.writerows([safe_cell(cell) for cell in row] for row in rows)
    return text.getvalue()


def safe_cell(cell: object) -> object:
    """Return a cell that no spreadsheet runs; numbers stay numbers."""
    return f"'{cell}" if isinstance(cell, str) and _is_run(cell) else cell


def plain_cell(cell: str) -> str:
    """Return the text that `safe_cell` was given: a file that was exported reads as it was."""
    return cell[1:] if cell[:1] == "'" and _is_run(cell[1:]) else cell


def _is_run(text: str) -> bool:
    """Return whether a spreadsheet may run a text: also by a full-width sign, or after blanks."""
    if text[:1].isalnum():
        return False
    if text[:1] in _CONTROL_STARTS:
        return bool(text)
    first = next((one for one in text if unicodedata.category(one) not in _UNSEEN), "")
    return unicodedata.normalize("NFKC", first)[:1] in _FORMULA_STARTS
