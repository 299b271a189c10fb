"""The languages that a service has, and which of them a reader gets.

Catalogues come with the package, in `locales/`; an operator's directory adds languages and
replaces single messages. Each is read by the first who wants it.
"""

import functools
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from msgspec import Struct

from mudra.localization.catalogue import (
    CatalogueError,
    LoadedCatalogue,
    missing,
    own_name,
    read_catalogue,
)
from mudra.localization.language import ENGLISH, Language, RegionalEnglish, TranslatedLanguage

LOCALES: Final = Path(__file__).parent / "locales"
TEMPLATE: Final = LOCALES / "mudra.pot"
TAG: Final = re.compile(r"[a-z]{2,3}(?:-[A-Z][a-z]{3})?(?:-[A-Z]{2})?")
_INDIA: Final = RegionalEnglish("en-IN")
_NAMES: Final = {"en": "English", "en-IN": "English (India)", "hi": "हिन्दी"}
"""What the languages of the package call themselves: known before any catalogue is read."""
_MAX_HEADER: Final = 500
_MAX_WANTED: Final = 20


class Choice(Struct, frozen=True):
    """A language that a reader may choose."""

    tag: str
    name: str


class Languages:
    """English, the package's languages and the languages of the operator's directory `own`."""

    def __init__(self, own: Path | None = None, default: str = "en") -> None:
        self._own = own
        self._default = default
        self._read: dict[str, Language] = {ENGLISH.tag: ENGLISH, _INDIA.tag: _INDIA}
        self._files = _files(own)
        self._names: dict[str, str] = dict(_NAMES)

    @property
    def default(self) -> Language:
        """Return the language of who has chosen none."""
        return self.find(self._default) or ENGLISH

    @property
    def choices(self) -> Sequence[Choice]:
        """Return what a reader may choose from: English first, then by tag."""
        tags = [ENGLISH.tag, *sorted(self._files)]
        return [Choice(tag, self.name_of(tag)) for tag in tags]

    def name_of(self, tag: str) -> str:
        """Return what a language calls itself."""
        if tag not in self._names and tag in self._files:
            self._names[tag] = own_name(tag) or tag
        return self._names.get(tag, tag)

    @property
    def has_own(self) -> bool:
        """Return whether the operator has a directory of catalogues."""
        return self._own is not None

    @property
    def to_check(self) -> Sequence[str]:
        """Return what a start checks: English, the default and what the operator has added."""
        added = [_tag_of(path) for path in self._own.glob("*.po")] if self._own is not None else []
        return sorted({ENGLISH.tag, self._default, *added})

    def find(self, tag: str) -> Language | None:
        """Return a language by its tag; None for one that there is not."""
        if tag not in self._read and tag in self._files:
            self._read[tag] = self._load(tag)
        return self._read.get(tag)

    def of(self, tag: str) -> Language:
        """Return the language that a person chose, else the network's."""
        return self.find(tag) or self.default

    def choose(self, asked: str, accepted: str) -> Language:
        """Return the language that was asked for, else one that the browser accepts."""
        chosen = self.find(asked)
        if chosen is ENGLISH:  # with the numbers of the region that the browser names
            own = [tag for tag in _wanted(accepted) if tag.startswith(f"{ENGLISH.tag}-")]
            return next((one for one in map(self._match, own) if one is not None), ENGLISH)
        found = chosen or next(filter(None, map(self._match, _wanted(accepted))), None)
        return found or self.default

    def check(self) -> None:
        """Read the operator's catalogues, at start; raises CatalogueError."""
        if self._own is not None and not self._own.is_dir():
            raise CatalogueError(f"there is no directory {self._own} with catalogues")
        for path in sorted(self._own.glob("*")) if self._own is not None else ():
            tag = _tag_of(path)
            if path.suffix != ".po" or not TAG.fullmatch(tag) or tag == ENGLISH.tag:
                raise CatalogueError(f"{path} is not the name of a catalogue, such as ta.po")
            read_catalogue(path, tag)
        if self._default not in self._read and self._default not in self._files:
            have = ", ".join(sorted({*self._read, *self._files}))
            raise CatalogueError(f"there is no language {self._default}; there are {have}")

    def missing(self) -> Mapping[str, int]:
        """Count the messages that each language lacks: they are shown in English."""
        return {tag: len(missing(TEMPLATE, self._catalogues(tag))) for tag in sorted(self._files)}

    def _load(self, tag: str) -> Language:
        first, *others = self._catalogues(tag)
        for other in others:
            first.translations.add_fallback(other.translations)
        return TranslatedLanguage(tag, first.translations)

    def _catalogues(self, tag: str) -> list[LoadedCatalogue]:
        return [
            _of_package(path, tag) if path.is_relative_to(LOCALES) else read_catalogue(path, tag)
            for path in self._files[tag]
        ]

    def _match(self, tag: str) -> Language | None:
        """Return the nearest language: hi-IN is answered with hi."""
        found = self.find(tag)
        while found is None and "-" in tag:
            tag = tag.rpartition("-")[0]
            found = self.find(tag)
        return found


@functools.cache
def _of_package(path: Path, tag: str) -> LoadedCatalogue:
    """Returns a catalogue of the package, read once in a process: it takes a tenth of a second."""
    return read_catalogue(path, tag)


def _files(own: Path | None) -> dict[str, list[Path]]:
    """Return the catalogues of each language, the operator's before the package's."""
    files: dict[str, list[Path]] = {}
    for path in sorted(own.glob("*.po")) if own is not None and own.is_dir() else ():
        files.setdefault(_tag_of(path), []).append(path)
    for path in sorted(LOCALES.glob("*/LC_MESSAGES/mudra.po")):
        files.setdefault(path.parts[-3].replace("_", "-"), []).append(path)
    return files


def _tag_of(path: Path) -> str:
    return path.stem.replace("_", "-")


def _wanted(header: str) -> list[str]:
    """Return the tags of an Accept-Language, the most wanted first (RFC 9110, 12.5.4)."""
    found = []
    for place, part in enumerate(header[:_MAX_HEADER].split(",")[:_MAX_WANTED]):
        tag, _, rest = part.strip().partition(";")
        weight = _weight(rest)
        if weight > 0:
            found.append((-weight, place, _written(tag.strip())))
    return [tag for _, _, tag in sorted(found)]


def _weight(text: str) -> float:
    name, _, value = text.strip().partition("=")
    if name.strip() != "q":
        return 1.0
    return float(value) if re.fullmatch(r"[01](?:\.\d{0,3})?", value.strip()) else 0.0


def _written(tag: str) -> str:
    """Return a tag as it is usually written: `hi`, `en-IN`, `sr-Latn`."""
    first, *others = tag.split("-")
    parts = [one.upper() if len(one) == 2 else one.title() for one in others]  # noqa: PLR2004  # characters
    return "-".join([first.lower(), *parts])
