"""The one reader of whole numbers, for every input: a number is what its sender meant by it.

Default serializers write 90 as `90`, `90.0`, `9e1` or, where a field may hold text, `"90"`.
"""

import math
import re
from typing import Final

MAX_DIGITS: Final = 40
"""A longer text is no number: Python would take quadratic time to read it."""

_NUMBER: Final = re.compile(
    r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE]([+-]?[0-9]{1,3}))?", re.ASCII
)


def whole_number(value: object) -> int | None:
    """Return the whole number that a value is, written as a number or as text; else None.

    A number with a fraction, an infinite one, true and false are none.
    """
    if type(value) is int:  # neither true nor false
        return value
    if isinstance(value, float):
        return int(value) if math.isfinite(value) and value.is_integer() else None
    if isinstance(value, str):
        if value.isdigit() and value.isascii() and len(value) <= MAX_DIGITS:
            return int(value)
        return _read(value.strip(" \t\r\n"))
    return None


def number(value: object) -> float | None:
    """Return the finite number that a value is, written as a number or as text; else None."""
    if isinstance(value, bool):
        return None
    try:
        if isinstance(value, str):
            if len(value) <= MAX_DIGITS and value.isascii() and value.replace(".", "", 1).isdigit():
                return float(value)
            text = value.strip(" \t\r\n")
            if len(text) > MAX_DIGITS or not _NUMBER.fullmatch(text):
                return None
            value = float(text)
        found = float(value) if isinstance(value, int | float) else math.nan
    except OverflowError:
        return None
    return found if math.isfinite(found) else None


def _read(text: str) -> int | None:
    if len(text) > MAX_DIGITS:
        return None
    if text.isascii() and text.isdigit():
        return int(text)
    matched = _NUMBER.fullmatch(text)
    if matched is None:
        return None
    # Not by float, which holds no more than 53 bits: exact, with the point moved.
    sign, digits = (-1, text[1:]) if text[0] == "-" else (1, text.lstrip("+"))
    mantissa, _, exponent = digits.lower().partition("e")
    whole, _, fraction = mantissa.partition(".")
    moved = int(exponent or 0) - len(fraction)
    figure = int(whole + fraction)
    if moved >= 0:
        return sign * figure * 10**moved if moved <= MAX_DIGITS else None
    if figure == 0:
        return 0
    if -moved > MAX_DIGITS:
        return None
    found, rest = divmod(figure, 10**-moved)
    return None if rest else sign * found
