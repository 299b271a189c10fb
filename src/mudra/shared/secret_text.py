"""A text that must never be seen by accident.

Quality L1: the text form of a secret is `***`, in logs, tracebacks and
f-strings alike. Only `reveal` gives the value, and reviews look for that word.
"""

import hmac
from collections.abc import Mapping
from pathlib import Path
from typing import Final, final

from mudra.shared.text.byte_order_mark import NotUtf8, text_without_mark


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


MAX_BYTES: Final = 65536


class SecretFileFault(Exception):
    """A file of a secret cannot be used; the text has the variable and the reason alone."""


def twin(name: str) -> str:
    """Return the variable that names the file of a secret."""
    return f"{name}_FILE"


def secret_variable(environment: Mapping[str, str], name: str) -> str:
    """Return a secret of the environment, or of the file that its `_FILE` twin names; else empty.

    Container platforms and systemd give files: unlike a variable a file is not inherited, and not
    shown by `docker inspect`. Line end and byte order mark are left out. Raises SecretFileFault.
    """
    value, file = environment.get(name, ""), environment.get(twin(name), "")
    if not file:
        return value
    if value:
        raise SecretFileFault(f"{name} and {twin(name)} are both set: remove one of them")
    try:
        with Path(file).open("rb") as opened:
            content = opened.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "no path"
        raise SecretFileFault(f"{twin(name)}: {file[:200]} cannot be read: {reason}") from None
    if len(content) > MAX_BYTES:
        raise SecretFileFault(f"{twin(name)}: {file[:200]} has more than {MAX_BYTES} bytes")
    try:
        text = text_without_mark(content).rstrip("\r\n")
    except NotUtf8:
        raise SecretFileFault(f"{twin(name)}: {file[:200]} must be UTF-8") from None
    if not text:
        raise SecretFileFault(f"{twin(name)}: {file[:200]} is empty")
    return text
