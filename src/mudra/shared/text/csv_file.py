"""CSV files (RFC 4180): safe to open in a spreadsheet, and read as people write them."""

import csv
import io
import unicodedata
from collections.abc import Iterable, Iterator
from typing import Final

MARK: Final = "\ufeff"
"""At the beginning of files for people: without it Excel reads UTF-8 as another encoding."""
_FORMULA_STARTS: Final = frozenset("=+-@")
_CONTROL_STARTS: Final = frozenset("\t\r\n")
_UNSEEN: Final = frozenset({"Zs", "Cf", "Cc"})


class CsvRefused(ValueError):
    """A content is no CSV in UTF-8 from this line on; the text says what it is."""

    def __init__(self, line: int, sentence: str) -> None:
        super().__init__(sentence)
        self.line = line


def csv_rows(content: str | bytes) -> Iterator[tuple[int, list[str]]]:
    """Return the rows that are not empty, each with the line, from 1, at which it begins.

    Cells are separated by comma or semicolon, whichever the first line has more of. Reading
    raises CsvRefused for what is not UTF-8 or no CSV, such as a quote without its end.
    """
    try:
        text = content if isinstance(content, str) else content.decode()
    except UnicodeDecodeError as wrong:
        line = wrong.object.count(b"\n", 0, wrong.start) + 1
        raise CsvRefused(line, "is not UTF-8: save the file as CSV in UTF-8") from None
    text = text.removeprefix(MARK)
    head = text.lstrip().partition("\n")[0]
    delimiter = ";" if head.count(";") > head.count(",") else ","
    reader, before = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True), 0
    try:
        for cells in reader:
            if any(cell.strip() for cell in cells):
                yield before + 1, cells
            before = reader.line_num
    except csv.Error as wrong:
        raise CsvRefused(reader.line_num, f"is not CSV: {wrong}") from None


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
