"""A member's key out of what people have: PEM, certificate, JWK, set; never a private one."""

import base64
import json
from datetime import UTC, datetime

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.rsa import generate_private_key
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)
from tests.support.registry.registry_payloads import jwk, public_pem

from mudra.registry.payload.read_key import KeySource, KeyUnread, ReadKey, read_key

MAX_TEXT = 64 * 1024

SPKI = (Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
BEGAN = datetime(2026, 1, 1, tzinfo=UTC)
ENDS = datetime(2027, 1, 1, tzinfo=UTC)
P_256 = bytes.fromhex("06082a8648ce3d030107")
SM2 = bytes.fromhex("06082a811ccf5501822d")
"""The names of two curves: the library reads no key of the other."""


def certificate() -> bytes:
    key = generate_private_key(65537, 2048)
    name = x509.Name.from_rfc4514_string("CN=api.bank.example,O=Bank & Sons")
    return (
        x509.CertificateBuilder(name, name, key.public_key(), 7, BEGAN, ENDS)
        .sign(key, SHA256())
        .public_bytes(Encoding.PEM)
    )


def found(text: str) -> ReadKey:
    read = read_key(text)
    assert isinstance(read, ReadKey), read
    return read


def test_the_same_key_in_every_dress() -> None:
    number = 7802
    wanted = jwk(number)["n"]
    pem, given = public_pem(number).decode(), json.dumps(jwk(number))
    der = "".join(pem.splitlines()[1:-1])
    named = json.dumps({"n": wanted, "e": "AQAB", "kty": "RSA"})

    texts = (pem, f"Bag Attributes\n{pem}", der, given, f'{{"keys": [{given}]}}', named)
    assert {found(text).jwk.n for text in texts} == {wanted}
    assert found(given).jwk.kid == f"kid-{number}"
    assert found(named).jwk.kid == found(pem).jwk.kid != ""
    assert found(pem).bits == 2048


def test_a_certificate_says_whose_it_is_and_gives_its_key() -> None:
    read = found(certificate().decode())

    assert (read.source, read.ends_at) == (KeySource.CERTIFICATE, ENDS)
    assert "CN=api.bank.example" in read.subject
    assert read.jwk.alg == "RS256"


def private_pem() -> str:
    key = ec.generate_private_key(ec.SECP256R1())
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()


def ec_pem() -> str:
    return ec.generate_private_key(ec.SECP256R1()).public_key().public_bytes(*SPKI).decode()


def pem(der: bytes, label: str) -> str:
    return f"-----BEGIN {label}-----\n{base64.b64encode(der).decode()}\n-----END {label}-----"


def other_pem() -> str:
    """Of a kind that the library does not know."""
    return pem(bytes.fromhex("300c300506032a0304030300abcd"), "PUBLIC KEY")


def other_certificate(*, version: int = 2, curve: bytes = SM2) -> str:
    key, name = ec.generate_private_key(ec.SECP256R1()), x509.Name.from_rfc4514_string("CN=bank")
    made = x509.CertificateBuilder(name, name, key.public_key(), 7, BEGAN, ENDS)
    der = made.sign(key, SHA256()).public_bytes(Encoding.DER)
    numbered = der.replace(b"\xa0\3\2\1\2", bytes([0xA0, 3, 2, 1, version]))
    return pem(numbered.replace(P_256, curve), "CERTIFICATE")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (" ", KeyUnread.EMPTY),
        (private_pem(), KeyUnread.PRIVATE),
        (json.dumps(jwk(1) | {"d": "AQAB"}), KeyUnread.PRIVATE),
        (ec_pem(), KeyUnread.NOT_RSA),
        (other_pem(), KeyUnread.NOT_RSA),
        (other_certificate(), KeyUnread.NOT_RSA),
        (other_certificate(version=9), KeyUnread.UNKNOWN),
        (json.dumps(jwk(7802) | {"kid": "\ud800"}), KeyUnread.UNKNOWN),
        (json.dumps(jwk(7802) | {"alg": "\ud800"}), KeyUnread.UNKNOWN),
        ('{"kty": "EC", "x": "", "y": ""}', KeyUnread.NOT_RSA),
        (json.dumps({"keys": [jwk(1), jwk(2)]}), KeyUnread.SEVERAL),
        ('{"keys": [1, null]}', KeyUnread.UNKNOWN),
        ('{"kty": "RSA", "n": 5, "e": "AQAB"}', KeyUnread.UNKNOWN),
        ('{"kty":', KeyUnread.UNKNOWN),
        ("{" * 5000, KeyUnread.UNKNOWN),
        ("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----", KeyUnread.UNKNOWN),
        ("hello", KeyUnread.UNKNOWN),
        (base64.b64encode(bytes(64)).decode(), KeyUnread.UNKNOWN),
        ("A" * (MAX_TEXT + 1), KeyUnread.UNKNOWN),
    ],
)
def test_what_is_no_public_rsa_key_is_refused_with_its_reason(text: str, why: KeyUnread) -> None:
    assert read_key(text) == why


@pytest.mark.parametrize("kty", [{}, [], ["RSA"], {"RSA": 1}, 1, True])
def test_a_kind_of_key_that_is_no_text_is_refused(kty: object) -> None:
    assert read_key(json.dumps({**jwk(7802), "kty": kty})) == KeyUnread.NOT_RSA


def test_a_key_whose_private_members_are_null_is_public() -> None:
    given = {**jwk(), "d": None, "p": None}

    found = read_key(json.dumps(given))

    assert isinstance(found, ReadKey)
    assert found.jwk.n == given["n"]
