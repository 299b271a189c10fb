"""Names that look alike: the form in which they are equal (UTS 39, 4).

Case, width, accents, spaces, invisible characters, and letters of one script that look like those
of another are left out. Only for comparison; no one reads it.
"""

import unicodedata
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.resources import files
from typing import Final

import msgspec
from msgspec import Struct

from mudra.shared.text.visible_text import without_unseen

_FIRST_ACCENT: Final = 200
"""Combining class of marks above and below letters; vowel signs of Indian scripts have less."""
_JOINERS: Final = frozenset("\u200c\u200d\ufe0f")


def likeness(text: str) -> str:
    """Return what all texts have in common that a reader could take for this one."""
    # Twice: a capital looks like others than its small form does.
    plain = _plain(_plain(text))
    return "".join(one for one in plain if not one.isspace() and one not in _JOINERS) or text


def _plain(text: str) -> str:
    alike = _alike()
    seen = without_unseen(unicodedata.normalize("NFKD", text))
    letters = (one for one in seen if unicodedata.combining(one) < _FIRST_ACCENT)
    return "".join(alike.get(one, one) for one in letters).casefold()


class _Other(Struct):
    c: str


@cache
def _alike() -> Mapping[str, str]:
    """Return for each character the one by which all that look like it are known.

    The letters of Unicode's list form groups. A group is known by its longest text of plain
    letters (`rn` looks like m), else by its first plain one, a digit or sign.
    """
    listed = files("confusable_homoglyphs").joinpath("confusables.json").read_bytes()
    links = {
        one: [other.c for other in others if len(other.c) == 1 or other.c.isascii()]
        for one, others in msgspec.json.decode(listed, type=dict[str, list[_Other]]).items()
    }
    found: dict[str, str] = {}
    for one in links:
        if one not in found:
            group = _group(one, links)
            found.update(dict.fromkeys(group, min(group, key=_plainness)))
    # Of marks only accents are left out: a dot above is the nasal sign of Hindi as well.
    return {
        one: known
        for one, known in found.items()
        if len(one) == 1 and not unicodedata.category(one).startswith("M")
    }


def _group(one: str, links: Mapping[str, Iterable[str]]) -> set[str]:
    group, ahead = {one}, [one]
    while ahead:
        new = set(links.get(ahead.pop(), ())) - group
        group |= new
        ahead.extend(new)
    return group


def _plainness(text: str) -> tuple[bool, int, bool, str]:
    return (not text.isascii(), -len(text), not text.isalpha(), text)
