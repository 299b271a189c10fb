"""The changelog is what a reader can act on: few entries for each release, each of them short."""

import re
from pathlib import Path

CHANGELOG = (Path(__file__).parents[3] / "CHANGELOG.md").read_text(encoding="utf-8")
MOST_ENTRIES = 60
MOST_CHARACTERS = 260
RELEASES = re.split(r"^## ", CHANGELOG, flags=re.MULTILINE)[1:]


def test_a_release_has_few_entries() -> None:
    counts = {part.partition("\n")[0]: part.count("\n- ") for part in RELEASES}

    assert max(counts.values()) <= MOST_ENTRIES, counts


def test_an_entry_is_short() -> None:
    entries = re.findall(r"^- .*(?:\n  .*)*", CHANGELOG, re.MULTILINE)

    assert [entry for entry in entries if len(entry) > MOST_CHARACTERS] == []


def test_entries_name_their_readers() -> None:
    assert [part for part in RELEASES if "\n- " in part.partition("\n### ")[0]] == []
