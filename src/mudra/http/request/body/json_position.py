"""Finds the position in a JSON text that explains its refusal.

Only called once the refusal is certain. It walks over the tokens in Python, so
bodies of more than 1 MiB get no position: the walk would delay all other requests.
"""

import json
import re
from collections.abc import Iterator
from typing import Final

LARGEST_SEARCHED: Final = 1024 * 1024

_BRACKET: Final = re.compile(rb'"[^"]*+"?|([\[\]{}])')
_CONSTANT: Final = re.compile(rb'"[^"]*+"?|(NaN|-?Infinity)')
_MEMBER: Final = re.compile(rb'("[^"]*+")[ \t\r\n]*+:|"[^"]*+"?|([{}])')


def masked(body: bytes) -> bytes:
    """Return `body`, at the same length, without the escapes that blur where strings end."""
    return body.replace(b"\\\\", b"__").replace(b'\\"', b"__")


def of_depth(masked_body: bytes, max_depth: int) -> int | None:
    """Return the place of the first bracket that is one too deep."""
    depth = 0
    for match in _found(_BRACKET, masked_body):
        depth += 1 if match[1] in b"[{" else -1
        if depth > max_depth:
            return match.start()
    return None


def of_constant(body: bytes) -> int | None:
    """Return the place of the first NaN or Infinity."""
    return next((m.start() for m in _found(_CONSTANT, masked(body))), None)


def of_repeated(body: bytes) -> int | None:
    """Return the position at which a field's name occurs for the second time in one object.

    `body` is known to be well-formed up to there.
    """
    objects: list[set[str]] = []
    for match in _found(_MEMBER, masked(body)):
        if match[2] == b"{":
            objects.append(set())
        elif match[2] == b"}":
            objects.pop()
        else:
            name: str = json.loads(body[match.start(1) : match.end(1)])
            if name in objects[-1]:
                return match.start(1)
            objects[-1].add(name)
    return None


def _found(pattern: re.Pattern[bytes], text: bytes) -> Iterator[re.Match[bytes]]:
    """Return the matches outside strings: those where one of the pattern's groups took part."""
    if len(text) > LARGEST_SEARCHED:
        return
    yield from (match for match in pattern.finditer(text) if match.lastindex)
