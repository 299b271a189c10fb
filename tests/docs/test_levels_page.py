"""The page that defines service levels has the targets that are shipped, and every measure."""

import re

from tests.support.documents.blocks import text_of

from mudra.levels.printing.report_csv import COLUMNS
from mudra.levels.target import SHIPPED, Measure

PAGE = "docs/explanation/service-levels.md"
HOW_TO = "docs/how-to/service-levels.md"


def rows(page: str, heading: str) -> list[list[str]]:
    part = text_of(page).partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    lines = [line for line in part.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def test_the_targets_are_the_shipped_ones() -> None:
    listed = [
        (role, name, re.sub(r"\D+$", "", value).replace(",", ""), value, why)
        for role, name, value, why in rows(PAGE, "Targets")[1:]
    ]

    assert sorted(one[:3] for one in listed) == sorted(
        (one.role.value, one.measure.value, f"{one.value:g}") for one in SHIPPED
    )
    for target in SHIPPED:
        (shown,) = [one for one in listed if one[:2] == (target.role, target.measure)]
        unit, bound = (
            "ms" if target.measure.in_ms else "%",
            "less" if target.measure.at_most else "more",
        )
        assert shown[3].endswith(f" {unit} or {bound}")
        assert shown[4] == target.reason


def test_every_measure_is_defined_by_the_name_in_files_and_calls() -> None:
    named = {
        name for row in rows(PAGE, "The numbers")[1:] for name in re.findall(r"`(\w+)`", row[1])
    }

    assert {one.value for one in Measure} <= named


def test_every_column_of_the_csv_is_explained() -> None:
    table = rows(HOW_TO, "As an operator")[1:]

    assert [name for row in table for name in re.findall(r"`(\w+)`", row[0])] == COLUMNS
