"""Wycheproof's vectors for JSON Web Signatures through the library that members verify with."""

import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from tests.support.issuer import NOW

from mudra.client.errors import BadSignature, TokenMalformed
from mudra.client.verification.check import Expected, check
from mudra.client.verification.compact import ALGORITHM, read_json, split
from mudra.client.verification.key_cache import _PRIVATE, _usable

VECTORS: Final = Path(__file__).with_name("vectors") / "wycheproof-jws.zip"
SIGNED: Final = "signed"
REFUSED: Final = "refused"
OURS: Final = (ALGORITHM, "sig")
VECTORS_OF_SIGNATURES: Final = 476
SIGNED_VECTORS: Final = 11


def vectors() -> Iterator[tuple[str, dict[str, Any], dict[str, Any]]]:
    with zipfile.ZipFile(VECTORS) as archive:
        for name in sorted(archive.namelist()):
            if not name.endswith(".json"):
                continue
            for number, group in enumerate(json.loads(archive.read(name))["testGroups"]):
                for one in group["tests"]:
                    if "jws" in one:  # nothing here decrypts
                        yield f"{name}-{number}-{one['tcId']}", group, one


ALL: Final = list(vectors())


def public_keys(group: dict[str, Any]) -> list[dict[str, Any]]:
    """The keys of a group as a token service would publish them: without the private parts."""
    given = group.get("public") or group.get("private") or {}
    return [
        {name: value for name, value in key.items() if name not in _PRIVATE or key["kty"] != "RSA"}
        for key in given.get("keys", [given])
    ]


def verdict(group: dict[str, Any], token: object) -> str:
    """Whether the signature is accepted; that the content is no claims comes after it."""
    published = _usable(json.dumps({"keys": public_keys(group)}).encode())
    try:
        # The JSON serialization is an object, which no one can send as a bearer token.
        parts = split(token if isinstance(token, str) else json.dumps(token))
        header = read_json(parts.header, "header")
        key = published.get(str(header.get("kid")))
        if header.get("alg") != ALGORITHM or key is None:
            return REFUSED
        check(parts, key, Expected("https://issuer.example"), NOW)
    except BadSignature:
        return REFUSED
    except TokenMalformed as error:
        return SIGNED if "content" in str(error.diagnosis) else REFUSED
    return "accepted as a token"


def expected(group: dict[str, Any], one: dict[str, Any]) -> str:
    """A valid signature by the one algorithm that the network has; all else is refused."""
    if one["comment"] == "emptyPayload":
        return REFUSED  # a token without claims
    if "WithRocaVulnerability" in one["comment"]:
        return SIGNED  # the issuer's own keys are trusted: it makes them by OpenSSL
    ours = [key for key in public_keys(group) if (key.get("alg"), key.get("use", "sig")) == OURS]
    return SIGNED if one["result"] == "valid" and ours else REFUSED


def test_each_vector_has_its_verdict() -> None:
    """T1: 0 accepted forgeries, and a refusal is one of the declared errors."""
    wrong = [
        f"{name} ({one['comment']}): {found}"
        for name, group, one in ALL
        if (found := verdict(group, one["jws"])) != expected(group, one)
    ]

    assert not wrong
    assert len(ALL) == VECTORS_OF_SIGNATURES
    assert sum(expected(group, one) == SIGNED for _, group, one in ALL) == SIGNED_VECTORS
