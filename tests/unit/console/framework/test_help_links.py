"""Each page of the console leads to its how-to, and to a heading that there is."""

import re
from pathlib import Path

import pytest

from mudra.console.framework.navigation import (
    ACCOUNT,
    MEMBER_ITEMS,
    OPERATOR_ITEMS,
    SECOND_FACTOR,
    help_path,
    member_path,
    operator_path,
)

DOCS = Path("docs")
PAGES = [
    *(operator_path(item.word) for item in OPERATOR_ITEMS),
    *(member_path("KAVERI-FIP", item.word) for item in MEMBER_ITEMS),
    *(
        operator_path(word)
        for word in ("import", "onboard", "bulk", "search", "members/KAVERI-FIP")
    ),
    *("/console", ACCOUNT, SECOND_FACTOR, f"{ACCOUNT}/webhooks"),
]


def anchors(page: Path) -> set[str]:
    headings = re.findall(r"^#+ (.+)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", one).strip().lower().replace(" ", "-") for one in headings}


@pytest.mark.parametrize("page", PAGES)
def test_the_help_of_a_page_is_there(page: str) -> None:
    path, _, anchor = help_path(page).removeprefix("/docs/").partition("#")

    written = DOCS / path.replace(".html", ".md")

    assert written.is_file()
    assert not anchor or anchor in anchors(written)


def test_a_deeper_page_has_the_help_of_its_own() -> None:
    incident = operator_path("incidents/00000000-0000-4000-8000-000000000000")

    assert help_path(incident) == help_path(operator_path("incidents"))
    assert help_path(operator_path("import")) != help_path(operator_path("members"))
    assert help_path(member_path("KAVERI-FIP", "registration")).endswith("#as-a-member")
