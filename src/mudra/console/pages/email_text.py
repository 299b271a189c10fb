"""Emails on pages: the text, whose addresses of the console are links by name, and the severity."""

import re
from typing import Final
from urllib.parse import urlsplit

from msgspec import Struct

from mudra.console.health.labels import SEVERITY_TONES
from mudra.localization.language import gettext, translatable
from mudra.shared.mail.email_message import links_in

_CONSOLE: Final = "/console/"
_LABELS: Final = (
    (re.compile(r"/incidents/"), translatable("Open the incident")),
    (re.compile(r"/disputes"), translatable("Open the dispute")),
    (re.compile(r"/levels"), translatable("Open the service levels")),
    (re.compile(r"/secret"), translatable("Open the page Secret")),
    (re.compile(r"/(registration|approvals)"), translatable("Open the registration")),
    (re.compile(r"/health"), translatable("Open the page Health")),
    (re.compile(r"/account"), translatable("Open your account")),
)
_OTHERWISE: Final = translatable("Open the console")


_SEVERITY: Final = re.compile(r"\[([^\]]+)\] (.+)", re.DOTALL)
"""A subject that begins with a severity."""


def severity_of(subject: str) -> str:
    """Returns what a subject begins with in brackets, in the language that it was written in."""
    found = _SEVERITY.fullmatch(subject)
    return found[1] if found else ""


def without_severity(subject: str) -> str:
    """Returns a subject without what it begins with in brackets."""
    found = _SEVERITY.fullmatch(subject)
    return found[2] if found else subject


def severity_tone(subject: str) -> str:
    """Returns the tone of a subject's severity; an email is in English, or in the page's."""
    tones = {
        word.capitalize(): tone
        for level, tone in SEVERITY_TONES.items()
        for word in (level.value, gettext(level))
    }
    return tones.get(severity_of(subject), "quiet")


class Piece(Struct, frozen=True):
    """A piece of the text; with a `path` it is a link to that page of the console."""

    text: str
    path: str = ""


def pieces(text: str) -> list[Piece]:
    """Splits the text of an email at its addresses of the console, whatever host they name.

    Only the path is kept: a text that someone else wrote leads to no other host.
    """
    found, rest = list[Piece](), text
    for link in links_in(text):
        parts = urlsplit(link)
        if not parts.path.startswith(_CONSOLE):
            continue
        before, _, rest = rest.partition(link)
        fragment = f"#{parts.fragment}" if parts.fragment else ""
        found += [Piece(before), Piece(_label(parts.path), parts.path + fragment)]
    return [one for one in (*found, Piece(rest)) if one.text]


def paragraphs(text: str) -> list[list[Piece]]:
    """Splits the text of an email into its paragraphs, each of pieces.

    A line that only announces the address below it is left out: its button says it.
    """
    found = [pieces(one) for one in text.strip().split("\n\n") if one.strip()]
    pairs = zip(found, [*found[1:], []], strict=True)
    return [one for one, after in pairs if not (_announces(one) and _is_button(after))]


def _announces(paragraph: list[Piece]) -> bool:
    text = paragraph[0].text.strip()
    return len(paragraph) == 1 and text.endswith(":") and "\n" not in text


def _is_button(paragraph: list[Piece]) -> bool:
    return len(paragraph) == 1 and bool(paragraph[0].path)


def without_greeting(found: list[list[Piece]]) -> list[list[Piece]]:
    """Returns the paragraphs without the first one where it greets: it ends with a comma."""
    first = found[0] if found else []
    return found[1:] if len(first) == 1 and first[0].text.endswith(",") else found


def _label(path: str) -> str:
    label = next((label for word, label in _LABELS if word.search(path)), _OTHERWISE)
    return gettext(label)
