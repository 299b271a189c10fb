"""Rules for passwords (NIST 800-63B-4 3.1.1.2).

Length, not composition: 15 to 256 characters, any of them. Common passwords, plain
patterns, and passwords with the user, entity or product name are refused.
"""

import enum
import functools
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

from mudra.localization.language import translatable
from mudra.shared.refusal import Refusal, RefusalKind

LISTS: Final = Path(__file__).with_name("password_lists.json")


class PasswordLists(Struct, frozen=True):
    """The contents of the file."""

    source: str
    license: str
    common: Sequence[str]
    """Leaked passwords, words of dictionaries and names, of a password's length, folded."""
    neighbours: Mapping[str, str]
    """For each key of a keyboard, those that touch it, folded."""


@functools.cache
def common_texts() -> frozenset[str]:
    """All leaked passwords, dictionary words and names of a password's length, folded."""
    return frozenset(_lists().common)


@functools.cache
def keyboard_neighbours() -> Mapping[str, frozenset[str]]:
    """For each key of a QWERTY keyboard and of a keypad, the keys that touch it, folded."""
    return {key: frozenset(keys) for key, keys in _lists().neighbours.items()}


def _lists() -> PasswordLists:
    return msgspec.json.decode(LISTS.read_bytes(), type=PasswordLists)


_MIN_CHARACTERS: Final = 5
_MIN_LETTERS: Final = 8
# Measured over 20,000 texts of English words in a row: together they refuse 1 in 1,000 of
# those ("coltrewardedseeded"), and every walk of the test's table.
_WALKS: Final = ((4, 0.7), (3, 0.85))
_WOVEN_WALK: Final = (4, 0.8)


def is_repetition(text: str) -> bool:
    """Return whether few characters, or one piece again and again, make up the text.

    Signs and numbers between and after the pieces do not hide it:
    `summer-1-summer-2` repeats `summer`.
    """
    if len(set(text)) < _MIN_CHARACTERS:
        return True
    letters = "".join(char for char in text if char.isalpha())
    forms = [text, "".join(char for char in text if char.isalnum())]
    if len(letters) >= max(_MIN_LETTERS, len(text) // 2):
        forms.append(letters)
    return any(_is_one_piece(form) for form in forms)


def is_walk(text: str) -> bool:
    """Return whether most of the text walks from key to neighboring key, or along the alphabet.

    Two walks woven into each other (`q1w2e3r4…`) count too.
    """
    plain = "".join(char for char in text if char.isalnum())
    woven = plain[::2] + plain[1::2]
    return any(
        _walked(form, shortest) > share for form in (text, plain) for shortest, share in _WALKS
    ) or (_walked(woven, _WOVEN_WALK[0]) > _WOVEN_WALK[1])


def _is_one_piece(text: str) -> bool:
    """Return whether a piece appears at least twice in full; its last repeat may be cut off."""
    return any(text.startswith(text[size:]) for size in range(1, len(text) // 2 + 1))


def _walked(text: str, shortest: int) -> float:
    """Return the share of characters in walks of at least `shortest`."""
    covered = begin = 0
    for end in range(1, len(text) + 1):
        if end < len(text) and _is_step(text[end - 1], text[end]):
            continue
        covered += end - begin if end - begin >= shortest else 0
        begin = end
    return covered / len(text) if text else 0.0


def _is_step(here: str, there: str) -> bool:
    if here == there:
        return True
    if here.isalnum() and there.isalnum() and abs(ord(here) - ord(there)) == 1:
        return True
    return there in keyboard_neighbours().get(here, ())


MIN_LENGTH: Final = 15
MAX_LENGTH: Final = 256
_MAX_TYPED: Final = 4 * MAX_LENGTH
"""NFC never makes of more than four code points one: a longer text stays too long."""
_MIN_WORD: Final = 4
_MIN_ACROSS: Final = 6
_TOO_GENERAL: Final = frozenset(
    {
        *("bank", "limited", "private", "finance", "financial", "account", "aggregator", "admin"),
        *("services", "india", "insurance", "fund", "funds", "mutual", "pension", "example"),
        *("network", "demo"),
    }
)
"""Words that half of the network's members have in their names: they identify no one."""


class PasswordFault(enum.Enum):
    """The reason for which a password is refused; the value is the text shown to the user."""

    TOO_SHORT = translatable(
        "password must be at least 15 characters; a few words in a row work well"
    )
    TOO_LONG = translatable("password must be at most 256 characters")
    UNREADABLE = translatable(
        "password must be text; it contains half of a character (a lone surrogate)"
    )
    COMMON = translatable(
        "password is among the common ones, which are guessed first; "
        "choose a few words that only you would put in a row"
    )
    REPEATED = translatable(
        "password must not be one piece repeated; "
        "choose a few words that only you would put in a row"
    )
    SEQUENCE = translatable(
        "password must not follow the keyboard, the alphabet or the numbers; "
        "choose a few words that only you would put in a row"
    )
    YOUR_NAME = translatable(
        "password must not include your name; choose words that have nothing to do with the account"
    )
    YOUR_ADDRESS = translatable(
        "password must not include a part of your email address; "
        "choose words that have nothing to do with the account"
    )
    ENTITY = translatable(
        "password must not include the entity's name or ID; "
        "choose words that have nothing to do with the account"
    )
    NETWORK = translatable(
        "password must not include the network's or the product's name; "
        "choose words that have nothing to do with the account"
    )
    SAME = translatable("password is the one that you have now; choose another one")


class PasswordRefusal(Refusal, frozen=True):
    """The password is not accepted; the text never contains any of it."""

    kind = RefusalKind.INVALID
    fault: PasswordFault

    @property
    def sentence(self) -> str:
        """Return what is wrong, what is allowed, what to do."""
        return self.fault.value


class PasswordContext(Struct, frozen=True):
    """Names that a password must not include."""

    email: str
    user_name: str
    entity_ids: tuple[str, ...] = ()
    entity_names: tuple[str, ...] = ()
    network: str = ""
    product: str = "mudra"

    def words(self) -> Iterator[tuple[str, PasswordFault]]:
        """Yield each name as a whole and its words of 4 letters or more, folded, with its fault."""
        local, _, domain = self.email.partition("@")
        names = {
            PasswordFault.YOUR_NAME: (self.user_name,),
            PasswordFault.ENTITY: (*self.entity_ids, *self.entity_names),
            PasswordFault.NETWORK: (self.network, self.product),
            PasswordFault.YOUR_ADDRESS: (local, *domain.split(".")[:-1]),
        }
        for fault, texts in names.items():
            for text in texts:
                yield from ((word, fault) for word in _parts(text))


def normalized(password: str) -> str:
    """Return a password in the form that is counted and hashed (NFC)."""
    return unicodedata.normalize("NFC", password)


def check_password(password: str, context: PasswordContext) -> PasswordRefusal | None:
    """Return why a password is refused, or None if it is accepted."""
    fault = _fault(password, context)
    return None if fault is None else PasswordRefusal(fault)


def _fault(password: str, context: PasswordContext) -> PasswordFault | None:
    # Before all else: normalising a megabyte would stop the event loop.
    if len(password) > _MAX_TYPED:
        return PasswordFault.TOO_LONG
    text = normalized(password)
    if len(text) < MIN_LENGTH:
        return PasswordFault.TOO_SHORT
    if len(text) > MAX_LENGTH:
        return PasswordFault.TOO_LONG
    if any("\ud800" <= char <= "\udfff" for char in text):
        return PasswordFault.UNREADABLE
    return _guessable(text.casefold(), context)


def _guessable(folded: str, context: PasswordContext) -> PasswordFault | None:
    plain = "".join(char for char in folded if char.isalnum())
    if not common_texts().isdisjoint({folded, plain}):
        return PasswordFault.COMMON
    if is_repetition(folded):
        return PasswordFault.REPEATED
    if is_walk(folded):
        return PasswordFault.SEQUENCE
    for whole, fault in (
        (context.email, PasswordFault.YOUR_ADDRESS),
        (context.user_name, PasswordFault.YOUR_NAME),
    ):
        if _letters(whole) in (plain, plain[::-1]):
            return fault
    for word, fault in context.words():
        # A short word may arise where two others meet: `pizza shack` does not contain `asha`.
        if word in folded or (len(word) >= _MIN_ACROSS and word in plain):
            return fault
    return None


def _letters(text: str) -> str:
    return "".join(char for char in normalized(text).casefold() if char.isalnum())


def _parts(text: str) -> Iterator[str]:
    folded = normalized(text).casefold()
    words = "".join(char if _is_of_a_word(char) else " " for char in folded).split()
    for word in {folded.strip(), "".join(words), *words}:
        if len(word) >= _MIN_WORD and word not in _TOO_GENERAL:
            yield word


def _is_of_a_word(char: str) -> bool:
    # Vowel signs of Indian scripts are marks, not letters, and still part of the word.
    return char.isalnum() or unicodedata.category(char) in {"Mn", "Mc"}
