"""JSON as this interface writes it, and nothing else.

No parser of Python is strict enough by itself: the
standard one accepts NaN, repeated fields, lone surrogates and numbers that cost
quadratic time, and fails with RecursionError. So the bytes are inspected first,
in a fixed number of linear passes that run in C, and only then parsed. Positions
are searched only after a refusal is certain. Decoding by msgspec after one pass
of our own was measured: 2 to 7 times slower, and other positions.

Messages name fields, never values.
"""

import json
import re
from typing import Final, NoReturn, TypeAlias

from mudra.http.request.body import json_position as position
from mudra.server_protocol.printable import printable
from mudra.shared.text.byte_order_mark import MARK
from mudra.shared.text.whole_number import whole_number

JsonValue: TypeAlias = "bool | int | float | str | list[JsonValue] | dict[str, JsonValue] | None"
"""The values of a strict body: 90.0 and 9e1 are whole numbers, other fractions are floats."""

MAX_VALUES: Final = 1_000_000
"""Bounds the memory that a body of 8 MiB may take while it is parsed."""

_OPENERS_AND_CLOSERS: Final = bytes.maketrans(b"{}", b"[]")
_ALL_BUT_BRACKETS_AND_QUOTES: Final = bytes(set(range(256)) - set(b'[]{}"'))
_STRING: Final = re.compile(rb'"[^"]*+"?')
_LONE_SURROGATE: Final = re.compile(
    rb"\\u[dD][89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F][0-9a-fA-F]{2})"
    rb"|(?<!\\u[dD][89abAB][0-9a-fA-F]{2})\\u[dD][c-fC-F][0-9a-fA-F]{2}"
)
_SYNTAX: Final = {
    "Expecting value": "a value is expected",
    "Extra data": "nothing may follow the value",
    "Invalid control character at": "control characters in a string must be escaped",
    "Unterminated string starting at": "a string does not end",
    "Invalid \\escape": "a backslash begins no known escape",
    "Invalid \\uXXXX escape": "\\u must be followed by four hexadecimal digits",
    "Expecting property name enclosed in double quotes": "a member name in quotes is expected",
    "Expecting ':' delimiter": "a colon is expected",
    "Expecting ',' delimiter": "a comma or the closing bracket is expected",
}


class JsonRefused(Exception):
    """The body is not strict JSON.

    `position` is the byte, counted from 0, where that shows; None where no
    single byte does, or in a body of more than 1 MiB.
    """

    def __init__(self, position: int | None, problem: str) -> None:
        self.position = position
        self.problem = problem
        super().__init__(self.sentence())

    def sentence(self) -> str:
        """Return one sentence for the error body."""
        where = "" if self.position is None else f" at position {self.position}"
        return f"body is not valid JSON: {self.problem}{where}"


def parse_json(raw: bytes | bytearray | memoryview, *, max_depth: int = 16) -> JsonValue:
    """Return the value of a strict JSON text, in linear time.

    Numbers are of any size and may have a fraction: what takes them names the field of a wrong one.

    Raises:
        JsonRefused: and nothing else, whatever the bytes are.
    """
    body = bytes(raw).removeprefix(MARK)
    text = _scan(body, max_depth)
    try:
        value: JsonValue = _DECODER.decode(text)
    except json.JSONDecodeError as error:
        at = len(text[: error.pos].encode())
        problem = _SYNTAX.get(error.msg, "something else is expected")
        raise JsonRefused(at, problem) from None
    except _RepeatedFound as repeated:
        problem = f'duplicate member "{printable(repeated.name)}"'
        raise JsonRefused(position.of_repeated(body), problem) from None
    except _ConstantFound:
        raise JsonRefused(position.of_constant(body), "NaN and Infinity are not JSON") from None
    except (RecursionError, ValueError):
        # Beyond the 4,300 digits that Python reads, or a `max_depth` beyond Python's own.
        raise JsonRefused(None, "a number is too long or it is nested too deep") from None
    return value


def _scan(body: bytes, max_depth: int) -> str:
    """Refuse all that the parser would take, or break on; give the text to parse."""
    if not body.strip(b" \t\r\n"):
        raise JsonRefused(None, "it is empty")
    try:
        text = body.decode()
    except UnicodeDecodeError as error:
        raise JsonRefused(error.start, "it is not UTF-8") from None
    masked = body
    if b"\\" in body:
        masked = position.masked(body)
        _refuse_bad_escapes(masked)
    if _too_many_values(masked):
        raise JsonRefused(None, f"it holds more than {MAX_VALUES} values")
    if _too_deep(masked, max_depth):
        raise JsonRefused(
            position.of_depth(masked, max_depth), f"it is nested deeper than {max_depth}"
        )
    return text


def _refuse_bad_escapes(masked: bytes) -> None:
    nul = masked.find(b"\\u0000")
    if nul >= 0:
        raise JsonRefused(nul, "the character NUL is not allowed")
    lone = _LONE_SURROGATE.search(masked)
    if lone:
        raise JsonRefused(lone.start(), "half of a surrogate pair is not a character")


def _too_many_values(masked: bytes) -> bool:
    # Counted inside strings too: cheap, and still far above any real payload.
    if len(masked) <= MAX_VALUES:
        return False
    return (
        masked.count(b",") + masked.count(b"[") + masked.count(b"{") > MAX_VALUES
        or masked.count(b'"') > 2 * MAX_VALUES
        or masked.count(b":") > MAX_VALUES // 4  # a field needs four times a number's memory
    )


def _too_deep(masked: bytes, max_depth: int) -> bool:
    """Peel off the innermost brackets `max_depth` times and see whether any are left."""
    brackets = masked.translate(_OPENERS_AND_CLOSERS, _ALL_BUT_BRACKETS_AND_QUOTES)
    # Two quotes side by side hold no bracket between them, whether they are one
    # string or the end of one and the start of the next; nearly all go this way.
    brackets = brackets.replace(b'""', b"")
    if b'"' in brackets:
        brackets = _STRING.sub(b"", brackets)
    for _ in range(max_depth):
        peeled = brackets.replace(b"[]", b"")
        if len(peeled) == len(brackets):
            break
        brackets = peeled
    # Brackets without a partner are left to the parser, as long as it can recurse so far.
    return b"[]" in brackets or brackets.count(b"[") > max_depth


class _ConstantFound(Exception):
    pass


class _RepeatedFound(Exception):
    def __init__(self, name: str) -> None:
        self.name = name


def _on_number(text: str) -> int | float:
    """Return what a number with a point or an exponent is (RFC 8259 6): 9e1 is 90."""
    number = whole_number(text)
    return float(text) if number is None else number


def _on_constant(_: str) -> NoReturn:
    raise _ConstantFound


def _distinct(pairs: list[tuple[str, JsonValue]]) -> dict[str, JsonValue]:
    members = dict(pairs)
    if len(members) != len(pairs):
        seen: set[str] = set()
        for name, _ in pairs:
            if name in seen:
                raise _RepeatedFound(name)
            seen.add(name)
    return members


_DECODER: Final = json.JSONDecoder(
    object_pairs_hook=_distinct, parse_float=_on_number, parse_constant=_on_constant
)
