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
def test_a_member_with_no_readable_name_is_refused_as_json(body: bytes) -> None:
    """I7: found by fuzzing; the search for the member's name failed with another error."""
    with pytest.raises(JsonRefused):
        parse_json(body)


def test_numbers_of_every_kind_are_values() -> None:
    found = parse_json(b'{"a":1.5,"b":90.0,"c":9e1,"d":%s,"e":-0}' % DIGITS)

    assert found == {"a": 1.5, "b": 90, "c": 90, "d": int(DIGITS), "e": 0}
    assert isinstance(found, dict)
    assert [type(one) for one in found.values()] == [float, int, int, int, int]


@pytest.mark.parametrize("number", [b"1" * 5_000, b"-" + b"9" * 100_000])
def test_a_number_too_long_to_read_is_refused(number: bytes) -> None:
    with pytest.raises(JsonRefused, match="a number is too long"):
        parse_json(b'{"a":%s}' % number)
