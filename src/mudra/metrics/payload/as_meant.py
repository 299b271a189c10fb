"""A payload as its sender meant it: `90.0` is 90, and an optional member that is null is not there.

Default serializers of Java and others write both. The text is rewritten only when the strict
decoder has refused it, so that payloads in the form of the specification cost nothing more.
"""

import re
from typing import Final

from mudra.shared.whole_number import whole_number

_TOKEN: Final = re.compile(
    rb'"(?:[^"\\]|\\.)*+"|-?[0-9]++(?:\.[0-9]++(?:[eE][+-]?[0-9]++)?|[eE][+-]?[0-9]++)'
)
_OPTIONAL: Final = rb'"(?:sumOfSizeOfDataPackets|status)"[ \t\r\n]*+:[ \t\r\n]*+null'
_NULL: Final = re.compile(
    rb",[ \t\r\n]*+" + _OPTIONAL + rb"|" + _OPTIONAL + rb"[ \t\r\n]*+,[ \t\r\n]*+"
)
"""Members that some types of blocks have (spec 2.5, 2.6)."""


def as_meant(body: bytes) -> bytes:
    """Return a JSON text with whole numbers as such, and without optional members that are null."""
    body = _TOKEN.sub(_whole, body)
    return _NULL.sub(b"", body) if b"null" in body else body


def _whole(token: re.Match[bytes]) -> bytes:
    text = token[0]
    if text[:1] == b'"':
        return text
    number = whole_number(text.decode())
    return text if number is None else str(number).encode()
