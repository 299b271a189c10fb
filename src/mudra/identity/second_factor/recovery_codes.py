"""Recovery codes: each signs in once in place of an authenticator app. Pure."""

import base64
from collections.abc import Callable, Sequence
from typing import Final

from mudra.shared.secret_text import SecretText

COUNT: Final = 10
FEW_LEFT: Final = 3
"""With so many left, the account page asks for new ones."""
_BYTES: Final = 10
_LENGTH: Final = 16
_GROUP: Final = 4
_LETTERS: Final = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567")


def new_recovery_codes(random_bytes: Callable[[int], bytes]) -> Sequence[SecretText]:
    """Make codes of 80 random bits each, in four groups of four letters."""
    return [SecretText(_grouped(random_bytes(_BYTES))) for _ in range(COUNT)]


def canonical(typed: SecretText) -> SecretText | None:
    """Return a typed code without spaces and hyphens; None when it cannot be a recovery code."""
    letters = typed.reveal().replace("-", "").replace(" ", "").upper()
    if len(letters) != _LENGTH or not _LETTERS.issuperset(letters):
        return None
    return SecretText(letters)


def _grouped(random: bytes) -> str:
    text = base64.b32encode(random).decode()
    return "-".join(text[at : at + _GROUP] for at in range(0, _LENGTH, _GROUP))
