"""Reads spans out of a JSON body, by its names; a span that is wrong costs itself."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

import msgspec

from mudra.agent.sources.left_out import Reason, Unreadable
from mudra.agent.sources.otlp_span import (
    CLIENT,
    MAX_ELEMENTS,
    MAX_SPANS,
    SERVER,
    WANTED,
    AttributeValue,
    Span,
)
from mudra.agent.sources.tolerant_json import TooMuch, bounded, decoded
from mudra.shared.text.undecodable import UNDECODABLE
from mudra.shared.text.whole_number import whole_number


class _Element(msgspec.Struct, frozen=True, rename="camel"):
    string_value: str | None = None
    int_value: int | float | str | None = None
    double_value: int | float | str | None = None
    bool_value: bool | None = None

    def read(self) -> AttributeValue | None:
        for value in (self.string_value, self.int_value, self.double_value):
            if value is not None:
                return value
        return None if self.bool_value is None else str(self.bool_value).lower()


class _Array(msgspec.Struct, frozen=True):
    values: list[_Element] | None = None


class _Value(_Element, frozen=True, rename="camel"):
    array_value: _Array | None = None

    def read(self) -> AttributeValue | None:
        if self.array_value is None:
            return super().read()
        values = (one.read() for one in (self.array_value.values or ())[:MAX_ELEMENTS])
        return ",".join(str(one) for one in values if one is not None)


class _Attribute(msgspec.Struct, frozen=True):
    key: str | None = None
    value: _Value | None = None


class _Span(msgspec.Struct, frozen=True, rename="camel"):
    trace_id: str | None = None
    span_id: str | None = None
    kind: int | float | str | None = None
    start_time_unix_nano: int | float | str | None = None
    end_time_unix_nano: int | float | str | None = None
    attributes: list[_Attribute] | None = None


class _Scope(msgspec.Struct, frozen=True):
    spans: list[_Span] | None = None


class _Resource(msgspec.Struct, frozen=True, rename="camel"):
    scope_spans: list[_Scope] | None = None


class _Traces(msgspec.Struct, frozen=True, rename="camel"):
    resource_spans: list[_Resource] | None = None


class _Resources(msgspec.Struct, frozen=True, rename="camel"):
    resource_spans: list[msgspec.Raw] | None = None


class _RawSpan(msgspec.Struct, frozen=True, rename="camel"):
    """A span of which an attribute, or a field that no one reads, has another type."""

    trace_id: msgspec.Raw = msgspec.Raw(b"null")
    span_id: msgspec.Raw = msgspec.Raw(b"null")
    kind: int | float | str | None = None
    start_time_unix_nano: int | float | str | None = None
    end_time_unix_nano: int | float | str | None = None
    attributes: list[msgspec.Raw] | None = None


class _Named(msgspec.Struct, frozen=True):
    key: str | None = None
    value: msgspec.Raw = msgspec.Raw(b"null")


_TRACES: Final = msgspec.json.Decoder(_Traces)
_RESOURCES: Final = msgspec.json.Decoder(_Resources)
_OBJECT: Final = msgspec.json.Decoder(dict[str, msgspec.Raw])
_LIST: Final = msgspec.json.Decoder(list[msgspec.Raw] | None)
_SPAN: Final = msgspec.json.Decoder(_Span)
_RAW_SPAN: Final = msgspec.json.Decoder(_RawSpan)
_NAMED: Final = msgspec.json.Decoder(_Named)
_VALUE: Final = msgspec.json.Decoder(_Value | None)
_TEXT: Final = msgspec.json.Decoder(str)
_KINDS: Final = {"SPAN_KIND_SERVER": SERVER, "SPAN_KIND_CLIENT": CLIENT}


@dataclass(slots=True)
class JsonSpans:
    """The spans of one body, counted while they are read."""

    body: bytes
    damaged: int = 0
    """Parts that could not be read: spans, or what spans are in."""
    fault: str = ""
    """What is wrong with the last of them."""

    def __iter__(self) -> Iterator[Span]:
        """Return the spans. Raises Unreadable for no OTLP at all, and TooMuch beyond the limits."""
        body = bounded(self.body)
        try:
            traces = decoded(_TRACES, body)
        except msgspec.ValidationError:
            spans = self._raw_spans(body)
        except UNDECODABLE as error:
            raise Unreadable(
                Reason.MALFORMED, f"the body is not an OTLP trace request in JSON: {error}"
            ) from None
        else:
            spans = map(_span, _spans(traces))
        for number, span in enumerate(spans):
            if number >= MAX_SPANS:
                raise TooMuch(f"a body holds at most {MAX_SPANS} spans; send several")
            yield span

    def _raw_spans(self, body: bytes) -> Iterator[Span]:
        """Read a body with something of another type in it, level by level."""
        try:
            resources = decoded(_RESOURCES, body).resource_spans or ()
        except UNDECODABLE as error:
            raise Unreadable(
                Reason.MALFORMED, f"the body is not an OTLP trace request in JSON: {error}"
            ) from None
        scopes = (one for part in resources for one in self._list(part, "scopeSpans"))
        for raw in (one for part in scopes for one in self._list(part, "spans")):
            try:
                yield _span(decoded(_SPAN, bytes(raw)))
            except UNDECODABLE:
                try:
                    yield _by_parts(bytes(raw))
                except UNDECODABLE as error:
                    self._note("span", error)

    def _list(self, holder: msgspec.Raw, name: str) -> list[msgspec.Raw]:
        try:
            found = decoded(_OBJECT, bytes(holder))
            return decoded(_LIST, bytes(found[name])) or [] if name in found else []
        except UNDECODABLE as error:
            self._note(name, error)
            return []

    def _note(self, part: str, error: Exception) -> None:
        self.damaged += 1
        self.fault = f"{part}: {error}"


def _spans(traces: _Traces) -> Iterable[_Span]:
    for resource in traces.resource_spans or ():
        for scope in resource.scope_spans or ():
            yield from scope.spans or ()


def _span(one: _Span) -> Span:
    attributes: dict[str, AttributeValue] = {}
    for attribute in one.attributes or ():
        if attribute.key in WANTED and attribute.value is not None:
            value = attribute.value.read()
            if value is not None:
                attributes[attribute.key] = value
    return Span(
        _kind(one.kind), one.start_time_unix_nano, one.end_time_unix_nano,
        _id(one.trace_id), _id(one.span_id), attributes,
    )  # fmt: skip  # the fields in their order


def _by_parts(raw: bytes) -> Span:
    """Read a span attribute by attribute. Raises UNDECODABLE where one that counts is wrong."""
    one = decoded(_RAW_SPAN, raw)
    attributes: dict[str, AttributeValue] = {}
    for sent in one.attributes or ():
        try:
            named = decoded(_NAMED, bytes(sent))
        except UNDECODABLE:
            continue  # without a name it is none of those that count
        if named.key in WANTED:
            value = decoded(_VALUE, bytes(named.value))
            read = None if value is None else value.read()
            if read is not None:
                attributes[named.key] = read
    return Span(
        _kind(one.kind), one.start_time_unix_nano, one.end_time_unix_nano,
        _id(_text(one.trace_id)), _id(_text(one.span_id)), attributes,
    )  # fmt: skip  # the fields in their order


def _text(raw: msgspec.Raw) -> str:
    """Return a text, empty for anything else: an ID that is none names no span."""
    try:
        return decoded(_TEXT, bytes(raw))
    except UNDECODABLE:
        return ""


def _kind(value: object) -> int:
    """Return the number of a kind, which may be written by its name."""
    if isinstance(value, str) and value in _KINDS:
        return _KINDS[value]
    return whole_number(value) or 0


def _id(text: str | None) -> bytes:
    """Return the bytes of an ID in JSON; none of one that is not in hex, as old exporters send."""
    try:
        return bytes.fromhex(text or "")
    except ValueError:
        return b""
