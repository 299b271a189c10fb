"""The words of the registry: FI types and identifier types.

Shipped as data; an operator's additions make a new `Vocabulary`. Spellings in
use (`TERM-DEPOSIT`, `AADHAAR`, `Others`) are read as the listed word.
"""

import enum
import functools
import importlib.resources
import re
from collections.abc import Iterable, Mapping
from typing import Final

import msgspec
from msgspec import Struct, field
from msgspec.structs import replace

from mudra.registry.payload.inspection import fold, show
from mudra.shared.finding import Finding

OTHER_GROUP: Final = "other"
"""Of FI types that no group has."""
_GROUP: Final = re.compile(r"[a-z][a-z0-9-]{0,31}")
WORD = re.compile(r"[A-Z][A-Z0-9_]{0,63}")


class VocabularyKind(enum.StrEnum):
    """The lists of words that an operator can extend."""

    FI_TYPE = "fitype"
    IDENTIFIER_TYPE = "identifierType"


class Addition(Struct, frozen=True):
    """A word that an operator added, with other spellings to be read as it.

    `group` is where the public status lists institutions of this FI type; empty for no change.
    """

    kind: VocabularyKind
    word: str
    variants: tuple[str, ...] = ()
    group: str = ""


class Words(Struct, frozen=True):
    """One list of words in its published order, with spellings that mean the same."""

    listed: tuple[str, ...]
    _by_fold: dict[str, str]

    @classmethod
    def of(cls, spellings: dict[str, tuple[str, ...]]) -> "Words":
        """Make the list from each word and its variants."""
        by_fold = {fold(one): word for word, more in spellings.items() for one in (word, *more)}
        return cls(tuple(spellings), by_fold)

    def read(self, text: str) -> str:
        """Return the listed word that `text` is a spelling of, or `""`."""
        return self._by_fold.get(fold(text), "")

    def adding(self, word: str, variants: tuple[str, ...]) -> "Words":
        """Return the list with one word more; adding it again adds its variants."""
        listed = self.listed if word in self.listed else (*self.listed, word)
        return Words(listed, self._by_fold | {fold(one): word for one in (word, *variants)})


class Vocabulary(Struct, frozen=True):
    """Every word that a payload may use in `fitypes` and `Identifiers[].type`.

    `groups` has the group of the public status by FI type.
    """

    fi_types: Words
    identifier_types: Words
    groups: Mapping[str, str] = field(default_factory=dict)

    def words(self, kind: VocabularyKind) -> Words:
        """Return the list of one kind."""
        return self.fi_types if kind is VocabularyKind.FI_TYPE else self.identifier_types

    def extended(self, additions: Iterable[Addition]) -> "Vocabulary":
        """Return this vocabulary with the operator's additions."""
        grown = self
        for one in additions:
            words = grown.words(one.kind).adding(one.word, one.variants)
            if one.kind is VocabularyKind.FI_TYPE:
                groups = {**grown.groups, one.word: one.group} if one.group else grown.groups
                grown = replace(grown, fi_types=words, groups=groups)
            else:
                grown = replace(grown, identifier_types=words)
        return grown

    def groups_of(self, fi_types: Iterable[str]) -> tuple[str, ...]:
        """Return the groups of an institution with these FI types, in the order of the alphabet."""
        return tuple(sorted({self.groups.get(one, OTHER_GROUP) for one in fi_types}))


class _Shipped(msgspec.Struct, forbid_unknown_fields=True):
    fitypes: dict[str, tuple[str, ...]]
    identifier_types: dict[str, tuple[str, ...]] = field(name="identifierTypes")
    groups: dict[str, tuple[str, ...]] = field(default_factory=dict)


def parse_vocabulary(data: bytes) -> Vocabulary:
    """Read the shipped form. Raises `msgspec.ValidationError` when the file is wrong."""
    shipped = msgspec.json.decode(data, type=_Shipped)
    groups = {word: group for group, words in shipped.groups.items() for word in words}
    return Vocabulary(Words.of(shipped.fitypes), Words.of(shipped.identifier_types), groups)


@functools.cache
def shipped_vocabulary() -> Vocabulary:
    """Return the vocabulary that this release of Mudra knows."""
    return parse_vocabulary(
        importlib.resources.files(__package__).joinpath("vocabulary.json").read_bytes()
    )


def check_addition(vocabulary: Vocabulary, addition: Addition) -> list[Finding]:
    """Return the findings that refuse an addition; none if it is permitted."""
    findings = []
    if not WORD.fullmatch(addition.word):
        allowed = "a capital letter, then up to 63 capital letters, digits and _"
        findings.append(Finding("$.word", f"must not be {show(addition.word)}", allowed))
    if addition.group and addition.kind is not VocabularyKind.FI_TYPE:
        findings.append(Finding("$.group", "is of FI types only", "none"))
    elif addition.group and not _GROUP.fullmatch(addition.group):
        allowed = "a small letter, then up to 31 small letters, digits and -"
        findings.append(Finding("$.group", f"must not be {show(addition.group)}", allowed))
    words = vocabulary.words(addition.kind)
    for index, variant in enumerate((addition.word, *addition.variants)):
        taken = words.read(variant)
        if taken and taken != addition.word:
            path = f"$.variants[{index - 1}]" if index else "$.word"
            findings.append(Finding(path, f"is already read as {taken}", "an unused word"))
    return findings
