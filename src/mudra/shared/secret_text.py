"""A text that must never be seen by accident.

Quality L1: the text form of a secret is `***`, in logs, tracebacks and
f-strings alike. Only `reveal` gives the value, and reviews look for that word.
"""

import hmac
from typing import Final, final


@final
class SecretText:
    """A password, entity secret, token or link, shown as `***` everywhere."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value: Final = value

    def reveal(self) -> str:
        """The text itself: for hashing, sealing, or the one answer that carries it."""
        return self._value

    def __repr__(self) -> str:
        return "***"

    __str__ = __repr__

    def __eq__(self, other: object) -> bool:
        """Compare in constant time."""
        if not isinstance(other, SecretText):
            return NotImplemented
        return hmac.compare_digest(self._value.encode(), other._value.encode())

    __hash__ = None  # type: ignore[assignment]  # a secret is never a key of a table

    def __len__(self) -> int:
        return len(self._value)
