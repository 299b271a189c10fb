"""Reads catalogues (.po) and refuses what a page could not show.

A translation is text: it is escaped like any other, and may use the values of its message and no
others. Babel reads the file, the standard library looks messages up.
"""

import functools
import gettext
import re
from collections.abc import Iterator, Sequence
from io import BytesIO, StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Final

from msgspec import Struct

if TYPE_CHECKING:
    from babel.messages import Catalog, Message

MAX_BYTES: Final = 2_000_000
_PERCENT: Final = re.compile(r"%(?:%|\((?P<name>[a-z_]{1,40})\)[sd])")
_COUNT: Final = "num"


class CatalogueError(Exception):
    """A catalogue cannot be used: the text names the file, the line and what is wrong."""


class LoadedCatalogue(Struct, frozen=True):
    """A catalogue that was read and checked."""

    translations: gettext.NullTranslations
    messages: frozenset[str]
    """The messages that have a translation."""


def read_catalogue(path: Path, tag: str) -> LoadedCatalogue:
    """Read a .po file; raises CatalogueError for the first mistake."""
    from babel.messages.mofile import write_mo  # noqa: PLC0415  # loaded with the first catalogue

    if not own_name(tag):
        raise CatalogueError(f"{path}: {tag} is no language that Unicode's CLDR knows")
    catalogue = _parsed(path, tag)
    for message in catalogue:
        fault = _fault(message, catalogue.num_plurals) if message.id else ""
        if fault:
            raise CatalogueError(f"{path}:{message.lineno}: {fault}")
    compiled = BytesIO()
    write_mo(compiled, catalogue)
    compiled.seek(0)
    try:
        translations = gettext.GNUTranslations(compiled)
    except ValueError as error:
        raise CatalogueError(f"{path}: its header Plural-Forms cannot be read: {error}") from None
    done = frozenset(_first(one) for one in catalogue if one.id and one.string and not one.fuzzy)
    return LoadedCatalogue(translations, done)


def own_name(tag: str) -> str:
    """Return what a language calls itself; empty for one that Unicode's CLDR does not know."""
    from babel import Locale, UnknownLocaleError  # noqa: PLC0415  # as above

    try:
        return Locale.parse(tag.replace("-", "_")).get_display_name() or tag
    except (UnknownLocaleError, ValueError):
        return ""


@functools.cache
def message_ids(template: Path) -> frozenset[str]:
    """Return the messages of a template (.pot), read once in a process."""
    return frozenset(_first(one) for one in _parsed(template, "en") if one.id)


def missing(template: Path, catalogues: Sequence[LoadedCatalogue]) -> frozenset[str]:
    """Return the messages that none of the catalogues of a language translates."""
    return message_ids(template).difference(*(one.messages for one in catalogues))


def _parsed(path: Path, tag: str) -> "Catalog":
    from babel.messages.pofile import PoFileError, read_po  # noqa: PLC0415  # as above

    try:
        raw = path.read_bytes()
    except OSError as error:
        raise CatalogueError(f"{path}: cannot be read: {error.strerror}") from None
    if len(raw) > MAX_BYTES:
        raise CatalogueError(f"{path}: has {len(raw)} bytes, allowed are {MAX_BYTES}")
    try:
        text = raw.decode()
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        raise CatalogueError(f"{path}:{line}: is not UTF-8") from None
    try:
        return read_po(StringIO(text), locale=tag.replace("-", "_"), abort_invalid=True)
    except PoFileError as error:
        raise CatalogueError(f"{path}:{error.lineno + 1}: {error}") from None
    except (ValueError, IndexError, SyntaxError) as error:
        raise CatalogueError(f"{path}: cannot be read as a catalogue: {error}") from None


def _fault(message: "Message", plurals: int) -> str:
    """Return what is wrong with a translation; empty when nothing is."""
    ids = _texts(message.id)
    strings = [one for one in _texts(message.string) if one]
    if not strings or message.fuzzy:
        return ""
    if len(ids) > 1 and len(strings) != plurals:
        return f"{ids[0][:60]!r} has {len(strings)} plural forms, the header says {plurals}"
    for text in strings:
        if "\n" in text and not any("\n" in one for one in ids):
            return f"{ids[0][:60]!r} has one line, its translation has more"
        if any(ord(one) < ord(" ") and one != "\n" for one in text):
            return f"the translation of {ids[0][:60]!r} has a control character"
    return "" if any(_is_plain(one) for one in ids) else _placeholder_fault(ids, strings)


def _placeholder_fault(ids: Sequence[str], strings: Sequence[str]) -> str:
    allowed = {name for one in ids for name in _names(one)}
    needed = set.intersection(*(set(_names(one)) for one in ids)) - {_COUNT}
    for text in strings:
        if _is_plain(text):
            return f"the translation of {ids[0][:60]!r} has a % that is neither %% nor %(name)s"
        names = set(_names(text))
        if unknown := sorted(names - allowed):
            return f"{ids[0][:60]!r} has no value %({unknown[0]})s, its translation has"
        if lost := sorted(needed - names):
            return f"the translation of {ids[0][:60]!r} lacks %({lost[0]})s"
    return ""


def _names(text: str) -> Iterator[str]:
    return (found["name"] for found in _PERCENT.finditer(text) if found["name"])


def _is_plain(text: str) -> bool:
    """Return whether a text has a % of its own: such a message has no values."""
    return "%" in _PERCENT.sub("", text)


def _texts(value: object) -> list[str]:
    return [str(one) for one in value] if isinstance(value, list | tuple) else [str(value)]


def _first(message: "Message") -> str:
    return _texts(message.id)[0]
