"""Which passwords are good enough (NIST 800-63B-4 3.1.1.2; decisions 3; quality A9, A10).

Length, not composition: 15 to 256 characters, any of them. Refused are common
passwords, plain patterns, and those that hold the user, entity or product name.
"""

import functools
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

MIN_LENGTH: Final = 15
MAX_LENGTH: Final = 256
_MAX_BYTES: Final = 4 * MAX_LENGTH
_MIN_CONTEXT: Final = 4
_PRODUCT: Final = "mudra"
_ROWS: Final = (
    "abcdefghijklmnopqrstuvwxyz",
    "01234567890",
    "qwertyuiop",
    "asdfghjkl",
    "zxcvbnm",
    "1q2w3e4r5t6y7u8i9o0p",
)
_LONGEST_RUN: Final = 0.6
"""A password of which more than this share follows such rows is a plain pattern."""
_MAX_BLOCK: Final = 8


@dataclass(frozen=True, slots=True)
class PasswordContext:
    """The words that a password may not hold."""

    email: str
    user_name: str
    entity_ids: tuple[str, ...] = ()
    entity_names: tuple[str, ...] = ()

    def words(self) -> Iterator[str]:
        """List the words, in the form in which they are compared."""
        local, _, domain = self.email.partition("@")
        yield from _parts(local)
        yield from (label for label in domain.split(".")[:-1] if len(label) >= _MIN_CONTEXT)
        for text in (self.user_name, *self.entity_ids, *self.entity_names):
            yield from _parts(text)
        yield _PRODUCT


@dataclass(frozen=True, slots=True)
class PasswordRefusal:
    """Why a password is not good enough; the sentence never holds any of it."""

    sentence: str


def normalised(password: str) -> str:
    """Bring a password into the one form that is counted and hashed (NFC)."""
    return unicodedata.normalize("NFC", password)


def check_password(password: str, context: PasswordContext) -> PasswordRefusal | None:
    """Tell why a password is refused, or None when it is good."""
    # Normalising a megabyte costs more than it tells.
    if len(password) > _MAX_BYTES:
        return PasswordRefusal(f"password must be at most {MAX_LENGTH} characters")
    text = normalised(password)
    if len(text) < MIN_LENGTH:
        return PasswordRefusal(
            f"password must be at least {MIN_LENGTH} characters; a few words in a row do well"
        )
    if len(text) > MAX_LENGTH:
        return PasswordRefusal(f"password must be at most {MAX_LENGTH} characters")
    folded = text.casefold()
    if folded in _common() or _is_repeated(folded):
        return PasswordRefusal(
            "password is among the common ones or repeats one piece; choose another"
        )
    if _run_share(folded) > _LONGEST_RUN:
        return PasswordRefusal("password follows rows of the keyboard or alphabet; choose another")
    if any(word in folded for word in context.words()):
        return PasswordRefusal(
            "password must not hold your name, your e-mail address, the entity's name or 'mudra'"
        )
    return None


@functools.cache
def _common() -> frozenset[str]:
    """Common passwords of any length that matters, from the lists that zxcvbn carries."""
    from zxcvbn.frequency_lists import FREQUENCY_LISTS  # noqa: PLC0415  # 1 MB, needed rarely

    return frozenset(word for word in FREQUENCY_LISTS["passwords"] if len(word) >= MIN_LENGTH)


def _is_repeated(text: str) -> bool:
    """Tell whether one short block makes up the whole, or a common password is doubled."""
    sizes = range(1, min(_MAX_BLOCK, len(text) // 2) + 1)
    if any((text[:size] * (len(text) // size + 1))[: len(text)] == text for size in sizes):
        return True
    half = len(text) // 2
    return len(text) % 2 == 0 and text[:half] == text[half:]


def _run_share(text: str) -> float:
    """The share of characters that stand in runs of 4 or more along a row, either way."""
    covered = 0
    position = 0
    while position < len(text):
        length = max(_run_at(text, position, row) for row in _all_rows())
        covered += length if length >= _MIN_CONTEXT else 0
        position += max(length, 1) if length >= _MIN_CONTEXT else 1
    return covered / len(text)


@functools.cache
def _all_rows() -> tuple[str, ...]:
    return tuple(row for line in _ROWS for row in (line, line[::-1]))


def _run_at(text: str, position: int, row: str) -> int:
    start = row.find(text[position])
    if start < 0:
        return 0
    length = 0
    while (
        position + length < len(text)
        and start + length < len(row)
        and text[position + length] == row[start + length]
    ):
        length += 1
    return length


def _parts(text: str) -> Iterator[str]:
    """The whole text and its longer words, folded."""
    folded = normalised(text).casefold()
    words = "".join(char if char.isalnum() else " " for char in folded).split()
    for word in {folded, "".join(words), *words}:
        if len(word) >= _MIN_CONTEXT and word not in _TOO_GENERAL:
            yield word


_TOO_GENERAL: Final = frozenset(
    {
        "bank",
        "limited",
        "private",
        "finance",
        "financial",
        "account",
        "aggregator",
        "admin",
        "services",
        "india",
        "insurance",
        "fund",
        "funds",
        "mutual",
        "pension",
        "example",
    }
)
"""Words that half of the network's members have in their names: they tell nobody apart."""
