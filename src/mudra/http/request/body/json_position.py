"""Finds the position in a JSON text that explains its refusal.

Only called once the refusal is certain. It walks over the tokens in Python, so
bodies of more than 1 MiB get no position: the walk would delay all other requests.
"""

import json
import re
from collections.abc import Callable, Iterator
from typing import Final

LARGEST_SEARCHED: Final = 1024 * 1024

_BRACKET: Final = re.compile(rb'"[^"]*+"?|([\[\]{}])')
_NUMBER: Final = re.compile(rb'"[^"]*+"?|(-?[0-9][0-9.eE+-]*+)')
# The group may be given back, which finds nothing else: Python before 3.11.5 (Debian 12 has 3.11.2)
# keeps a possessive group that has failed halfway (gh-106052), and so passed by the number.
_FIRST_FLOAT: Final = re.compile(
    rb'(?:[^"0-9-]++|"[^"]*+"?+|-?+[0-9]++(?![0-9.eE])|-(?![0-9]))*(?P<number>-?[0-9]++[.eE])'
)
_FLOAT: Final = re.compile(rb"-?[0-9.eE+-]+")
_CONSTANT: Final = re.compile(rb'"[^"]*+"?|(NaN|-?Infinity)')
_VALUE_OF: Final = re.compile(rb'("[^"]*+")[ \t\r\n]*+:[ \t\r\n]*+\Z')
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


def of_number(masked_body: bytes, digits: bytes) -> int | None:
    """Return the place of the first number written as `digits`."""
    return next((m.start() for m in _found(_NUMBER, masked_body) if m[1] == digits), None)


def of_float(body: bytes, is_whole: Callable[[str], bool]) -> int | None:
    """Return the place of the first number with a point or an exponent that is not whole."""
    if len(body) > LARGEST_SEARCHED:
        return None
    # In C up to each of them: a walk over all numbers would take milliseconds.
    text, at = masked(body), 0
    while (first := _FIRST_FLOAT.match(text, at)) is not None:
        written = _FLOAT.match(text, first.start("number"))
        if written is None or not is_whole(written[0].decode()):
            return first.start("number")
        at = written.end()
    return None


def member_of(body: bytes, place: int) -> str:
    """Return the field of the outermost object whose value is at `place`; empty for none."""
    before = masked(body)[:place]
    named = _VALUE_OF.search(before)
    if not named or sum(1 if m[1] in b"[{" else -1 for m in _found(_BRACKET, before)) != 1:
        return ""
    try:
        name: str = json.loads(body[named.start(1) : named.end(1)])
    except ValueError:  # the parser has not seen the body yet: it may be no name at all
        return ""
    return name


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
