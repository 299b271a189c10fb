"""The strict reader refuses with its own error alone, whatever the bytes are."""

import pytest

from mudra.http.request.body.strict_json import JsonRefused, parse_json

DIGITS = b"12345678901234567890"


@pytest.mark.parametrize(
    "body",
    [
        b'{"a\n":%s}' % DIGITS,
        b'{"a\0":%s}' % DIGITS,
        b'{"a\\x":%s}' % DIGITS,
        b'{"a\\u12":%s}' % DIGITS,
        b'{"":%s' % DIGITS,
    ],
)
def test_a_large_number_of_a_member_with_no_readable_name_is_refused(body: bytes) -> None:
    """I7: found by fuzzing; the search for the member's name failed with another error."""
    with pytest.raises(JsonRefused) as refused:
        parse_json(body)

    assert refused.value.member == ""
    assert "number" in refused.value.problem or "integer" in refused.value.problem


def test_the_member_of_a_large_number_is_named() -> None:
    with pytest.raises(JsonRefused) as refused:
        parse_json(b'{"duration": 1, "caf\\u00e9":%s}' % DIGITS)

    assert refused.value.member == "café"
