"""The page about the console names each page of its menus."""

import re

import pytest
from tests.support.documents.blocks import text_of

from mudra.console.framework.navigation import MEMBER_ITEMS, OPERATOR_ITEMS

GUIDE = text_of("docs/how-to/console.md")


def pages_of(heading: str) -> set[str]:
    """The second column of the tables below a heading."""
    section = GUIDE.partition(f"## {heading}\n")[2].partition("\n## ")[0]
    cells = re.findall(r"^\| [^|]+ \| ([^|]+) \|", section, re.MULTILINE)
    return {page for cell in cells for page in re.split(r", |; | \*r\*", cell.strip())}


@pytest.mark.parametrize(
    ("heading", "items"),
    [("As a member's admin", MEMBER_ITEMS), ("As an operator", OPERATOR_ITEMS)],
)
def test_each_page_of_a_menu_is_in_its_table(heading, items) -> None:
    assert {item.title for item in items} - pages_of(heading) == set()


def test_the_pages_of_readers_are_marked() -> None:
    marked = set(re.findall(r"\| ([\w ]+) \*r\* \|", GUIDE))

    assert marked == {item.title for item in MEMBER_ITEMS if item.readers}
