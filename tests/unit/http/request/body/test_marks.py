"""A byte order mark at the beginning of a body is no part of it (RFC 8259 8.1)."""

import gzip

import pytest

from mudra.http.request.body.request_body import parse_form
from mudra.http.request.body.strict_json import JsonRefused, parse_json
from mudra.server_protocol.body_reader import PackedBody, unpacked

MARK = b"\xef\xbb\xbf"


def test_a_mark_is_ignored_in_every_kind_of_body() -> None:
    assert parse_json(MARK + b'{"a":1}') == {"a": 1}
    assert parse_json(MARK + b"[1.5]") == [1.5]
    assert parse_form(MARK + b"id=A&secret=b") == {"id": "A", "secret": "b"}
    assert unpacked(PackedBody(MARK + b"{}", ""), 100) == b"{}"
    assert unpacked(PackedBody(gzip.compress(MARK + b"{}"), "gzip"), 100) == b"{}"


@pytest.mark.parametrize("body", [MARK, MARK * 2 + b"{}", b"{" + MARK + b"}"])
def test_a_mark_elsewhere_is_none(body: bytes) -> None:
    with pytest.raises(JsonRefused):
        parse_json(body)
