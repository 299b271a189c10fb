"""`application/x-www-form-urlencoded`, read in one way only.

The two generate endpoints carry credentials in such a body (spec 5.3). Readers
that disagree about a repeated field or a broken escape are how one program
checks a value and the next one uses another.
"""

import re
from typing import Final
from urllib.parse import unquote_to_bytes

from mudra.shared.byte_order_mark import MARK

MAX_FIELDS: Final = 100

_BROKEN_ESCAPE: Final = re.compile(rb"%(?![0-9A-Fa-f]{2})")
_PLAIN_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_.\[\]-]{0,63}")


class FormRefused(Exception):
    """The body is not a form that has only one reading.

    `field` is the name as sent, or `number 3` where repeating the name might
    repeat a piece of a password that was not encoded.
    """

    def __init__(self, field: str, problem: str) -> None:
        self.field = field
        self.problem = problem
        super().__init__(self.sentence())

    def sentence(self) -> str:
        """Return one sentence for the error body."""
        return f"field {self.field} {self.problem}" if self.field else f"form {self.problem}"


def parse_form(raw: bytes, *, max_fields: int = MAX_FIELDS) -> dict[str, str]:
    """Return the fields of a form, in the order sent; names are literal.

    Only `&` separates. `username[]` is a name like any other, and names that
    the caller does not know are there for it to ignore.

    Raises:
        FormRefused: and nothing else.
    """
    if raw.count(b"&") >= max_fields:
        raise FormRefused("", f"must have at most {max_fields} fields")
    fields: dict[str, str] = {}
    for number, pair in enumerate(raw.removeprefix(MARK).split(b"&"), start=1):
        if not pair:
            continue
        name_sent, equals, value_sent = pair.partition(b"=")
        name = ""
        try:
            name = _decoded(name_sent, "name")
            if name in fields:
                raise FormRefused(_label(name, equals, number), "must be sent once, not repeated")
            fields[name] = _decoded(value_sent, "value")
        except _Wrong as wrong:
            raise FormRefused(_label(name, equals, number), str(wrong)) from None
    return fields


def _label(name: str, equals: bytes, number: int) -> str:
    return name if equals and _PLAIN_NAME.fullmatch(name) else f"number {number}"


class _Wrong(Exception):
    """What is wrong with a field that has yet to be named."""


def _decoded(sent: bytes, part: str) -> str:
    if b"%" in sent:
        if _BROKEN_ESCAPE.search(sent):
            raise _Wrong(
                f"has a % in its {part} without two hexadecimal digits; send % itself as %25"
            )
        plain = unquote_to_bytes(sent.replace(b"+", b" "))
    else:
        plain = sent.replace(b"+", b" ")
    try:
        text = plain.decode()
    except UnicodeDecodeError:
        raise _Wrong(f"must have its {part} in UTF-8") from None
    if "\x00" in text:
        raise _Wrong(f"must not hold the character NUL in its {part}")
    return text
