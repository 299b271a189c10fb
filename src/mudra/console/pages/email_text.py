"""The text of an email on a page: an address of the console is a link that says where it leads."""

import re
from typing import Final
from urllib.parse import urlsplit

from msgspec import Struct

from mudra.localization.language import gettext, translatable
from mudra.shared.email_message import links_in

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
    return [*found, Piece(rest)]


def _label(path: str) -> str:
    label = next((label for word, label in _LABELS if word.search(path)), _OTHERWISE)
    return gettext(label)
