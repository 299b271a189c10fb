"""Bad input to the token service: each kind with its status, its sentence, and no effect.

400 when the request itself is wrong, 401 for anything about
credentials, 415 for another media type, 405 and 404 for another method or path.
"""

from collections.abc import Iterator

import pytest
from tests.http.token_requests import (
    CANARY,
    CLOCK,
    ENTITY,
    FORGOT,
    FORMS,
    JSONS,
    READ,
    REQUIRED,
    RESET,
    RETIRE,
    SET,
    USER,
    Speaker,
    fields_of,
)
from tests.support.error_body import assert_error
from tests.support.members import new_member
from tests.support.service import Service


@pytest.fixture(scope="module")
def admin(service: Service) -> Speaker:
    member = new_member(service)
    return Speaker(member, member.secret(), member.bearer())


@pytest.fixture(scope="module", autouse=True)
def nothing_changes(admin: Speaker) -> Iterator[None]:
    """After all of it the secret is the same: what comes in between never resets it."""
    yield
    answer = admin.member.read(admin.headers)
    assert answer.json()["secret"] == admin.secret
    assert answer.json()["oldSecretValidity"] == 0


@pytest.mark.parametrize(("path", "name"), REQUIRED)
def test_a_missing_field_is_named(admin: Speaker, path: str, name: str) -> None:
    fields = fields_of(path, admin)
    del fields[name]

    answer = admin.send(path, fields)

    assert_error(answer, 400, "InvalidRequest", f"{name} is missing")
    assert CANARY not in answer.text


@pytest.mark.parametrize(("path", "name"), REQUIRED)
def test_an_empty_field_is_named(admin: Speaker, path: str, name: str) -> None:
    answer = admin.send(path, fields_of(path, admin, **{name: ""}))

    assert_error(answer, 400, "InvalidRequest", f"{name} must be ")
    assert CANARY not in answer.text


@pytest.mark.parametrize(("path", "name"), REQUIRED)
def test_a_repeated_field_is_refused(admin: Speaker, path: str, name: str) -> None:
    if path in FORMS:
        body = f"{name}=a&{name}=a".encode()
    else:
        body = f'{{"{name}": "a", "{name}": "a"}}'.encode()

    assert_error(admin.send_raw(path, body), 400, "InvalidRequest", name)


@pytest.mark.parametrize("wrong", [None, True, 7, [], ["a"], {}], ids=str)
@pytest.mark.parametrize(("path", "name"), [row for row in REQUIRED if row[0] in JSONS])
def test_a_field_of_another_type_is_named(
    admin: Speaker, path: str, name: str, wrong: object
) -> None:
    answer = admin.send(path, fields_of(path, admin, **{name: wrong}))

    assert_error(answer, 400, "InvalidRequest", f"{name} must be ")
    assert CANARY not in answer.text


@pytest.mark.parametrize(
    ("path", "name", "wrong"),
    [
        (USER, "username", "a" * 255),
        (USER, "password", CANARY * 60),
        (ENTITY, "id", "a" * 65),
        (ENTITY, "secret", CANARY * 60),
        (READ, "entityId", "a" * 65),
        (READ, "entityId", "KAVERI FIP"),
        (READ, "entityId", "KAVERI\n"),
        (RESET, "entityId", "कावेरी"),
        (RETIRE, "entityId", "../../etc"),
        (SET, "token", CANARY * 60),
        (SET, "password", CANARY * 60),
        (FORGOT, "username", "a" * 255),
        (CLOCK, "advance", "6 minutes"),
        (CLOCK, "advance", "P"),
        (CLOCK, "advance", "PT"),
        (CLOCK, "advance", "P1M"),
        (CLOCK, "advance", "-PT6M"),
        (CLOCK, "advance", "PT1.5M"),
        (CLOCK, "advance", "PT٣M"),
        (CLOCK, "advance", "P4000D"),
    ],
)
def test_a_value_out_of_range_is_named_and_no_secret_repeated(
    admin: Speaker, path: str, name: str, wrong: str
) -> None:
    answer = admin.send(path, fields_of(path, admin, **{name: wrong}))

    assert_error(answer, 400, "InvalidRequest", f"{name} must be ")
    assert CANARY not in answer.text


@pytest.mark.parametrize(
    ("name", "allowed"),
    [
        ("secretExpiryDays", "a whole number from 1 to 180"),
        ("oldSecretValidity", "a whole number from 0 to 7"),
    ],
)
@pytest.mark.parametrize(
    "wrong",
    [
        -1,
        181,
        365,
        2**31,
        2**53 - 1,
        True,
        "30",
        "",
        [],
        [7],
        {},
        {"days": 7},
    ],
    ids=str,
)
def test_days_out_of_range_say_what_is_allowed(
    admin: Speaker, name: str, allowed: str, wrong: object
) -> None:
    answer = admin.send(RESET, fields_of(RESET, admin, **{name: wrong}))

    assert_error(answer, 400, "InvalidRequest", f"{name} must be {allowed}, not ")


def test_the_borders_of_the_days_are_where_they_are_said_to_be(admin: Speaker) -> None:
    zero = admin.send(RESET, fields_of(RESET, admin, secretExpiryDays=0))
    eight = admin.send(RESET, fields_of(RESET, admin, oldSecretValidity=8))

    assert_error(
        zero, 400, "InvalidRequest", "secretExpiryDays must be a whole number from 1 to 180, not 0"
    )
    assert_error(
        eight, 400, "InvalidRequest", "oldSecretValidity must be a whole number from 0 to 7, not 8"
    )


@pytest.mark.parametrize(
    "number",
    [
        "1.5",
        "1e-1",
        "1.00000000000000001",
        "NaN",
        "Infinity",
        "-0.0",
        "9007199254740993",
        "1" * 400,
        "0x1E",
        "030",
        "+30",
    ],
    ids=lambda number: number[:20],
)
def test_numbers_that_are_no_whole_numbers_are_refused_with_their_place(
    admin: Speaker, number: str
) -> None:
    body = f'{{"entityId": "{admin.member.entity_id}", "secretExpiryDays": {number}}}'.encode()

    answer = admin.send_raw(RESET, body)

    no_json = {"NaN", "Infinity", "0x1E", "030", "+30"}
    place = "body" if number in no_json else "secretExpiryDays"
    assert_error(answer, 400, "InvalidRequest", place)


@pytest.mark.parametrize("number", ["1.5", "1e-1", "9007199254740993", "1e999", "1" * 400, "-0.0"])
def test_a_number_that_no_one_reads_costs_nothing(admin: Speaker, number: str) -> None:
    body = f'{{"entityId": "{admin.member.entity_id}", "meta": {{"elapsed": [{number}]}}}}'

    assert admin.send_raw(READ, body.encode()).status_code == 200


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b" ",
        b"{",
        b"[]",
        b"null",
        b"7",
        b'"text"',
        b"{}x",
        b"{'entityId': 'A'}",
        b"\xef\xbb\xbf\xef\xbb\xbf{}",  # one mark is ignored
        b'{"entityId": "\xff"}',
        b'{"entityId": "A\x00"}',
        b'{"entityId": "A\\u0000"}',
        b'{"entityId": "\\ud800"}',
        b"[" * 5000,
        b'{"a":' * 40 + b"1" + b"}" * 40,
        b'{"entityId": "A",}',
        b"entityId=A",
        b"<entityId>A</entityId>",
        bytes(range(256)),
    ],
    ids=lambda body: repr(body[:24]),
)
@pytest.mark.parametrize("path", JSONS)
def test_an_unreadable_json_body_is_refused(admin: Speaker, path: str, body: bytes) -> None:
    assert_error(admin.send_raw(path, body), 400, "InvalidRequest", "body")


@pytest.mark.parametrize(
    ("body", "names"),
    [
        (b"username=%zz&password=x&id=%zz&secret=x", "%"),
        (b"username=%ff&password=x&id=%ff&secret=x", "UTF-8"),
        (b"username=a%00b&password=x&id=a%00b&secret=x", "NUL"),
        (b"&".join(b"a%d=1" % n for n in range(200)), "at most 100 fields"),
        (b'{"username": "a", "password": "b", "id": "a", "secret": "b"}', "missing"),
        (b"", "missing"),
        (b"username[]=a&password[]=b&id[]=a&secret[]=b", "missing"),
        (b"username=a;password=b;id=a;secret=b", "missing"),
    ],
    ids=lambda value: repr(value[:24]),
)
@pytest.mark.parametrize("path", FORMS)
def test_an_unreadable_form_is_refused(admin: Speaker, path: str, body: bytes, names: str) -> None:
    answer = admin.send_raw(path, body)

    assert_error(answer, 400, "InvalidRequest")
    assert names in answer.json()["errorMsg"] or "id" in answer.json()["errorMsg"]
