"""What the client library reads of a token, and the very ends of its times."""

from datetime import UTC

import pytest
from joserfc import jwt
from joserfc.jwk import RSAKey
from tests.support.cheap_keys import rsa_key

from mudra.client.entity_token import EntityToken, Role
from mudra.client.errors import (
    BadSignature,
    NotAnEntityToken,
    TokenExpired,
    TokenMalformed,
    TokenNotYetValid,
    TokenRefused,
    WrongAudience,
    WrongIssuer,
)
from mudra.client.verification.check import Expected, check
from mudra.client.verification.compact import split

LEEWAY_SECONDS = 60

AT = 1_800_000_000
KEY = rsa_key()
OTHER = rsa_key()
EXPECTED = Expected("https://iam.example", "network")
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


def read(
    *, expected: Expected = EXPECTED, now: float = AT, key: RSAKey = KEY, **claims: object
) -> EntityToken | type[TokenRefused]:
    found = {name: value for name, value in {**GOOD, **claims}.items() if value is not None}
    parts = split(jwt.encode({"alg": "RS256"}, found, KEY))
    try:
        return check(parts, key, expected, now)
    except TokenRefused as refused:
        return type(refused)


def test_a_good_token_is_read_whole() -> None:
    found = read(scope="a b", clientId="KAVERI-FIP", client_id="KAVERI-FIP")

    assert isinstance(found, EntityToken)
    assert (found.entity_id, found.role) == ("KAVERI-FIP", Role.FIP)
    assert (found.jti, found.subject, found.issuer) == ("j", "s", "https://iam.example")
    assert (found.audience, found.scope) == (("network",), ("a", "b"))
    assert (found.issued_at.timestamp(), found.expires_at.timestamp()) == (AT, AT + 86400)
    assert found.issued_at.tzinfo is found.expires_at.tzinfo is UTC


@pytest.mark.parametrize(
    ("claims", "now", "result"),
    [
        ({}, AT + 86400 + LEEWAY_SECONDS - 0.5, EntityToken),
        ({}, AT + 86400 + LEEWAY_SECONDS, TokenExpired),
        ({}, AT - LEEWAY_SECONDS, EntityToken),
        ({}, AT - LEEWAY_SECONDS - 0.5, TokenNotYetValid),
        ({"nbf": AT + 100}, AT + 100 - LEEWAY_SECONDS, EntityToken),
        ({"nbf": AT + 100}, AT + 100 - LEEWAY_SECONDS - 0.5, TokenNotYetValid),
        ({"nbf": AT - 100}, AT - LEEWAY_SECONDS - 0.5, TokenNotYetValid),
        ({"exp": 253_402_300_799}, AT, EntityToken),
        ({"exp": 253_402_300_800}, AT, TokenMalformed),
        ({"iat": 0}, AT, EntityToken),
        ({"iat": -1}, AT, TokenMalformed),
        ({"nbf": 0}, AT, EntityToken),
        ({"nbf": -1}, AT, TokenMalformed),
    ],
)
def test_the_minute_of_leeway_ends_to_the_second(
    claims: dict[str, object], now: float, result: type[object]
) -> None:
    found = read(now=now, **claims)

    assert (found if isinstance(found, type) else type(found)) is result


@pytest.mark.parametrize(
    ("claims", "result"),
    [
        *(({name: None}, TokenMalformed) for name in ("iss", "sub", "exp", "iat", "jti", "typ")),
        *(({name: ""}, TokenMalformed) for name in ("sub", "jti")),
        ({"roles": None}, TokenMalformed),
        ({"typ": "ID"}, TokenMalformed),
        ({"iss": "https://iam.example/"}, WrongIssuer),
        ({"aud": "other"}, WrongAudience),
        ({"aud": None}, WrongAudience),
        ({"aud": ["other", "network"]}, EntityToken),
        ({"roles": "admin"}, NotAnEntityToken),
        ({"roles": ["FIP"]}, NotAnEntityToken),
        ({"entity_meta": []}, NotAnEntityToken),
        ({"azp": None}, TokenMalformed),
        ({"azp": ""}, TokenMalformed),
        ({"client_id": "OTHER-FIP"}, TokenMalformed),
        ({"clientId": "OTHER-FIP"}, TokenMalformed),
        ({"azp": None, "client_id": "KAVERI-FIP"}, EntityToken),
        ({"azp": None, "clientId": "KAVERI-FIP"}, EntityToken),
    ],
)
def test_each_claim_is_checked(claims: dict[str, object], result: type[object]) -> None:
    found = read(**claims)

    assert (found if isinstance(found, type) else type(found)) is result


def test_a_foreign_key_is_refused_and_no_audience_accepts_any() -> None:
    assert read(key=OTHER) is BadSignature
    assert isinstance(read(expected=Expected("https://iam.example"), aud="other"), EntityToken)
