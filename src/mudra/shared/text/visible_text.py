"""The characters that a text for people may hold: each is seen, or changes how its word is read.

What has no glyph makes two names look equal, and what turns the direction makes one read as
another. The rule goes by Unicode's general category (UAX 44); letters and marks without a glyph
are named (UAX 44, Default_Ignorable_Code_Point, and the blanks).
"""

import unicodedata
from collections.abc import Iterator
from typing import Final

_UNSEEN: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
_BLANK: Final = frozenset(
    "\u034f"  # combining grapheme joiner
    "\u115f\u1160\u3164\uffa0"  # fillers of Hangul
    "\u17b4\u17b5"  # inherent vowels of Khmer
    "\u180b\u180c\u180d\u180f"  # selectors of Mongolian
    "\u2800"  # a cell of Braille without dots
    "\U0001d159"  # a note without a head
)
_JOINERS: Final = frozenset("\u200c\u200d")
_AS_EMOJI: Final = "\ufe0f"
_FIRST_SCRIPT_WITH_JOINERS: Final = "\u0600"
"""Arabic; those of Latin, Greek, Cyrillic, Armenian and Hebrew come before it."""


def first_unseen(text: str, layout: str = "") -> str:
    """Return the first character that must not be there, or `""`; those in `layout` may be.

    A joiner may follow a letter, mark or sign of a script that has joiners, as words in Hindi
    and Malayalam need; U+FE0F may follow a sign, which it turns into an emoji.
    """
    return next((one for one in _unseen(text) if one not in layout), "")


def without_unseen(text: str) -> str:
    """Return a text without the characters that `first_unseen` would name."""
    return "".join(
        one for before, one in zip(("", *text), text, strict=False) if not _is_unseen(one, before)
    )


def _unseen(text: str) -> Iterator[str]:
    before = ""
    for one in text:
        if _is_unseen(one, before):
            yield one
        before = one


def _is_unseen(one: str, before: str) -> bool:
    if one.isascii():
        return not one.isprintable()
    if one in _JOINERS:
        return before < _FIRST_SCRIPT_WITH_JOINERS or before in _JOINERS
    if one == _AS_EMOJI:
        return unicodedata.category(before or " ") != "So"
    return one in _BLANK or _is_selector(one) or unicodedata.category(one) in _UNSEEN


def _is_selector(one: str) -> bool:
    return "\ufe00" <= one <= "\ufe0f" or "\U000e0100" <= one <= "\U000e01ef"
