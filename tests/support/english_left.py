"""Finds English that is left in a page of another language."""

import html
import re

_ENGLISH = re.compile(r"[A-Za-z]{2,}(?: [A-Za-z]{2,})+")
"""Two English words in a row: a sentence of ours that no one translated."""


def text_of(page: str) -> str:
    """The words that a reader sees or hears, one piece a line."""
    heard = re.findall(r'(?:aria-label|placeholder|title|alt|data-(?!post)\w+)="([^"]*)"', page)
    shown = re.sub(
        r"<(?:script|style|pre).*?</(?:script|style|pre)>|<[^>]+>", "\n", page, flags=re.DOTALL
    )
    return html.unescape("\n".join([shown, *heard]))


def english_in(page: str, *data: str) -> set[str]:
    """Words in English, but for `data`, which is the same in every language."""
    text = text_of(page)
    for one in (*data, "Account Aggregator Network"):
        text = text.replace(one, "")
    return set(_ENGLISH.findall(text))
