"""Signatures over bodies: what members send each other in x-jws-signature (RFC 7515, RFC 7797)."""

import base64
import json

import pytest
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
from hypothesis import example, given, settings
from hypothesis import strategies as st
from joserfc import jws
from joserfc.jwk import RSAKey
from tests.support.cheap_keys import rsa_key
from tests.support.depth import examples

from mudra.client import BodySigner, RegisteredKey, SignatureRefused

KEY = rsa_key(kid="ours")
OTHER = rsa_key(kid="ours")
BODY = '{"ver":"1.0","note":"₹ 5"}'.encode()


def pem(key: RSAKey) -> bytes:
    return key.as_pem(private=True)


SIGNER = BodySigner(pem(KEY), "ours")


def certificate(key: RSAKey = KEY, **changes: object) -> dict[str, object]:
    return {**key.as_dict(private=False), "alg": "RS256", "use": "sig", "kid": "ours", **changes}


def registered(**changes: object) -> RegisteredKey:
    return RegisteredKey.from_certificate(certificate(**changes))


def signed(header: dict[str, object], key: RSAKey = KEY) -> str:
    """A signature with a header of one's choice."""
    registry = jws.JWSRegistry(algorithms=["RS256", "PS256"], strict_check_header=False)
    return jws.serialize_compact(header, BODY, key, registry=registry)


GOOD = {"alg": "RS256", "kid": "ours", "b64": False, "crit": ["b64"]}


@pytest.mark.parametrize("algorithm", ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"])
def test_a_signed_body_is_accepted_with_the_registered_key(algorithm: str) -> None:
    signature = BodySigner(pem(KEY), "ours", algorithm).sign(BODY)

    registered(alg=algorithm).check(BODY, signature)
    assert ".." in signature


@settings(max_examples=examples(8))
@given(st.text(max_size=200), st.integers(0, 199), st.integers(1, 255))
@example("url-safe_characters", 3, 1)
@example("", 0, 1)
def test_a_body_changed_anywhere_is_refused(text: str, place: int, by: int) -> None:
    body = text.encode("utf-8", "replace")
    signature = SIGNER.sign(body)
    changed = bytearray(body or b"\0")
    changed[place % len(changed)] ^= by

    registered().check(body, signature)
    with pytest.raises(SignatureRefused):
        registered().check(bytes(changed), signature)


@pytest.mark.parametrize(
    "header",
    [
        GOOD | {"alg": "PS256"},
        GOOD | {"kid": "another"},
        {"alg": "RS256", "kid": "ours"},
        GOOD | {"jwk": KEY.as_dict(private=False)},
        GOOD | {"jku": "https://attacker.example/keys"},
        GOOD | {"x5c": ["MII"]},
    ],
    ids="-".join,
)
def test_a_signature_with_another_header_is_refused(header: dict[str, object]) -> None:
    with pytest.raises(SignatureRefused):
        registered().check(BODY, signed(header))


def with_header(text: bytes, signature: str) -> str:
    return base64.urlsafe_b64encode(text).rstrip(b"=").decode() + ".." + signature.split("..")[1]


@pytest.mark.parametrize(
    "header",
    [
        b'{"alg":"none","kid":"ours","b64":false,"crit":["b64"]}',
        b'{"alg":"HS256","kid":"ours","b64":false,"crit":["b64"]}',
        b'{"alg":"RS256","alg":"RS256","kid":"ours","b64":false,"crit":["b64"]}',
        b'{"alg":"RS256","kid":"ours","b64":0,"crit":["b64"]}',
        b'{"alg":"RS256","kid":"ours","b64":false,"crit":["b64","exp"],"exp":1}',
        b'["alg"]',
        b"\xff",
        b"[" * 1000,
    ],
)
def test_a_header_of_another_form_is_refused(header: bytes) -> None:
    signature = BodySigner(pem(KEY), "ours").sign(BODY)

    with pytest.raises(SignatureRefused):
        registered().check(BODY, with_header(header, signature))


@pytest.mark.parametrize("signature", ["", "a", "..", "a..", "..b", "a.b.c", "a..b..c", "é..é"])
def test_what_is_no_signature_is_refused(signature: str) -> None:
    with pytest.raises(SignatureRefused):
        registered().check(BODY, signature)


def test_a_signature_by_another_key_is_refused() -> None:
    with pytest.raises(SignatureRefused, match="not signed by that key"):
        registered().check(BODY, BodySigner(pem(OTHER), "ours").sign(BODY))


def test_a_signature_without_kid_is_accepted_since_the_registry_names_the_key() -> None:
    registered().check(BODY, signed({"alg": "RS256", "b64": False, "crit": ["b64"]}))


@pytest.mark.parametrize(
    "wrong",
    [{"kty": "EC"}, {"alg": "HS256"}, {"alg": None}, {"n": "!"}, {"n": None}, {"e": ""}],
    ids=str,
)
def test_a_certificate_that_is_no_rsa_key_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(SignatureRefused):
        RegisteredKey.from_certificate(certificate(**wrong))


def a_pem(key: rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )


@pytest.mark.parametrize(
    "key",
    [
        b"not a key",
        KEY.as_pem(private=False),
        a_pem(ec.generate_private_key(ec.SECP256R1())),
        a_pem(rsa.generate_private_key(65537, 1024)),
    ],
    ids=["text", "public", "elliptic", "small"],
)
def test_a_signer_takes_private_rsa_keys_only_and_never_shows_what_it_read(key: bytes) -> None:
    with pytest.raises(ValueError, match="RSA key") as refused:
        BodySigner(key, "ours")

    assert refused.value.__cause__ is None
    assert key.decode()[:20] not in str(refused.value)


def test_an_algorithm_that_no_entry_may_name_is_refused() -> None:
    with pytest.raises(ValueError, match="RS256"):
        BodySigner(pem(KEY), "ours", "HS256")


def test_it_is_what_the_network_s_other_clients_make() -> None:
    """Base64url(header) and signature over `header.body` with the body as it is (RFC 7797 5.2)."""
    signature = BodySigner(pem(KEY), "ours").sign(BODY)
    encoded, _, value = signature.partition("..")

    header = json.loads(base64.urlsafe_b64decode(encoded + "=" * (-len(encoded) % 4)))
    assert header == GOOD
    KEY.public_key.verify(
        base64.urlsafe_b64decode(value + "=" * (-len(value) % 4)),
        encoded.encode() + b"." + BODY,
        padding.PKCS1v15(),
        hashes.SHA256(),
    )
