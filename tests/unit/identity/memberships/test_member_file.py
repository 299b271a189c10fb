"""Reading a CSV file of members: its forms, its bounds, and the line and column of a fault."""

import pytest

from mudra.identity.memberships.in_bulk.member_file import COLUMNS, FileRefused, read_member_file
from mudra.identity.memberships.member import Contact
from mudra.identity.memberships.onboard import NewMember

MAX_BYTES = 1024 * 1024
MAX_ROWS = 2000

HEAD = "entityId,type,name,adminEmail"
ROW = "TAPI-FIP,FIP,Tapi Bank,ila@tapi.example"
TAPI = NewMember("TAPI-FIP", "FIP", "Tapi Bank", "ila@tapi.example")


@pytest.mark.parametrize(
    "content",
    [
        f"{HEAD}\n{ROW}",
        f"\ufeff{HEAD}\r\n{ROW}\r\n\r\n",
        f"{HEAD}\n{ROW}".replace(",", ";"),
        'name,"adminEmail",type,entityId\n"Tapi Bank","ila@tapi.example", FIP ,TAPI-FIP\n',
    ],
)
def test_a_file_is_read_with_or_without_a_mark_by_comma_or_semicolon(content: str) -> None:
    for sent in (content, content.encode()):
        rows = read_member_file(sent)
        assert not isinstance(rows, FileRefused)
        assert [(one.line, one.new, one.fault) for one in rows] == [(2, TAPI, None)]


def test_a_row_has_the_line_at_which_an_editor_shows_it() -> None:
    rows = read_member_file(
        f'{HEAD}\r\n{ROW}\r\n\r\nA,FIP,"two\r\nlines",a@b.example\r\n{ROW},more'
    )
    assert not isinstance(rows, FileRefused)
    assert [one.line for one in rows] == [2, 4, 6]
    assert rows[2].fault is not None
    assert "5 cells" in rows[2].fault.problem


def test_a_cell_that_an_export_made_harmless_reads_as_it_was() -> None:
    head = ",".join(COLUMNS)
    rows = read_member_file(f"{head}\n'-TAPI,FIP,'=Bank,a@b.example,O'Neil,,'+91 80 4000 1234")
    assert not isinstance(rows, FileRefused)
    assert rows[0].new == NewMember("-TAPI", "FIP", "=Bank", "a@b.example", "O'Neil")
    assert rows[0].contact == Contact("", "+91 80 4000 1234")


@pytest.mark.parametrize(
    ("content", "line", "problem"),
    [
        (b"", 1, "entityId, type, name, adminEmail is missing"),
        (HEAD.encode(), 0, "no row"),
        (f"{HEAD}\n{ROW}\nA,FIP,\xe9,a@b.example".encode("latin-1"), 3, "UTF-8"),
        (f"{HEAD}\n{ROW}".encode("utf-16"), 1, "UTF-8"),
        (f"{HEAD},status\n{ROW},active".encode(), 1, "column 5 must be one of"),
        (f"{HEAD},type\n{ROW},FIP".encode(), 1, "column 5 is type again"),
        (f'{HEAD}\n{ROW}\n"A,FIP'.encode(), 3, "not CSV"),
        (f"{HEAD}\n{ROW}\n".encode() + b"x" * MAX_BYTES, 0, "larger"),
        ((HEAD + f"\n{ROW}" * (MAX_ROWS + 1)).encode(), MAX_ROWS + 2, "more than 2000 rows"),
    ],
)
def test_a_file_that_is_none_is_refused_with_its_line(
    content: bytes, line: int, problem: str
) -> None:
    refused = read_member_file(content)
    assert isinstance(refused, FileRefused)
    assert refused.line == line
    assert problem in refused.problem
