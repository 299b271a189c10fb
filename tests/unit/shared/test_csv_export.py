import csv
import io

import pytest

from mudra.metrics.health.health import Status
from mudra.metrics.health.public_rows import PublicRow, public_csv
from mudra.shared.csv_export import csv_text


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r"])
def test_a_cell_that_a_spreadsheet_would_run_is_neutralized(start: str) -> None:
    text = csv_text(["fip_id"], [[f"{start}CALL-1800"]])

    assert list(csv.reader(io.StringIO(text, newline="")))[1] == [f"'{start}CALL-1800"]


def test_numbers_and_missing_values_stay_as_they_are() -> None:
    assert csv_text(["a", "b"], [[-5, None]]) == "a,b\r\n-5,\r\n"


def test_an_entity_id_that_is_a_formula_is_neutralized_in_the_public_file() -> None:
    row = PublicRow("@CALL-1800", "discovery", Status.UNSURE, *[None] * 9)

    assert "\r\n'@CALL-1800,discovery," in public_csv([row])
