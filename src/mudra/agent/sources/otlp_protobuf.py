"""Reads spans out of a protobuf body: the fields that count, and no other.

Protocol Buffers are a list of fields, each with its number and its length. This reader goes through
them and keeps nothing but what it returns, so a body of a million empty spans takes no memory, text
that is no UTF-8 in a field that no one reads costs nothing, and a damaged span costs itself. The
generated classes of the standard library do none of that: they build all of a body or refuse it.
"""

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from mudra.agent.sources.left_out import Reason, Unreadable
from mudra.agent.sources.otlp_span import (
    MAX_ATTRIBUTES,
    MAX_ELEMENTS,
    MAX_SPANS,
    WANTED,
    AttributeValue,
    Span,
)
from mudra.agent.sources.tolerant_json import TooMuch

_RESOURCE_SPANS: Final = 1 << 3 | 2
_SCOPE_SPANS: Final = 2 << 3 | 2
_SPANS: Final = 2 << 3 | 2
_TRACE_ID: Final = 1 << 3 | 2
_SPAN_ID: Final = 2 << 3 | 2
_KIND: Final = 6 << 3
_START: Final = 7 << 3 | 1
_END: Final = 8 << 3 | 1
_ATTRIBUTES: Final = 9 << 3 | 2
_KEY: Final = 1 << 3 | 2
_VALUE: Final = 2 << 3 | 2
_STRING: Final = 1 << 3 | 2
_BOOL: Final = 2 << 3
_INT: Final = 3 << 3
_DOUBLE: Final = 4 << 3 | 1
_ARRAY: Final = 5 << 3 | 2
_ELEMENT: Final = 1 << 3 | 2
_VARINT, _FIXED64, _LENGTH, _FIXED32 = 0, 1, 2, 5
_MAX_VARINT: Final = 10
_LONG: Final = 0x80
_FIRST_TAG: Final = 1 << 3
_SHORTEST: Final = 4
_SIGN: Final = 1 << 63
_NAMES: Final = {name.encode(): name for name in WANTED}
_FIXED: Final = struct.Struct("<Q")
_FLOAT: Final = struct.Struct("<d")


class _Cut(ValueError):
    """A field ends behind its message."""


@dataclass(slots=True)
class ProtobufSpans:
    """The spans of one body, counted while they are read."""

    body: bytes
    damaged: int = 0
    """Parts that could not be read: spans, or what spans are in."""
    fault: str = ""
    """What is wrong with the last of them."""
    _spans: int = 0
    _attributes: int = 0

    def __iter__(self) -> Iterator[Span]:
        """Return the spans. Raises Unreadable for no OTLP at all, and TooMuch beyond the limits."""
        body = self.body
        try:
            for resource in _parts(body, 0, len(body), _RESOURCE_SPANS):
                yield from self._of_resource(*resource)
        except _Cut as error:
            raise Unreadable(
                Reason.MALFORMED, f"the body is not an OTLP trace request: {error}"
            ) from None

    def _of_resource(self, at: int, end: int) -> Iterator[Span]:
        try:
            for scope in _parts(self.body, at, end, _SCOPE_SPANS):
                yield from self._of_scope(*scope)
        except _Cut as error:
            self._note("resourceSpans", error)

    def _of_scope(self, at: int, end: int) -> Iterator[Span]:
        try:
            for begin, stop in _parts(self.body, at, end, _SPANS):
                self._spans += 1
                if self._spans > MAX_SPANS:
                    raise TooMuch(f"a body holds at most {MAX_SPANS} spans; send several")
                span = self._span(begin, stop)
                if span is not None:
                    yield span
        except _Cut as error:
            self._note("scopeSpans", error)

    def _note(self, part: str, error: _Cut) -> None:
        self.damaged += 1
        self.fault = f"{part}: {error}"

    def _span(self, at: int, end: int) -> Span | None:
        body, span = self.body, Span()
        try:
            while at < end:
                tag, value, at = _field(body, at, end)
                if tag == _ATTRIBUTES:
                    self._attributes += 1
                    if self._attributes > MAX_ATTRIBUTES:
                        raise TooMuch(f"a body holds at most {MAX_ATTRIBUTES} attributes")
                    self._attribute(value, at, span.attributes)
                elif tag == _KIND:
                    span.kind = value
                elif tag == _START:
                    span.start = _FIXED.unpack_from(body, value)[0]
                elif tag == _END:
                    span.end = _FIXED.unpack_from(body, value)[0]
                elif tag == _TRACE_ID:
                    span.trace_id = body[value:at]
                elif tag == _SPAN_ID:
                    span.span_id = body[value:at]
        except _Cut as error:
            self._note("span", error)
            return None
        return span

    def _attribute(self, at: int, end: int, found: dict[str, AttributeValue]) -> None:
        """Read one attribute, if it counts: a later one of the same name takes its place."""
        body, name, value = self.body, None, (0, 0)
        # As exporters write it: a short name, then the value, and nothing behind.
        if end - at > _SHORTEST and body[at] == _KEY and body[at + 1] < _LONG:
            stop = at + 2 + body[at + 1]
            if stop + 1 < end and body[stop] == _VALUE and body[stop + 1] == end - stop - 2:
                name = _NAMES.get(body[at + 2 : stop])
                if name is not None and (read := _value(body, stop + 2, end)) is not None:
                    found[name] = read
                return
        while at < end:
            tag, begin, at = _field(body, at, end)
            if tag == _KEY:
                name = _NAMES.get(body[begin:at])
                if name is None:
                    return
            elif tag == _VALUE:
                value = begin, at
        if name is not None:
            read = _value(body, *value)
            if read is not None:
                found[name] = read


def _value(body: bytes, at: int, end: int, *, in_array: bool = False) -> AttributeValue | None:
    """Return a value; the elements of an array are joined by commas."""
    found: AttributeValue | None = None
    if end - at > 1 and body[at] == _STRING and body[at + 1] == end - at - 2 < _LONG:
        return body[at + 2 : end].decode("utf-8", "replace")
    while at < end:
        tag, value, at = _field(body, at, end)
        if tag == _STRING:
            found = body[value:at].decode("utf-8", "replace")
        elif tag == _INT:
            found = value - (1 << 64) if value & _SIGN else value
        elif tag == _DOUBLE:
            found = _FLOAT.unpack_from(body, value)[0]
        elif tag == _BOOL:
            found = str(bool(value)).lower()
        elif tag == _ARRAY and not in_array:
            parts = _parts(body, value, at, _ELEMENT, MAX_ELEMENTS)
            values = (_value(body, *part, in_array=True) for part in parts)
            found = ",".join(str(one) for one in values if one is not None)
    return found


def _parts(
    body: bytes, at: int, end: int, wanted: int, most: int = MAX_ATTRIBUTES
) -> Iterator[tuple[int, int]]:
    """Return where the fields of this tag begin and end; reads others over."""
    for _ in range(most):
        if at >= end:
            return
        tag, value, at = _field(body, at, end)
        if tag == wanted:
            yield value, at
    if at < end:
        raise TooMuch(f"a message holds at most {most} fields")


def _field(body: bytes, at: int, end: int) -> tuple[int, int, int]:
    """Return tag, value and end of the next field.

    The value is that of a varint, and the place of what has a length. Raises _Cut.
    """
    tag = body[at]
    at += 1
    if tag >= _LONG:
        tag, at = _varint(body, at - 1, end)
    kind = tag & 7
    if kind == _LENGTH:
        if at >= end:
            raise _Cut(f"it ends within field {tag >> 3}")
        length = body[at]
        at += 1
        if length >= _LONG:
            length, at = _varint(body, at - 1, end)
        stop = at + length
    elif kind == _VARINT:
        value, stop = _varint(body, at, end)
        at = value
    elif kind == _FIXED64:
        stop = at + 8
    elif kind == _FIXED32:
        stop = at + 4
    else:
        raise _Cut(f"field {tag >> 3} has no known kind")
    if stop > end or tag < _FIRST_TAG:
        raise _Cut(f"it ends within field {tag >> 3}")
    return tag, at, stop


def _varint(body: bytes, at: int, end: int) -> tuple[int, int]:
    found = shift = 0
    for _ in range(_MAX_VARINT):
        if at >= end:
            break
        byte = body[at]
        at += 1
        found |= (byte & 0x7F) << shift
        if byte < _LONG:
            return found & (1 << 64) - 1, at
        shift += 7
    raise _Cut("a number has no end")
