"""Reads JSON text without hiding repeated members and odd numbers.

Slow, and used only for payloads that will be refused: the fast decoder stops
at the first error and drops repeated members, this one keeps them.
"""

import json
import re
from collections import Counter
from typing import Final

from msgspec import Struct

from mudra.shared.finding import Finding
from mudra.shared.text.whole_number import whole_number

MAX_OBJECTS: Final = 200_000  # twice what 8 MiB of valid blocks contain
_MAX_NUMBER: Final = 40
_SIMPLE_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}\Z")
_MAX_NAME: Final = 40
_TOKEN: Final = re.compile(
    rb'"(?:[^"\\]|\\.)*+"|-?[0-9]++(?:\.[0-9]++(?:[eE][+-]?[0-9]++)?|[eE][+-]?[0-9]++)'
)
_OPTIONAL: Final = rb'"(?:sumOfSizeOfDataPackets|status)"[ \t\r\n]*+:[ \t\r\n]*+null'
_NULL: Final = re.compile(
    rb",[ \t\r\n]*+" + _OPTIONAL + rb"|" + _OPTIONAL + rb"[ \t\r\n]*+,[ \t\r\n]*+"
)
"""Members that some types of blocks have (spec 2.5, 2.6)."""


class NotACount(Struct, frozen=True):
    """A number that cannot be a count: 1.5, NaN, 1e400."""

    text: str


class JsonObject(dict[str, object]):
    """An object that remembers which of its members occurred more than once."""

    repeated: tuple[str, ...] = ()


def read_json(body: bytes) -> tuple[object, Finding | None]:
    """Returns the value of a JSON text, or the reason why it cannot be read."""
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError as error:
        return None, Finding("$", f"is not UTF-8 at byte {error.start}", "JSON in UTF-8")
    try:
        return _Reader().decode(text), None
    except json.JSONDecodeError as error:
        return None, Finding(
            "$", f"is not JSON: {error.msg} at line {error.lineno}, column {error.colno}"
        )
    except _TooManyObjectsError:
        return None, Finding(
            "$", f"holds more than {MAX_OBJECTS} objects", "one for each FIP and type"
        )
    except RecursionError:
        return None, Finding("$", "is nested too deep", "at most 6 levels")


def member(path: str, name: str) -> str:
    """Returns the JSON path of a member; quotes and cuts names that could garble a log."""
    if _SIMPLE_NAME.match(name):
        return f"{path}.{name}"
    return f"{path}[{json.dumps(name[:_MAX_NAME])}]"


def kind_of(value: object) -> str:
    """Describes a JSON value for an error message, without the content of strings."""
    match value:
        case None | bool():
            return json.dumps(value)
        case int():
            return str(value)  # `_whole` keeps them short
        case NotACount():
            return value.text if len(value.text) <= _MAX_NUMBER else "a number too long to show"
        case str():
            return "a string" if value else "an empty string"
    return "an array" if isinstance(value, list) else "an object"


def _whole(text: str) -> int | NotACount:
    return int(text) if len(text) <= _MAX_NUMBER else NotACount(text)


def as_meant(body: bytes) -> bytes:
    """Returns a JSON text as its sender meant it: 90.0 is 90, an optional null is left out.

    Default serializers of Java and others write both. Asked only when the strict decoder refused.
    """
    meant, end = bytearray(), 0  # a list of the parts between would take far more than the body
    for token in _TOKEN.finditer(body):
        text = token[0]
        number = None if text.startswith(b'"') else whole_number(text.decode())
        if number is not None:
            meant += body[end : token.start()] + str(number).encode()
            end = token.end()
    body = bytes(meant + body[end:]) if end else body
    return _NULL.sub(b"", body) if b"null" in body else body


class _TooManyObjectsError(Exception):
    """Reading so many objects would delay all other requests."""


class _Reader:
    def __init__(self) -> None:
        self._objects = 0
        self._decoder = json.JSONDecoder(
            object_pairs_hook=self._keep_repeated,
            parse_float=NotACount,
            parse_int=_whole,
            parse_constant=NotACount,
        )

    def decode(self, text: str) -> object:
        value: object = self._decoder.decode(text)
        return value

    def _keep_repeated(self, pairs: list[tuple[str, object]]) -> JsonObject:
        self._objects += 1
        if self._objects > MAX_OBJECTS:
            raise _TooManyObjectsError
        value = JsonObject(pairs)
        if len(value) != len(pairs):
            times = Counter(name for name, _ in pairs)
            value.repeated = tuple(name for name, number in times.items() if number > 1)
        return value
