"""JSON as programs of others write it: a fault costs the element that has it, and no other.

Log lines and events hold what strangers sent: bytes that are no UTF-8, halves of surrogate pairs,
control characters; and values of programs that put them between quotes and colons of their own:
NaN, 000, 1e999. The decoder stops at them, also in fields that no one reads. So what it
refuses is cleaned and read once more. What is made of a body is bounded before anything is made.
"""

import re
from collections.abc import Iterator
from itertools import islice
from typing import Final, TypeVar

import msgspec

from mudra.agent.sources.left_out import Reason, Unreadable
from mudra.shared.text.byte_order_mark import MARK
from mudra.shared.text.undecodable import UNDECODABLE, without_lone_surrogates

MAX_VALUES: Final = 400_000
"""Objects and arrays of one body, and commas: more than 8 MiB hold as exporters write them."""

_T = TypeVar("_T")
_CONTROL_AS_BLANK: Final = bytes.maketrans(bytes(range(32)), b" " * 32)
_BRACKET: Final = re.compile(rb"[\[\]{},]")
_TOKEN: Final = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"|["\[\]{},]', re.DOTALL)
_QUOTE: Final = ord('"')
_BARE: Final = rb'[^\s"\\\[\]{}:,]'
_NO_VALUE: Final = re.compile(
    rb'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\Z)'
    rb"|(?:-?(?:0|[1-9]\d*+)(?:\.\d++)?(?:[eE][+-]?\d{1,2})?|true|false|null)(?!" + _BARE + rb")"
    rb"|(" + _BARE + rb"++)",
    re.DOTALL,
)
"""Matches texts, numbers and words of JSON, and others as its group."""
_NO_ESCAPE: Final = re.compile(rb'(?<!\\)(?:\\\\)*+(\\)(?!u[0-9A-Fa-f]{4}|["\\/bfnrt])')
MAX_CHANGES: Final = 100_000
"""Words, numbers and escapes that JSON does not have, of one body."""
_MAX_FOUND: Final = 3 * MAX_VALUES
_CLEANED: Final = ("surrogate", "out of range")
"""What the decoder calls a wrong type, and is none."""
_RAWS: Final = msgspec.json.Decoder(list[msgspec.Raw])


class TooMuch(ValueError):
    """A body holds more than is read of one request; it is to be sent in several."""


def bounded(body: bytes) -> bytes:
    """Return the body without its byte order mark. Raises TooMuch for too many values."""
    body = body.removeprefix(MARK)
    brackets, commas = body.count(b"{") + body.count(b"["), body.count(b",")
    texts = body.count(b'"') // 4  # a value and its name have four quotes at most
    if max(brackets, commas, texts) > MAX_VALUES:
        raise TooMuch(f"a body holds at most {MAX_VALUES} values; send several")
    return body


def decoded(decoder: "msgspec.json.Decoder[_T]", body: bytes) -> _T:
    """Return what a text says, cleaned where it must be.

    Raises msgspec.ValidationError for another form or type, and the other errors of UNDECODABLE
    for what is no JSON.
    """
    try:
        return decoder.decode(body)
    except msgspec.ValidationError as error:
        if not any(fault in str(error) for fault in _CLEANED):
            raise
    except UNDECODABLE:
        pass
    return decoder.decode(cleaned(body))


def cleaned(body: bytes) -> bytes:
    """Return a text in UTF-8 without control characters and halves of surrogate pairs.

    A word, number or escape that JSON does not have becomes the text that it is.
    """
    body = body.decode("utf-8", "replace").encode().translate(_CONTROL_AS_BLANK)
    body = _changed(_NO_VALUE, _changed(_NO_ESCAPE, body, b"\\%b"), b'"%b"')
    return without_lone_surrogates(body)


def _changed(pattern: re.Pattern[bytes], body: bytes, form: bytes) -> bytes:
    """Return the body with each group in this form; piece by piece, which takes little memory.

    What follows the `MAX_CHANGES`th is left as it is: millions would take seconds.
    """
    kept, at, left = bytearray(), 0, MAX_CHANGES
    for found in islice(pattern.finditer(body), _MAX_FOUND):
        if found[1] is not None:
            kept += body[at : found.start(1)]
            kept += form % found[1]
            at, left = found.end(1), left - 1
            if not left:
                break
    kept += body[at:]
    return bytes(kept)


def elements(body: bytes) -> Iterator[bytes]:
    """Return the elements of an array, each as it was written, also next to one that is no JSON.

    Raises Unreadable where the brackets do not match: then nothing says where an element ends.
    """
    try:
        yield from map(bytes, _RAWS.decode(body))
    except UNDECODABLE:
        yield from _split(cleaned(body))


def _split(body: bytes) -> Iterator[bytes]:
    body = body.strip()
    if body[:1] != b"[" or body[-1:] != b"]":
        raise Unreadable(Reason.MALFORMED, "the body is no JSON array")
    depth, begun, end = 0, 1, len(body)
    found: list[bytes] = []
    for token in _tokens(body):
        match token[0]:
            case b"[" | b"{":
                depth += 1
            case b"]" | b"}":
                depth -= 1
                end = token.end()
                if depth == 0:
                    break
            case b"," if depth == 1:
                found.append(body[begun : token.start()])
                begun = token.end()
    if depth or end != len(body):
        raise Unreadable(Reason.MALFORMED, "the body is no JSON: its brackets do not match")
    last = body[begun:-1]
    yield from found
    if found or last.strip():
        yield last


def _tokens(body: bytes) -> Iterator[re.Match[bytes]]:
    """Return brackets and commas outside of texts. A quote without its end begins no text."""
    for token in _TOKEN.finditer(body):
        if body[token.start()] != _QUOTE:
            yield token
        elif token.end() - token.start() == 1:
            yield from _BRACKET.finditer(body, token.end())
            return
