"""The texts with which the client library refuses a token: what is wrong, and what to do."""

import base64
import json
from typing import Any

import pytest
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding
from joserfc import jwt
from joserfc.jwk import RSAKey
from tests.support.cheap_keys import rsa_key

from mudra.client.errors import TokenMalformed, TokenRefused
from mudra.client.verification.check import Expected, check
from mudra.client.verification.compact import base64url, read_header, split

MAX_LENGTH = 16 * 1024

AT = 1_800_000_000
KEY = rsa_key()
OTHER = rsa_key()
GOOD: dict[str, object] = {
    "iss": "https://iam.example",
    "aud": "network",
    "sub": "s",
    "jti": "j",
    "typ": "Bearer",
    "roles": "FIP",
    "azp": "KAVERI-FIP",
    "iat": AT,
    "exp": AT + 86400,
}
NEW_TOKEN = "answer 401, so that the bearer gets a new token from the token service"
CLOCK = "compare this machine's clock with the token service's (NTP)"
SECONDS = "exp, nbf and iat must be seconds since the epoch"
EMPTY = "jti and sub must not be empty"
ONE_ENTITY = "azp, clientId and client_id do not name one entity"
ROLE = "the token is not an Entity Access Token: its role is none of AA, FIP, FIU"
ENTITY = "the bearer must present the token of its entity, not that of a person"
NO_BASE64URL = "the token is not three parts of Base64url with dots between them"
NO_CANON = "a part of the token is not in canonical Base64url"


def refused(key: RSAKey, now: float, claims: dict[str, object]) -> tuple[str, str]:
    found = {name: value for name, value in {**GOOD, **claims}.items() if value is not None}
    parts = split(jwt.encode({"alg": "RS256"}, found, KEY))
    with pytest.raises(TokenRefused) as error:
        check(parts, key, Expected("https://iam.example", "network"), now)
    return error.value.diagnosis, error.value.way_out


@pytest.mark.parametrize(
    ("claims", "now", "diagnosis", "way_out"),
    [
        ({}, AT + 86400 + 75, "the token expired 75 seconds ago", NEW_TOKEN),
        ({}, AT - 61, "the token becomes valid in 61 seconds", CLOCK),
        ({"sub": None}, AT, "a claim is missing or of another type", NEW_TOKEN),
        ({"sub": ""}, AT, EMPTY, NEW_TOKEN),
        ({"jti": ""}, AT, EMPTY, NEW_TOKEN),
        ({"exp": 253_402_300_800}, AT, SECONDS, NEW_TOKEN),
        ({"nbf": -1}, AT, SECONDS, NEW_TOKEN),
        ({"iat": -1}, AT, SECONDS, NEW_TOKEN),
        ({"typ": "ID"}, AT, "the claim typ is not Bearer", NEW_TOKEN),
        (
            {"iss": "x"},
            AT,
            "the token was not issued by https://iam.example",
            "give the verifier the base_url of the network's token service, exactly as in iss",
        ),
        (
            {"aud": "x"},
            AT,
            "the token's aud does not name network",
            "the bearer must request a token for this audience, or leave audience out",
        ),
        ({"roles": "admin"}, AT, ROLE, ENTITY),
        ({"entity_meta": {}}, AT, ROLE, ENTITY),
        ({"azp": ""}, AT, ONE_ENTITY, NEW_TOKEN),
        ({"client_id": "OTHER-FIP"}, AT, ONE_ENTITY, NEW_TOKEN),
    ],
)
def test_each_claim_refused_says_why_and_what_to_do(
    claims: dict[str, object], now: float, diagnosis: str, way_out: str
) -> None:
    assert refused(KEY, now, claims) == (diagnosis, way_out)


def test_a_foreign_signature_says_so() -> None:
    expected = ("the token was not signed by the key it names", NEW_TOKEN)

    assert refused(OTHER, AT, {}) == expected


def encoded(value: bytes) -> str:
    return base64.urlsafe_b64encode(value).decode().rstrip("=")


def test_a_content_that_is_no_json_says_so() -> None:
    for content, diagnosis in (
        (b"\xff", "the token's content is not plain JSON"),
        (b'{"a":1,"a":2}', "the token's content is not plain JSON"),
        (b'{"a":NaN}', "the token's content is not plain JSON"),
        (b"[]", "the token's content is not a JSON object"),
    ):
        signed = f"{encoded(b'{}')}.{encoded(content)}"
        parts = split(f"{signed}.{signature(signed)}")
        with pytest.raises(TokenMalformed) as error:
            check(parts, KEY, Expected("i"), AT)
        assert (error.value.diagnosis, error.value.way_out) == (diagnosis, NEW_TOKEN)


def signature(signed: str) -> str:
    return encoded(KEY.private_key.sign(signed.encode(), padding.PKCS1v15(), hashes.SHA256()))


@pytest.mark.parametrize(
    ("token", "diagnosis"),
    [
        ("a" * (MAX_LENGTH + 1), f"the token is longer than {MAX_LENGTH} characters"),
        ("a.b", NO_BASE64URL),
        ("aaaa.bbbb.c=cc", NO_BASE64URL),
        ("a" * MAX_LENGTH, NO_BASE64URL),
        ("aaaaa.bbbb.cccc", NO_CANON),
        ("aaaa.bbbbb.cccc", NO_CANON),
        ("aaaa.bbbb.ccccc", NO_CANON),
        ("aB.bbbb.cccc", NO_CANON),
        ("aaB.bbbb.cccc", NO_CANON),
        (None, "the token is NoneType, not a text"),
        (b"aaaa.bbbb.cccc", "the token is bytes, not a text"),
    ],
)
def test_each_form_refused_says_why(token: Any, diagnosis: str) -> None:
    with pytest.raises(TokenMalformed) as error:
        split(token)

    assert (error.value.diagnosis, error.value.way_out) == (diagnosis, NEW_TOKEN)


@pytest.mark.parametrize(
    "token", ["aaaa.bbbb.cccc", "aA.bQ.cg", "aaw.bbA.cc8", "a" * 16373 + "A.aaaa.aaaa"]
)
def test_one_spelling_of_each_length_is_taken(token: str) -> None:
    parts = split(token)

    assert f"{parts.signed}.{parts.signature.decode()}" == token
    assert parts.signed == token.rpartition(".")[0]


@pytest.mark.parametrize(
    ("number", "read"),
    [("AQAB", "AQAB"), ("+_8A", "-_8A"), ("-/8X=", "-_8X"), ("/w==", "_w"), (7, "7")],
)
def test_a_number_of_a_key_is_read_in_each_form_in_use(number: object, read: str) -> None:
    assert base64url(number) == read


GOOD_HEADER: dict[str, object] = {"alg": "RS256", "typ": "JWT", "kid": "k"}


@pytest.mark.parametrize(
    ("fields", "diagnosis"),
    [
        ({"jku": 1}, "the token's header has jku; allowed are alg, kid and typ"),
        ({"x5u": 1, "jwk": 1}, "the token's header has jwk, x5u; allowed are alg, kid and typ"),
        (
            {"CALL 1800": 1},
            "the token's header has an unknown field; allowed are alg, kid and typ",
        ),
        ({"alg": "HS256"}, "the token's alg is not RS256"),
        ({"alg": None}, "the token's alg is not RS256"),
        ({"typ": "jwt"}, "the token's typ is neither JWT nor at+jwt"),
        ({"kid": ""}, "the token names no key (kid)"),
        ({"kid": 7}, "the token names no key (kid)"),
        ({"kid": None}, "the token names no key (kid)"),
        *(
            ({name: 1}, f"the token's header has {name}; allowed are alg, kid and typ")
            for name in ("x5c", "x5t", "x5t#S256", "crit", "b64", "zip", "enc")
        ),
    ],
)
def test_each_header_refused_says_why(fields: dict[str, object], diagnosis: str) -> None:
    header = {name: value for name, value in {**GOOD_HEADER, **fields}.items() if value is not None}
    with pytest.raises(TokenMalformed) as error:
        read_header(encoded(json.dumps(header).encode()))

    assert (error.value.diagnosis, error.value.way_out) == (diagnosis, NEW_TOKEN)


def test_a_header_that_is_no_json_says_so() -> None:
    for header, diagnosis in (
        (b"\xff", "the token's header is not plain JSON"),
        (b"[]", "the token's header is not a JSON object"),
    ):
        with pytest.raises(TokenMalformed) as error:
            read_header(encoded(header))
        assert error.value.diagnosis == diagnosis


@pytest.mark.parametrize("kind", ["JWT", "at+jwt"])
def test_both_types_of_token_are_taken(kind: str) -> None:
    header = {**GOOD_HEADER, "typ": kind}

    assert read_header(encoded(json.dumps(header).encode())).kid == "k"
