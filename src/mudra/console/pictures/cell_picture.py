"""The cells of the matrix as a PNG of one pixel each, which a browser scales and scrolls at once.

As outlines, 80,000 cells (40 AAs, 2,000 FIPs) were drawn again for each part that comes into sight.
"""

import base64
import struct
import zlib
from collections.abc import Mapping, Sequence
from typing import Final

SHADES: Final[Mapping[str, Mapping[str, str]]] = {
    "light": {
        "g": "dfe8ee",
        "b1": "f6c65b",
        "b2": "ea7d2e",
        "b3": "b8305a",
        "b4": "5b0f5e",
        "r": "a9c9e8",
        "u": "faf9f6",
    },
    "dark": {
        "g": "34444f",
        "b1": "7a6420",
        "b2": "b8622a",
        "b3": "e0507c",
        "b4": "e08cf0",
        "r": "2f5f86",
        "u": "1b252d",
    },
}
"""The colours of each class of cell by scheme: those of the style sheets (--heat-…)."""
_CLASSES: Final = ("", *SHADES["light"])
_HEAD: Final = b"\x89PNG\r\n\x1a\n"
_INDEXED, _BITS = 3, 8


def cell_pictures(classes: Sequence[Sequence[str]]) -> Sequence[tuple[str, str]]:
    """Returns the picture of these rows of classes for each scheme, as a `data:` address."""
    index = {name: place for place, name in enumerate(_CLASSES)}
    width, height = len(classes[0]) if classes else 0, len(classes)
    lines = b"".join(b"\0" + bytes(index[one] for one in row) for row in classes)
    head = struct.pack(">IIBBBBB", width, height, _BITS, _INDEXED, 0, 0, 0)
    pixels = _chunk(b"IDAT", zlib.compress(lines, 9))
    found = []
    for scheme, shades in SHADES.items():
        colors = bytes.fromhex("000000" + "".join(shades[one] for one in _CLASSES[1:]))
        palette = _chunk(b"PLTE", colors) + _chunk(b"tRNS", b"\0")
        png = _HEAD + _chunk(b"IHDR", head) + palette + pixels + _chunk(b"IEND", b"")
        found.append((scheme, f"data:image/png;base64,{base64.b64encode(png).decode()}"))
    return found


def _chunk(kind: bytes, body: bytes) -> bytes:
    checked = kind + body
    return struct.pack(">I", len(body)) + checked + struct.pack(">I", zlib.crc32(checked))
