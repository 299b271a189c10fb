import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mudra.metrics.health.health import Status
from mudra.metrics.public_status.public_rows import PublicRow, public_csv
from mudra.shared.text.csv_file import csv_text, plain_cell, safe_cell

STARTS = ["=", "+", "-", "@", "\t", "\r", "\n"]
STARTS += ["\uff1d", "\uff0b", "\uff0d", "\uff20", "\ufe62", "\ufe66"]  # full-width and small
STARTS += [" =", "\u00a0\uff0b", "\u200b@", "\ufeff=", "\u202e-"]


@pytest.mark.parametrize("start", STARTS)
def test_a_cell_that_a_spreadsheet_would_run_is_neutralized(start: str) -> None:
    text = csv_text(["fip_id"], [[f"{start}CALL-1800"]])

    assert list(csv.reader(io.StringIO(text, newline="")))[1] == [f"'{start}CALL-1800"]


@pytest.mark.parametrize("text", ["Kaveri Bank", "कावेरी", "(=1)", "_@", "", " ", "१=1", "'=1"])
def test_a_plain_text_stays_as_it_is(text: str) -> None:
    assert safe_cell(text) == text


@given(st.text())
def test_an_exported_cell_is_read_as_it_was(text: str) -> None:
    assert plain_cell(str(safe_cell(text))) in (text, text.removeprefix("'"))


def test_a_file_for_people_begins_with_a_mark_and_open_data_does_not() -> None:
    assert csv_text(["name"], [["कावेरी"]], for_people=True) == "\ufeffname\r\nकावेरी\r\n"
    assert csv_text(["name"], []) == "name\r\n"


def test_numbers_and_missing_values_stay_as_they_are() -> None:
    assert csv_text(["a", "b"], [[-5, None]]) == "a,b\r\n-5,\r\n"


def test_an_entity_id_that_is_a_formula_is_neutralized_in_the_public_file() -> None:
    row = PublicRow("@CALL-1800", "discovery", Status.UNSURE, *[None] * 9)

    assert "\r\n'@CALL-1800,discovery," in public_csv([row])
