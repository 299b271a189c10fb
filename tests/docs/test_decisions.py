"""The records of decisions: an index that has them all, one form, and no reference to a missing one."""

import re
from pathlib import Path

RECORDS = sorted(
    file for file in Path("docs/decisions").glob("[0-9]*.md") if file.name[:4] != "0000"
)
NUMBERS = {file.name[:4] for file in RECORDS}
MAX_LINES = 80
CITED = re.compile(r"\b[Dd]ecisions? (\d{4})\b|[(\[](0[0-2]\d\d)[)\]]|\bdecisions/(\d{4})-")
FOLDERS = ("src", "tests", "bench", "tools", "deploy", "docs")


def test_the_index_has_each_record_with_its_title() -> None:
    listed = re.findall(
        r"^\| \[(\d{4})\]\((\S+)\) \| (.+) \|$",
        Path("docs/decisions/README.md").read_text(),
        re.MULTILINE,
    )

    assert listed == [
        (file.name[:4], file.name, title_of(file).removeprefix(f"# {file.name[:4]} · "))
        for file in RECORDS
    ]


def test_a_record_has_one_form_and_fits_on_a_page() -> None:
    for file in RECORDS:
        text = file.read_text()

        assert len(text.splitlines()) <= MAX_LINES, file
        assert title_of(file).startswith(f"# {file.name[:4]} · "), file
        headings = re.findall(r"^## (\w+)$", text, re.MULTILINE)
        assert (headings[:2], headings[-1]) == (["Context", "Decision"], "Alternatives"), file


def test_no_text_cites_a_missing_record() -> None:
    files = [file for one in FOLDERS for file in Path(one).rglob("*.*") if is_text(file)]
    missing = {
        (str(file), number)
        for file in [*files, *Path().glob("*.md")]
        for found in CITED.findall(file.read_text())
        if (number := next(filter(None, found))) not in NUMBERS | {"0000"}
    }

    assert missing == set()


def title_of(file: Path) -> str:
    return file.read_text().partition("\n")[0]


def is_text(file: Path) -> bool:
    """Whether it is a program or a document of ours; none that was built."""
    return file.suffix in {".py", ".md", ".yml", ".yaml", ".html"} and "site" not in file.parts
