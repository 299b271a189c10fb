"""Which DPoP proofs are valid (RFC 9449 4.3)."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from joserfc import jws
from joserfc.jwk import ECKey, OctKey, RSAKey
from tests.support.cheap_keys import rsa_key
from tests.support.dpop import KeyOfClient, hash_of

from mudra.shared.dpop_proof import (
    DpopProof,
    PresentedProof,
    ProofInvalid,
    bound_key,
    check_proof,
    urls_of,
)

NOW = datetime(2026, 11, 23, 12, tzinfo=UTC)
ORIGIN = "https://iam.example.org"
URL = f"{ORIGIN}/iam/oauth2/token"
KEY = KeyOfClient()
RSA = KeyOfClient(rsa_key(), "PS256")


def checked(
    *values: str, method: str = "POST", url: str = URL, token: str | None = None
) -> DpopProof | ProofInvalid:
    return check_proof(PresentedProof(values, method, (url,)), NOW, token)


def proof(key: KeyOfClient = KEY, **changes: Any) -> str:
    url, method = changes.pop("url", URL), changes.pop("method", "POST")
    return key.proof(method, url, NOW.timestamp(), **changes)


def problem(*values: str, **given: Any) -> str:
    found = checked(*values, **given)
    assert isinstance(found, ProofInvalid), found
    return found.problem


@pytest.mark.parametrize("key", [KEY, RSA, KeyOfClient(RSA.key, "RS256")])
def test_a_right_proof_names_its_key(key: KeyOfClient) -> None:
    found = checked(proof(key))

    assert isinstance(found, DpopProof)
    assert found.thumbprint == key.thumbprint
    assert found.expires_at == NOW + timedelta(seconds=60)


def test_a_proof_is_known_by_key_and_jti() -> None:
    one, other = KeyOfClient(), KeyOfClient()
    hashes = {
        found.use_hash
        for key, jti, iat in ((one, "a", 0), (one, "a", -9), (one, "b", 0), (other, "a", 0))
        for found in [checked(proof(key, jti=jti, iat=int(NOW.timestamp()) + iat))]
        if isinstance(found, DpopProof)
    }

    assert len(hashes) == 3


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"header": {"typ": "JWT"}}, "typ"),
        ({"header": {"typ": None}}, "typ, alg, jwk"),
        ({"header": {"jwk": None}}, "typ, alg, jwk"),
        ({"header": {"jwk": KEY.key.as_dict(private=True)}}, "public key alone"),
        ({"header": {"jwk": {**KEY.key.as_dict(private=False), "d": ""}}}, "public key alone"),
        ({"header": {"jwk": {**KEY.key.as_dict(private=False), "k": "AA"}}}, "public key alone"),
        ({"header": {"jwk": KeyOfClient().key.as_dict(private=False)}}, "have signed it"),
        ({"header": {"jwk": RSA.key.as_dict(private=False)}}, "have signed it"),
        ({"header": {"jwk": {"kty": "EC"}}}, "have signed it"),
        ({"header": {"jwk": {"kty": ["EC"]}}}, "have signed it"),
        ({"jti": ""}, "jti"),
        ({"jti": "x" * 129}, "jti"),
        ({"jti": "a\u0000"}, "jti"),
        ({"jti": 7}, "typ, alg, jwk"),
        ({"jti": None}, "typ, alg, jwk"),
        ({"htm": "GET"}, "htm must be POST"),
        ({"htm": "post"}, "htm must be POST"),
        ({"htu": "https://iam.example.org/iam/oauth2/revoke"}, "htu must be"),
        ({"htu": "https://else.example/iam/oauth2/token"}, "htu must be"),
        ({"htu": "http://iam.example.org/iam/oauth2/token"}, "htu must be"),
        ({"htu": "https://iam.example.org:8443/iam/oauth2/token"}, "htu must be"),
        ({"htu": "https://x@iam.example.org/iam/oauth2/token"}, "htu must be"),
        ({"htu": "https://iam.example.org:x/iam/oauth2/token"}, "htu must be"),
        ({"htu": "https://iam.example.org:0/iam/oauth2/token"}, "htu must be"),
        ({"htu": "https://iam%2Eexample.org/iam/oauth2/token"}, "htu must be"),
        ({"htu": "https://["}, "htu must be"),
        ({"htu": f"{URL}?{'x' * 2048}"}, "htu must be"),
        ({"htu": ""}, "htu must be"),
        ({"iat": int(NOW.timestamp()) - 61}, "iat"),
        ({"iat": int(NOW.timestamp()) + 61}, "iat"),
        ({"iat": -1}, "iat"),
        ({"iat": 10**30}, "iat"),
        ({"iat": 10**18}, "iat"),
        ({"iat": "now"}, "typ, alg, jwk"),
        ({"iat": True}, "typ, alg, jwk"),
        ({"iat": None}, "typ, alg, jwk"),
    ],
)
def test_a_wrong_part_is_named(changes: dict[str, Any], named: str) -> None:
    assert named in problem(proof(**changes))


@pytest.mark.parametrize(
    "htu",
    [
        f"{URL}?a=b",
        f"{URL}#a",
        "HTTPS://IAM.example.org/iam/oauth2/token",
        "https://iam.example.org:443/iam/oauth2/token",
    ],
)
def test_a_url_is_compared_as_the_rfc_says(htu: str) -> None:
    assert isinstance(checked(proof(htu=htu)), DpopProof)


@pytest.mark.parametrize(
    ("htu", "path"),
    [
        ("%7Ekaveri/a", "~kaveri/a"),
        ("~kaveri/a", "%7ekaveri/a"),
        ("a%2fb", "a%2Fb"),
        ("caf%c3%a9", "caf%C3%A9"),
        ("%41%2D%5F%2E%30", "A-_.0"),
        ("%257E", "%257e".upper()),
        ("a?b=%zz#%zz", "a"),
    ],
)
def test_ways_to_write_one_path_are_equal(htu: str, path: str) -> None:
    assert isinstance(under_root(htu, path), DpopProof)


@pytest.mark.parametrize(
    ("htu", "path"),
    [
        ("a/b", "a%2Fb"),
        ("a;b", "a%3Bb"),
        ("a:b", "a%3Ab"),
        ("a", "A"),
        ("a", "a/"),
        ("a", "/a"),
        ("%7E", "%257E"),
        ("%2561", "a"),
        ("a%20b", "a+b"),
        ("b", "a/../b"),
        ("b", "./b"),
        # Not even what is written in the same way: who resolves it is not known.
        ("a/../b", "a/../b"),
        ("a/%2e%2E/b", "a/../b"),
        ("a%zz", "a%zz"),
        ("a%", "a%"),
        ("a%7", "a%7"),
        ("a\tb", "ab"),
        ("ab\n", "ab"),
        ("caf\u00e9", "caf\u00e9"),
    ],
)
def test_two_resources_are_never_equal(htu: str, path: str) -> None:
    assert isinstance(under_root(htu, path), ProofInvalid)


def under_root(htu: str, path: str) -> DpopProof | ProofInvalid:
    """The outcome for a request of this path, with a proof for that one."""
    (url,) = urls_of(["https://iam.example.org"], f"/{path}")
    return checked(proof(htu=f"https://IAM.example.org:443/{htu}"), url=url)


@pytest.mark.parametrize(
    ("path", "url"),
    [
        ("/a?b=c", f"{ORIGIN}/a"),
        (".evil.example/a", f"{ORIGIN}/.evil.example/a"),
        ("//evil.example/a", f"{ORIGIN}//evil.example/a"),
        ("http://evil.example/a", f"{ORIGIN}/http://evil.example/a"),
        ("/a#b", f"{ORIGIN}/a%23b"),
        ("", f"{ORIGIN}/"),
    ],
)
def test_a_path_stays_under_its_origin(path: str, url: str) -> None:
    assert urls_of([ORIGIN], path) == (url,)


@pytest.mark.parametrize("htu", ["", "x", "https://[", f"https://else.example/{'x' * 2048}"])
def test_what_is_no_url_equals_no_other(htu: str) -> None:
    too_long = f"https://iam.example.org/{'x' * 2048}"

    assert "htu must be" in problem(proof(htu=htu), url=too_long)


@pytest.mark.parametrize("seconds", [-60, 0, 60])
def test_the_ends_of_the_window_are_in_it(seconds: int) -> None:
    assert isinstance(checked(proof(iat=int(NOW.timestamp()) + seconds)), DpopProof)


def test_algorithms_other_than_the_three_are_refused() -> None:
    secret = OctKey.generate_key(256)
    by_secret = jws.serialize_compact(
        {"typ": "dpop+jwt", "alg": "HS256", "jwk": secret.as_dict()}, b"{}", secret
    )
    unsigned = proof().split(".")
    none = "eyJ0eXAiOiJkcG9wK2p3dCIsImFsZyI6Im5vbmUiLCJqd2siOnt9fQ"

    assert isinstance(checked(by_secret), ProofInvalid)
    assert "alg must be" in problem(f"{none}.{unsigned[1]}.")
    assert "alg must be" in problem(proof(KeyOfClient(ECKey.generate_key("P-384"), "ES384")))


def test_keys_of_other_sizes_and_exponents_are_refused() -> None:
    small = KeyOfClient(RSAKey.generate_key(1024), "RS256")
    slow = {**RSA.key.as_dict(private=False), "e": "_" * 340 + "w"}
    curve = {**ECKey.generate_key("P-384").as_dict(private=False)}

    assert "have signed it" in problem(proof(small))
    assert "have signed it" in problem(proof(RSA, header={"jwk": slow}))
    assert "have signed it" in problem(proof(header={"jwk": curve}))


def test_one_header_is_needed_and_a_changed_proof_is_refused() -> None:
    head, body, signature = proof().split(".")
    other = proof().split(".")[1]

    assert "one header" in problem()
    assert "one header" in problem(proof(), proof())
    assert "have signed it" in problem(f"{head}.{other}.{signature}")
    assert isinstance(checked(f"{head}.{body}."), ProofInvalid)
    for text in ("", "x", "é", "a.b.c", "x" * 4097, "{}.{}.{}"):
        assert isinstance(checked(text), ProofInvalid)


def test_with_a_token_its_hash_is_needed() -> None:
    assert isinstance(checked(proof(token="t1"), token="t1"), DpopProof)
    for ath in (None, "", hash_of("t2"), "t1", hash_of("t1") + "="):
        assert "ath" in problem(proof(ath=ath), token="t1")


@pytest.mark.parametrize(
    ("claims", "bound"),
    [
        ({}, ""),
        ({"cnf": {"jkt": "abc"}}, "abc"),
        ({"cnf": {"x5t#S256": "abc"}}, "unknown"),
        ({"cnf": {"jkt": ""}}, "unknown"),
        ({"cnf": {"jkt": 7}}, "unknown"),
        ({"cnf": "abc"}, "unknown"),
    ],
)
def test_a_binding_that_is_not_understood_is_one(claims: dict[str, object], bound: str) -> None:
    assert bound_key(claims) == bound
