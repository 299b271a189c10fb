"""Finds English that is left in a page of another language."""

import html
import json
import re

_ENGLISH = re.compile(r"[A-Za-z]{2,}(?: [A-Za-z]{2,})+")
"""Two English words in a row: a sentence of ours that no one translated."""

_TERMS = ("Account Aggregator Network", "FI request", "FI fetch")
"""The name of the network, and names of APIs that Hindi has as they are."""


def text_of(page: str) -> str:
    """The words that a reader sees or hears, one piece a line; not what is marked as English."""
    page = re.sub(r'<(ul|p|span) [^>]*lang="en".*?</\1>', "\n", page, flags=re.DOTALL)
    heard = re.findall(r'(?:aria-label|placeholder|title|alt|data-(?!post)\w+)="([^"]*)"', page)
    for texts in re.findall(r"data-words='([^']*)'", page):  # what the script of charts writes
        heard += json.loads(html.unescape(texts)).values()
    shown = re.sub(
        r"<(?:script|style|pre).*?</(?:script|style|pre)>|<[^>]+>", "\n", page, flags=re.DOTALL
    )
    return html.unescape("\n".join([shown, *heard]))


def english_in(page: str, *data: str) -> set[str]:
    """Words in English, but for `data`, which is the same in every language."""
    text = text_of(page)
    for one in sorted((*data, *_TERMS), key=len, reverse=True):  # a name may begin another
        text = text.replace(one, "")
    return set(_ENGLISH.findall(text))
