"""JSON from outside that a strict decoder refuses: its exceptions, and halves of characters.

Programs that cut a text in the middle of an emoji write half of a surrogate pair, which is no
character (RFC 8259 8.2); for one of them the whole document is refused.
"""

import re
from typing import Final

import msgspec

UNDECODABLE: Final = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
"""Raised by msgspec for a wrong form or type, bytes that are no UTF-8, or too deep nesting."""
REPLACEMENT: Final = "\N{REPLACEMENT CHARACTER}"

# Possessive: a repetition that may give back what it took keeps 100 bytes for each byte of a body.
_SURROGATE: Final = re.compile(
    rb"(?<!\\)(?:\\\\)*+(?:\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    rb"|(\\u[dD][89a-fA-F][0-9a-fA-F]{2}))"
)


def without_lone_surrogates(text: bytes) -> bytes:
    """Return a JSON text with U+FFFD for each half of a surrogate pair.

    Piece by piece: to substitute a million of them at once takes 100 times the memory of the text.
    """
    if b"\\u" not in text:
        return text
    kept, at = bytearray(), 0
    for found in _SURROGATE.finditer(text):
        if found[1] is not None:
            kept += text[at : found.start(1)]
            kept += b"\\ufffd"
            at = found.end()
    kept += text[at:]
    return bytes(kept)
