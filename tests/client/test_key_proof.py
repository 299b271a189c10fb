"""A member answers the registry's question whether it holds its key, and no one else's."""

import asyncio
import functools
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import httpx2
import pytest
from joserfc.jwk import RSAKey
from tests.support.cheap_keys import rsa_key
from tests.support.issuer import NOW, Hands, Issuer

from mudra.client import AsyncTokenVerifier, BodySigner, KeyProof, RegisteredKey, TokenVerifier
from mudra.client.web import key_proof_asgi, key_proof_wsgi

KEY = rsa_key(kid="ours", alg="RS256")
BASE = "https://fip.example.org/aa"
PATH = "/aa/.well-known/entity-key-proof"


@pytest.fixture
def issuer() -> Iterator[Issuer]:
    one = Issuer()
    yield one
    one.close()


def proof(issuer: Issuer) -> KeyProof:
    return KeyProof("KAVERI-FIP", BASE, issuer.url, signer_of(KEY, "ours"), Hands())


def signer_of(key: RSAKey, kid: str) -> BodySigner:
    return _signer(key.as_pem(private=True), kid)


@functools.cache
def _signer(pem: bytes, kid: str) -> BodySigner:
    """Made once: a key that is read is checked for 40 ms."""
    return BodySigner(pem, kid)


def question(by: Issuer, **changes: object) -> bytes:
    asked = {
        "purpose": "entity-key-proof",
        "issuer": by.url,
        "entityId": "KAVERI-FIP",
        "baseUrl": BASE,
        "nonce": "n" * 43,
        "timestamp": datetime.fromtimestamp(NOW, UTC).isoformat(),
    }
    return json.dumps({**asked, **changes}).encode()


def signed(issuer: Issuer, body: bytes, key: RSAKey | None = None) -> dict[str, str]:
    signing = key or issuer.keys[0]
    return {"x-jws-signature": signer_of(signing, str(issuer.keys[0].kid)).sign(body)}


def wsgi_app(environ: Any, start_response: Any) -> list[bytes]:
    start_response("404 Not Found", [])
    return [b"the app"]


async def asgi_app(scope: Any, receive: Any, send: Any) -> None:
    await send({"type": "http.response.start", "status": 404, "headers": []})
    await send({"type": "http.response.body", "body": b"the app"})


def by_wsgi(issuer: Issuer, method: str, path: str, **request: Any) -> httpx2.Response:
    verifier = TokenVerifier(issuer.url, wall=Hands())
    app = key_proof_wsgi.KeyProofMiddleware(wsgi_app, verifier, proof(issuer))
    transport = httpx2.WSGITransport(app=app)
    with httpx2.Client(transport=transport, base_url="http://inside") as client:
        return client.request(method, path, **request)


def by_asgi(issuer: Issuer, method: str, path: str, **request: Any) -> httpx2.Response:
    async def call() -> httpx2.Response:
        verifier = AsyncTokenVerifier(issuer.url, wall=Hands())
        app = key_proof_asgi.KeyProofMiddleware(asgi_app, verifier, proof(issuer))
        transport = httpx2.ASGITransport(app=app)
        async with httpx2.AsyncClient(transport=transport, base_url="http://inside") as client:
            return await client.request(method, path, **request)

    return asyncio.run(call())


BOTH = pytest.mark.parametrize("call", [by_wsgi, by_asgi])


@BOTH
@pytest.mark.parametrize("path", [PATH, "/.well-known/entity-key-proof"])
def test_the_issuer_s_question_is_answered_with_the_registered_key(
    issuer: Issuer, call: Any, path: str
) -> None:
    body = question(issuer)

    answer = call(issuer, "POST", path, content=body, headers=signed(issuer, body))

    assert answer.status_code == 200
    RegisteredKey(KEY, "ours", "RS256").check(answer.content, answer.headers["x-jws-signature"])
    assert answer.json()["nonce"] == "n" * 43
    assert (answer.json()["entityId"], answer.json()["baseUrl"]) == ("KAVERI-FIP", BASE)


@BOTH
@pytest.mark.parametrize(
    "changes",
    [
        {"entityId": "OTHER-FIP"},
        {"baseUrl": "https://evil.example"},
        {"issuer": "https://else.example"},
        {"purpose": "payment"},
        {"nonce": "short"},
        {"nonce": 'n"' * 40},
        {"nonce": "n" * 129},
        {"timestamp": datetime.fromtimestamp(NOW - 61, UTC).isoformat()},
        {"timestamp": datetime.fromtimestamp(NOW + 61, UTC).isoformat()},
        {"timestamp": "2026-03-01T12:00:00"},
        {"timestamp": None},
    ],
)
def test_another_question_is_not_answered(
    issuer: Issuer, call: Any, changes: dict[str, object]
) -> None:
    body = question(issuer, **changes)

    answer = call(issuer, "POST", PATH, content=body, headers=signed(issuer, body))

    assert (answer.status_code, answer.content) == (400, b"")


@BOTH
def test_a_question_that_the_issuer_did_not_sign_is_not_answered(issuer: Issuer, call: Any) -> None:
    body = question(issuer)
    stranger = signed(issuer, body, rsa_key())
    long = body + b" " * 5000
    wrong = [
        (body, {}),
        (body, stranger),
        (body + b" ", signed(issuer, body)),
        (long, signed(issuer, long)),
        (b"", signed(issuer, b"")),
        (b"[" * 2000, signed(issuer, b"[" * 2000)),
    ]

    answers = [call(issuer, "POST", PATH, content=sent, headers=head) for sent, head in wrong]

    assert [one.status_code for one in answers] == [400] * len(wrong)
    assert all("x-jws-signature" not in one.headers for one in answers)


@BOTH
def test_all_other_requests_go_on_to_the_app(issuer: Issuer, call: Any) -> None:
    assert call(issuer, "GET", PATH).text == "the app"
    assert call(issuer, "POST", "/v2/Consent", content=b"x").text == "the app"
