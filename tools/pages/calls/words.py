"""Lists of words that a page explains once: each field that may have them links to its list."""

import re
from collections import defaultdict
from typing import Final

_ROW: Final = re.compile(r"^\| `(?P<field>[^`|]+)` \|.*?<br>.*$", re.MULTILINE)
_LIST: Final = re.compile(r"<br>(?P<points>`[^`|]+`: .+?)(?P<rest>; default `[^`]+`)? \|$")
_FEWEST: Final = 5
"""Words of a list that is not written twice on a page."""
_Words = frozenset[str]


def with_one_list_each(page: str) -> str:
    """Returns the page with lists that several fields have at its end, in place of each cell."""
    fields: dict[_Words, list[str]] = defaultdict(list)
    for row in _ROW.finditer(page):
        if words := _words_of(row[0]):
            fields[words].append(row["field"])
    shared = {words: _heading(names) for words, names in fields.items() if len(names) > 1}
    if not shared:
        return page
    names = list(shared.values())
    assert len(names) == len(set(names)), f"two lists of words have one heading: {names}"
    parts = [_section(shared[words], words) for words in sorted(shared, key=shared.__getitem__)]
    return "\n".join([_ROW.sub(lambda row: _linked(row[0], shared), page), "## Words\n", *parts])


def _words_of(row: str) -> _Words:
    found = _LIST.search(row)
    points = found["points"].split("<br>") if found else []
    return frozenset(points) if len(points) >= _FEWEST else frozenset()


def _heading(fields: list[str]) -> str:
    """Returns a heading by the name that most of the fields have."""
    names = sorted(field.rpartition(".")[2] for field in fields)
    return f"Words of {max(names, key=names.count)}"


def _linked(row: str, shared: dict[_Words, str]) -> str:
    heading = shared.get(_words_of(row))
    if heading is None:
        return row
    anchor = heading.lower().replace(" ", "-")
    return _LIST.sub(lambda found: f" [{heading}](#{anchor}){found['rest'] or ''} |", row)


def _section(heading: str, words: _Words) -> str:
    rows = [f"| {' | '.join(point.split(': ', 1))} |" for point in sorted(words)]
    return "\n".join([f"### {heading}\n", "| word | meaning |", "|---|---|", *rows, ""])
