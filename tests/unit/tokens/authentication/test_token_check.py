"""Our own tokens at the very ends of their times, and one wrong claim at a time (RFC 8725)."""

from datetime import UTC, datetime, timedelta

import pytest
from joserfc import jwt
from joserfc.jwk import RSAKey
from tests.support.cheap_keys import rsa_key

from mudra.tokens.authentication.token_check import (
    TokenExpired,
    TokenInvalid,
    TokenVerification,
    VerifiedToken,
    verify_token,
)
from mudra.tokens.claims import TokenKind, TokenTerms

LEEWAY_S = 60
MAX_TOKEN_LENGTH = 8192

NOW = datetime(2026, 11, 23, 12, 0, tzinfo=UTC)
AT = int(NOW.timestamp())
KEY = rsa_key(kid="one")
OTHER = rsa_key(kid="two")
TERMS = TokenTerms(issuer="https://iam.example/iam", entity_audience="network", header_type="JWT")
GOOD: dict[str, object] = {
    "iss": "https://iam.example/iam",
    "aud": "network",
    "sub": "KAVERI-FIP",
    "jti": "j",
    "typ": "Bearer",
    "iat": AT,
    "nbf": AT,
    "exp": AT + 86400,
}


def token(header: dict[str, object] | None = None, key: RSAKey = KEY, **claims: object) -> str:
    found = {name: value for name, value in {**GOOD, **claims}.items() if value is not None}
    shown = {"alg": "RS256", "kid": "one", "typ": "JWT", **(header or {})}
    shown = {name: value for name, value in shown.items() if value is not None}
    return jwt.encode(shown, found, key, ["RS256", "RS384"])


def verified(
    text: str, kind: TokenKind = TokenKind.ENTITY, now: datetime = NOW
) -> TokenVerification:
    return verify_token(text, TERMS, {"one": (kind, KEY)}.get, now)


def test_a_good_token_says_who_and_when() -> None:
    assert verified(token()) == VerifiedToken(
        TokenKind.ENTITY, "KAVERI-FIP", "j", NOW, NOW + timedelta(days=1), GOOD, "one"
    )
    assert isinstance(verified(token({"typ": "at+jwt"})), VerifiedToken)
    user = token(aud="https://iam.example/iam")
    assert isinstance(verified(user, TokenKind.USER), VerifiedToken)
    assert verified(user) == TokenInvalid()
    assert verified(token(), TokenKind.USER) == TokenInvalid()


@pytest.mark.parametrize(
    ("claims", "result"),
    [
        ({"exp": AT - LEEWAY_S + 1}, VerifiedToken),
        ({"exp": AT - LEEWAY_S}, TokenExpired),
        ({"nbf": AT + LEEWAY_S}, VerifiedToken),
        ({"nbf": AT + LEEWAY_S + 1}, TokenInvalid),
        ({"iat": AT + LEEWAY_S}, VerifiedToken),
        ({"iat": AT + LEEWAY_S + 1}, TokenInvalid),
        ({"exp": AT - LEEWAY_S, "nbf": AT + LEEWAY_S + 1}, TokenInvalid),
    ],
)
def test_the_minute_of_leeway_ends_to_the_second(
    claims: dict[str, object], result: type[object]
) -> None:
    found = verified(token(**claims))

    assert type(found) is result
    if isinstance(found, TokenExpired):
        assert found.expired_at == NOW - timedelta(seconds=LEEWAY_S)


@pytest.mark.parametrize("name", GOOD)
@pytest.mark.parametrize("value", [None, "other", True, 1.5, ["network"], {}])
def test_each_claim_is_needed_and_has_its_type(name: str, value: object) -> None:
    found = verified(token(**{name: value}))

    free = name in {"sub", "jti"} and value == "other"
    assert isinstance(found, VerifiedToken if free else TokenInvalid)


@pytest.mark.parametrize(
    "header",
    [{"kid": "two"}, {"kid": None}, {"typ": "JOSE"}, {"alg": "RS384"}],
)
def test_key_type_and_algorithm_are_our_own(header: dict[str, object]) -> None:
    assert verified(token(header)) == TokenInvalid()


def test_a_foreign_signature_or_text_is_no_token() -> None:
    assert verified(token(key=OTHER)) == TokenInvalid()
    for text in ("", "a.b.c", "é.é.é", token()[:-2] + "é", "{}"):
        assert verified(text) == TokenInvalid()


def test_the_longest_token_is_read_and_no_longer_one() -> None:
    def padded(length: int) -> str:
        return token(pad="A" * length)

    longest = max(
        (padded(n) for n in range(5680, 5700)), key=lambda t: (len(t) <= MAX_TOKEN_LENGTH, len(t))
    )
    assert len(longest) == MAX_TOKEN_LENGTH
    assert isinstance(verified(longest), VerifiedToken)
    genuine = padded(5900)
    assert len(genuine) > MAX_TOKEN_LENGTH
    assert verified(genuine) == TokenInvalid()
