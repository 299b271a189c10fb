"""The only reader of request bodies of the service: JSON and forms.

`server_protocol/body_reader.py` reads their bytes within limits.
A body that is not accepted is returned as a value of `BodyRefused`.
"""

import re
from typing import Final
from urllib.parse import unquote_to_bytes

from mudra.http.request.body.strict_json import JsonRefused, JsonValue, parse_json
from mudra.server_protocol.body_errors import BodyRefused, MalformedBody
from mudra.server_protocol.body_reader import (
    BodyLimits,
    Headers,
    Receive,
    is_whole_body,
    read_typed_body,
)
from mudra.shared.text.byte_order_mark import MARK

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
    """The fault of a field that has yet to be named."""


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


FORM: Final = "application/x-www-form-urlencoded"

FORM_LIMITS: Final = BodyLimits(8 * 1024)
TOKEN_LIMITS: Final = BodyLimits(16 * 1024)
TEXT_LIMITS: Final = BodyLimits(256 * 1024)
"""For texts of 20,000 characters: in JSON as in a form one may take 12 bytes."""
REGISTRATION_LIMITS: Final = BodyLimits(64 * 1024)
MEMBER_FILE_LIMITS: Final = BodyLimits(2 * 1024 * 1024)
METRICS_LIMITS: Final = BodyLimits(8 * 1024 * 1024, encodings=("gzip", "zstd"))


async def read_json(
    receive: Receive, headers: Headers, limits: BodyLimits, *, may_be_empty: bool
) -> dict[str, JsonValue] | BodyRefused:
    """Return the fields of a body that is one strict JSON object.

    One that `may_be_empty` has no fields when nothing at all was sent.
    """
    raw = await read_typed_body(receive, headers, limits, may_be_empty=may_be_empty)
    if not isinstance(raw, bytes):
        return raw
    if may_be_empty and not raw:
        return {}
    try:
        value = parse_json(raw)
    except JsonRefused as refused:
        return MalformedBody(refused.sentence())
    if not isinstance(value, dict):
        return MalformedBody("body must be a JSON object, in braces")
    return value


async def read_document(
    receive: Receive, headers: Headers, limits: BodyLimits
) -> object | BodyRefused:
    """Return any value of a strict JSON body, for a check that names the path of each finding."""
    raw = await read_typed_body(receive, headers, limits)
    if not isinstance(raw, bytes):
        return raw
    try:
        return parse_json(raw)
    except JsonRefused as refused:
        return MalformedBody(refused.sentence())


async def read_form(
    receive: Receive, headers: Headers, limits: BodyLimits = FORM_LIMITS
) -> dict[str, str] | BodyRefused:
    """Return the fields of a form."""
    raw = await read_typed_body(receive, headers, limits, FORM)
    if not isinstance(raw, bytes):
        return raw
    try:
        return parse_form(raw)
    except FormRefused as refused:
        return MalformedBody(refused.sentence())


def plain_form(headers: Headers, body: bytes) -> dict[str, str] | None:
    """Return the fields of a complete form without content encoding.

    None for any other body, and for one that `read_form` would refuse.
    """
    if not is_whole_body(headers, body, FORM_LIMITS, FORM):
        return None
    try:
        return parse_form(body)
    except FormRefused:
        return None
