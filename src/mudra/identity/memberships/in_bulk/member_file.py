"""Members in a CSV file (RFC 4180): what an import reads, and an export writes. Pure."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct

from mudra.identity.memberships.member import Contact
from mudra.identity.memberships.member_search import MemberRow
from mudra.identity.memberships.onboard import NewMember
from mudra.shared.refusal import Refusal, RefusalKind, ValueRefused
from mudra.shared.text.csv_file import CsvRefused, csv_rows, csv_text, plain_cell

COLUMNS: Final = (
    "entityId",
    "type",
    "name",
    "adminEmail",
    "adminName",
    "contactEmail",
    "contactPhone",
)
REQUIRED: Final = COLUMNS[:4]
MAX_ROWS: Final = 2000
MAX_BYTES: Final = 1024 * 1024
_MAX_CELL: Final = 500
_MAX_COLUMNS: Final = 50


class FileRefused(Refusal, frozen=True):
    """No file of members: nothing of it was read further. `line` is 0 where no one line is it."""

    kind = RefusalKind.INVALID
    line: int
    problem: str

    @property
    def sentence(self) -> str:
        """Returns the text for the caller."""
        line = f", line {self.line}," if self.line else ""
        return f"the file{line} {self.problem}"


class FileRow(Struct, frozen=True):
    """A row as the file has it; `line` is the first of it, as an editor counts.

    `fault` says why it is not even tried.
    """

    line: int
    new: NewMember
    contact: Contact = Contact()
    fault: ValueRefused | None = None


def read_member_file(content: bytes | str) -> Sequence[FileRow] | FileRefused:
    """Read the rows of a file in UTF-8 whose first line names its columns, in any order.

    Separated by comma or semicolon, with or without a byte order mark. Other columns are refused:
    what an operator wrote there would be lost without a word.
    """
    if len(content) > MAX_BYTES:
        return FileRefused(0, f"is larger than {MAX_BYTES} bytes")
    try:
        return _rows(csv_rows(content))
    except CsvRefused as wrong:
        return FileRefused(wrong.line, str(wrong))


def member_file(rows: Iterable[MemberRow], names: Mapping[str, str]) -> str:
    """Write members as an import reads them; `names` are those of the admins, by address.

    Of several admins it has the first.
    """
    return csv_text(
        COLUMNS,
        (
            (
                *(row.entity_id, row.entity_type, row.name),
                *((row.admins[0], names.get(row.admins[0], "")) if row.admins else ("", "")),
                *(row.contact, row.phone),
            )
            for row in rows
        ),
        for_people=True,
    )


def _rows(found: Iterator[tuple[int, list[str]]]) -> Sequence[FileRow] | FileRefused:
    first, head = next(found, (1, []))
    columns = [cell.strip() for cell in head]
    refused = _columns_refused(columns)
    if refused:
        return FileRefused(first, refused)
    rows: list[FileRow] = []
    for line, cells in found:
        if len(rows) == MAX_ROWS:
            return FileRefused(line, f"has more than {MAX_ROWS} rows: import it in parts")
        rows.append(_row(line, columns, cells))
    return rows or FileRefused(0, "has no row after the line of its columns")


def _columns_refused(columns: Sequence[str]) -> str:
    missing = [name for name in REQUIRED if name not in columns]
    if missing or len(columns) > _MAX_COLUMNS:
        return f"must name the columns {', '.join(REQUIRED)}: {', '.join(missing)} is missing"
    for number, name in enumerate(columns, start=1):
        if name not in COLUMNS:
            return f"column {number} must be one of {', '.join(COLUMNS)}"
        if name in columns[: number - 1]:
            return f"column {number} is {name} again"
    return ""


def _row(line: int, columns: Sequence[str], cells: Sequence[str]) -> FileRow:
    given = {name: plain_cell(cell.strip()) for name, cell in zip(columns, cells, strict=False)}
    new = NewMember(*(given.get(name, "") for name in COLUMNS[:5]))
    return FileRow(
        line,
        new,
        Contact(given.get("contactEmail", ""), given.get("contactPhone", "")),
        _fault(given, columns, cells),
    )


def _fault(
    given: Mapping[str, str], columns: Sequence[str], cells: Sequence[str]
) -> ValueRefused | None:
    if len(cells) != len(columns):
        return ValueRefused("row", f"has {len(cells)} cells, and the first line {len(columns)}")
    for name, cell in given.items():
        if len(cell) > _MAX_CELL:
            return ValueRefused(name, f"must have at most {_MAX_CELL} characters")
    return None
