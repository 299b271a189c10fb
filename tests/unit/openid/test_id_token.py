"""ID tokens at the very ends of their times, and under other keys and algorithms."""

import pytest
from joserfc import jwt
from joserfc.jwk import ECKey, Key, KeySet, OctKey, OKPKey
from tests.support.cheap_keys import rsa_key

from mudra.openid.id_token import ExpectedToken, TokenNotAccepted, verify

LEEWAY_S = 60
MAX_AGE_S = 600
MAX_LENGTH = 16 * 1024

NOW = 1_800_000_000
KEY = rsa_key(kid="one")
EC = ECKey.generate_key("P-256", {"kid": "two"})
ED = OKPKey.generate_key("Ed25519", {"kid": "three"})
EXPECTED = ExpectedToken("https://id.example", "mudra", "n")
GOOD: dict[str, object] = {
    "iss": "https://id.example",
    "aud": "mudra",
    "sub": "s",
    "iat": NOW,
    "exp": NOW + 300,
    "nonce": "n",
}


def token(key: Key = KEY, alg: str = "RS256", **claims: object) -> str:
    found = {name: value for name, value in {**GOOD, **claims}.items() if value is not None}
    return jwt.encode({"alg": alg, "kid": str(key.kid)}, found, key, [alg])


def accepted(text: str, expected: ExpectedToken = EXPECTED, now: int = NOW) -> bool:
    try:
        return verify(text, KeySet([KEY, EC, ED]), expected, now)["sub"] == "s"
    except TokenNotAccepted:
        return False


@pytest.mark.parametrize(
    ("key", "alg"), [(KEY, "RS256"), (KEY, "PS512"), (EC, "ES256"), (ED, "EdDSA")]
)
def test_signatures_of_published_keys_count(key: Key, alg: str) -> None:
    assert accepted(token(key, alg))
    assert not accepted(token(key, alg)[:-8] + "AAAAAAAA")


def test_a_mac_never_counts() -> None:
    secret = OctKey.import_key("a-secret-of-the-client-of-enough-bytes", {"kid": "four"})
    with pytest.raises(TokenNotAccepted):
        verify(token(secret, "HS256"), KeySet([KEY, secret]), EXPECTED, NOW)


@pytest.mark.parametrize(
    ("claims", "counts"),
    [
        ({"exp": NOW - LEEWAY_S + 1}, True),
        ({"exp": NOW - LEEWAY_S - 1}, False),
        ({"exp": None}, False),
        ({"nbf": NOW + LEEWAY_S}, True),
        ({"nbf": NOW + LEEWAY_S + 1}, False),
        ({"iat": NOW + LEEWAY_S}, True),
        ({"iat": NOW + LEEWAY_S + 1}, False),
        ({"iat": NOW - MAX_AGE_S - LEEWAY_S}, True),
        ({"iat": NOW - MAX_AGE_S - LEEWAY_S - 1}, False),
        ({"iat": None}, False),
        ({"iat": "now"}, False),
        ({"sub": None}, False),
        ({"iss": "https://id.example/"}, False),
        ({"iss": None}, False),
        ({"aud": ["mudra"]}, True),
        ({"aud": "other"}, False),
        ({"aud": None}, False),
        ({"aud": ["mudra", "other"]}, False),
        ({"aud": ["mudra", "other"], "azp": "mudra"}, True),
        ({"aud": ["mudra", "other"], "azp": "other"}, False),
        ({"azp": "mudra"}, True),
        ({"azp": "other"}, False),
        ({"nonce": "m"}, False),
        ({"nonce": None}, False),
        ({"nonce": 7}, False),
        ({"nonce": "é"}, False),
    ],
)
def test_each_claim_is_checked_at_its_very_end(claims: dict[str, object], counts: bool) -> None:
    assert accepted(token(**claims)) is counts


def test_a_token_is_bounded() -> None:
    text = token()
    padded = token(pad="A" * ((MAX_LENGTH - len(text)) * 3 // 4 - 16))

    assert len(padded) <= MAX_LENGTH
    assert accepted(padded)
    with pytest.raises(TokenNotAccepted, match=r"^token-too-long$"):
        verify("A" * (MAX_LENGTH + 1), KeySet([KEY]), EXPECTED, NOW)
    with pytest.raises(TokenNotAccepted, match=r"^(?!token-too-long)"):
        verify("A" * MAX_LENGTH, KeySet([KEY]), EXPECTED, NOW)


@pytest.mark.parametrize(
    ("claims", "reason"),
    [
        ({"iat": NOW - 86400}, "token-too-old"),
        ({"nonce": "m"}, "wrong-nonce"),
        ({"azp": "other"}, "wrong-azp"),
        ({"exp": NOW - 86400}, "ExpiredTokenError"),
    ],
)
def test_the_audit_log_reads_why_a_token_was_refused(
    claims: dict[str, object], reason: str
) -> None:
    with pytest.raises(TokenNotAccepted, match=f"^{reason}$"):
        verify(token(**claims), KeySet([KEY]), EXPECTED, NOW)
