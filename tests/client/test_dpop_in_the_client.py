"""The library binds our tokens to a key, and checks the proofs of callers (RFC 9449)."""

import asyncio
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx2
import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from tests.support.dpop import KeyOfClient
from tests.support.http_clients import NO_TLS
from tests.support.issuer import NOW, Hands, Issuer
from tests.support.members import Member, new_member
from tests.support.service import Service

from mudra.client import (
    AsyncEntityTokenAuth,
    AsyncEntityTokenSource,
    AsyncTokenVerifier,
    DpopKey,
    EntityTokenAuth,
    EntityTokenSource,
    PresentedProof,
    ProofMemory,
    ProofRefused,
    ProofUse,
    TokenVerifier,
    TooManyProofs,
    UnexpectedResponse,
)
from mudra.client.dpop.proof_memory import UseProof
from mudra.client.web import asgi, wsgi

ORIGIN = "https://fip.example.org"
KEY = KeyOfClient()


@pytest.fixture
def issuer() -> Iterator[Issuer]:
    one = Issuer()
    one.publish_revocations()
    yield one
    one.close()


@pytest.fixture(scope="module")
def aa(service: Service) -> Member:
    return new_member(service, "AA")


def bound(issuer: Issuer, key: KeyOfClient = KEY) -> str:
    return issuer.token(cnf={"jkt": key.thumbprint})


def wsgi_app(environ, start_response):
    start_response("200 OK", [])
    return [environ[wsgi.ENTITY].bound_to.encode() or b"plain"]


async def asgi_app(scope, receive, send):
    body = scope["state"][asgi.ENTITY].bound_to.encode() or b"plain"
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": body})


def by_wsgi(
    issuer: Issuer, calls: list[dict[str, str]], *origins: str, use_proof: UseProof | None = None
) -> list[httpx2.Response]:
    verifier = TokenVerifier(issuer.url, wall=Hands(), use_proof=use_proof)
    app = wsgi.EntityTokenMiddleware(wsgi_app, verifier, origins=origins, wall=Hands())
    transport = httpx2.WSGITransport(app=app)
    with httpx2.Client(transport=transport, base_url="http://inside") as client:
        return [client.post("/v2/Consent%20a?x=1", headers=one) for one in calls]


def by_asgi(
    issuer: Issuer, calls: list[dict[str, str]], *origins: str, use_proof: UseProof | None = None
) -> list[httpx2.Response]:
    async def call() -> list[httpx2.Response]:
        verifier = AsyncTokenVerifier(issuer.url, wall=Hands(), use_proof=use_proof)
        app = asgi.EntityTokenMiddleware(asgi_app, verifier, origins=origins, wall=Hands())
        transport = httpx2.ASGITransport(app=app)
        async with httpx2.AsyncClient(transport=transport, base_url="http://inside") as client:
            answers = [await client.post("/v2/Consent%20a?x=1", headers=one) for one in calls]
        await verifier.aclose()
        return answers

    return asyncio.run(call())


BOTH = pytest.mark.parametrize("calls", [by_wsgi, by_asgi])
URL = f"{ORIGIN}/v2/Consent%20a"


def proof(token: str, key: KeyOfClient = KEY, url: str = URL, **changes: Any) -> str:
    return key.proof(changes.pop("method", "POST"), url, NOW, token, **changes)


@BOTH
@pytest.mark.parametrize("header", ["Authorization", "client_api_key", "aa_api_key"])
def test_a_bound_token_with_its_proof_is_passed_on_once(issuer: Issuer, calls, header) -> None:
    token = bound(issuer)
    value = f"DPoP {token}" if header == "Authorization" else token
    sent = {header: value, "DPoP": proof(token)}

    first, again = calls(issuer, [sent, sent], ORIGIN)

    assert (first.status_code, first.text) == (200, KEY.thumbprint)
    assert again.status_code == 401
    assert "used before" in again.json()["errorMsg"]


@BOTH
def test_without_the_right_proof_a_bound_token_is_refused(issuer: Issuer, calls) -> None:
    token = bound(issuer)
    wrong = [
        {},
        {"DPoP": proof(token, KeyOfClient())},
        {"DPoP": proof(token, method="GET")},
        {"DPoP": proof(token, url=f"{ORIGIN}/v2/Else")},
        {"DPoP": proof(token, url="http://inside/v2/Consent%20a")},
        {"DPoP": proof(token, url="https://evil.example/v2/Consent%20a"), "Host": "evil.example"},
        {"DPoP": proof(issuer.token())},
        {"DPoP": proof(token, ath=None)},
        {"DPoP": proof(token, iat=NOW - 61)},
        {"DPoP": proof(token, iat=NOW + 61)},
        {"DPoP": f"{proof(token)}, {proof(token)}"},
        {"DPoP": "x"},
    ]

    answers = calls(issuer, [{"Authorization": f"DPoP {token}", **one} for one in wrong], ORIGIN)

    assert [one.status_code for one in answers] == [401] * len(wrong)
    assert all(one.headers["www-authenticate"].startswith("DPoP ") for one in answers)
    assert token not in "".join(one.text for one in answers)


@BOTH
def test_a_program_that_does_not_know_its_address_accepts_plain_tokens_only(
    issuer: Issuer, calls
) -> None:
    token = bound(issuer)
    sent = {"Authorization": f"DPoP {token}", "DPoP": proof(token)}

    refused, plain = calls(issuer, [sent, {"Authorization": f"Bearer {issuer.token()}"}])

    assert refused.status_code == 401
    assert "origins" not in refused.text
    assert "address" in refused.json()["errorMsg"]
    assert (plain.status_code, plain.text) == (200, "plain")


def test_a_verifier_alone_refuses_a_bound_token_without_a_proof(issuer: Issuer) -> None:
    verifier, token = TokenVerifier(issuer.url, wall=Hands(), remember=10), bound(issuer)

    for _ in range(2):
        with pytest.raises(ProofRefused):
            verifier.verify(token)
    presented = PresentedProof((proof(token),), "POST", (URL,))
    assert verifier.verify(token, presented).bound_to == KEY.thumbprint
    with pytest.raises(ProofRefused):
        verifier.verify(token, presented)
    strange = issuer.token(cnf={"x5t#S256": "x"})
    with pytest.raises(ProofRefused):
        verifier.verify(strange, PresentedProof((proof(strange),), "POST", (URL,)))


@pytest.mark.parametrize("origin", ["fip.example.org", f"{ORIGIN}/v2", "ftp://fip.example.org", ""])
def test_an_origin_has_scheme_and_host_alone(issuer: Issuer, origin: str) -> None:
    with pytest.raises(ValueError, match="origin"):
        wsgi.EntityTokenMiddleware(wsgi_app, TokenVerifier(issuer.url), origins=[origin])


def use(number: int, ends: datetime, peer: str = "SAARTHI-AA") -> ProofUse:
    return ProofUse(peer, b"%d" % number, ends)


MARCH = datetime(2026, 3, 1, tzinfo=UTC)


def test_the_memory_of_proofs_forgets_none_that_is_valid() -> None:
    memory = ProofMemory(2)

    assert memory(use(1, MARCH))
    assert not memory(use(1, MARCH))
    assert memory(use(2, MARCH))
    with pytest.raises(TooManyProofs):
        memory(use(3, MARCH + timedelta(seconds=120)))
    assert memory(use(3, MARCH + timedelta(seconds=121)))
    assert memory(use(1, MARCH + timedelta(seconds=121))), "it has ended long ago"


def test_a_peer_that_floods_the_memory_of_proofs_hurts_no_other() -> None:
    memory = ProofMemory(3)
    for number in range(3):
        assert memory(use(number, MARCH))

    with pytest.raises(TooManyProofs, match="SAARTHI-AA has 3 proofs"):
        memory(use(3, MARCH))
    assert memory(use(4, MARCH, "KAVERI-FIU"))
    assert not memory(use(0, MARCH)), "none was forgotten"
    assert not memory(use(4, MARCH)), "another's proof is no one's"


@BOTH
def test_a_peer_with_too_many_proofs_is_asked_to_wait_whatever_its_keys(
    issuer: Issuer, calls
) -> None:
    keys = [KeyOfClient() for _ in range(3)]
    tokens = [issuer.token(cnf={"jkt": key.thumbprint}) for key in keys]
    other = issuer.token(
        azp="KAVERI-FIU", clientId="KAVERI-FIU", client_id="KAVERI-FIU", roles="FIU",
        cnf={"jkt": KEY.thumbprint},
    )  # fmt: skip
    sent = [
        {"Authorization": f"DPoP {token}", "DPoP": proof(token, key)}
        for token, key in zip([*tokens, other], [*keys, KEY], strict=True)
    ]

    *accepted, refused, another = calls(issuer, sent, ORIGIN, use_proof=ProofMemory(2))

    assert [one.status_code for one in (*accepted, refused, another)] == [200, 200, 429, 200]
    assert refused.json()["errorCode"] == "TooManyAttempts"
    assert int(refused.headers["Retry-After"]) > 0


def test_a_full_memory_of_proofs_costs_as_little_as_a_small_one() -> None:
    def costs(size: int) -> float:
        memory = ProofMemory(size)
        for i in range(size):
            assert memory(use(i, MARCH + timedelta(seconds=i % 100)))
        taken = []
        for i in range(20):
            further = use(size + i, MARCH + timedelta(seconds=100))
            begin = time.perf_counter()
            with pytest.raises(TooManyProofs):
                memory(further)
            taken.append(time.perf_counter() - begin)
        return min(taken)

    assert costs(50_000) < 30 * costs(100)


def test_a_path_without_its_slash_is_no_part_of_the_host(issuer: Issuer) -> None:
    token, path = bound(issuer), ".evil.example/a"
    sent = proof(token, url=f"{ORIGIN}{path}")
    sync = wsgi.EntityTokenMiddleware(
        wsgi_app, TokenVerifier(issuer.url, wall=Hands()), origins=[ORIGIN], wall=Hands()
    )
    statuses: list[str] = []
    environ = {"REQUEST_METHOD": "POST", "PATH_INFO": path, "HTTP_DPOP": sent}
    environ["HTTP_AUTHORIZATION"] = f"DPoP {token}"

    sync(environ, lambda status, _: statuses.append(status))

    async def send(message):
        statuses.append(str(message.get("status", "")))

    async def call() -> None:
        verifier = AsyncTokenVerifier(issuer.url, wall=Hands())
        app = asgi.EntityTokenMiddleware(asgi_app, verifier, origins=[ORIGIN], wall=Hands())
        headers = [(b"authorization", f"DPoP {token}".encode()), (b"dpop", sent.encode())]
        scope = {"type": "http", "method": "POST", "path": path, "headers": headers}
        await app(scope | {"raw_path": path.encode()}, None, send)
        await verifier.aclose()

    asyncio.run(call())
    assert statuses == ["401 Unauthorized", "401", ""]


def test_our_calls_prove_the_key_of_their_token(aa: Member) -> None:
    service, secret = aa.service, aa.secret()
    key = DpopKey(wall=service.wall)
    source = EntityTokenSource(
        service.issuer, aa.entity_id, lambda: secret, dpop=key, allow_http=True
    )
    url = f"{service.root}/cr/v2/entityInfo/AA"
    auth = EntityTokenAuth(source, allow_http=True)

    with httpx2.Client(auth=auth, verify=NO_TLS) as client:
        answers = [client.get(url), client.get(f"{url}?at=2026-01-31T09:30:00Z")]

    assert [one.status_code for one in answers] == [200, 200]
    claims = jwt.decode(source.token(), options={"verify_signature": False})
    assert claims["cnf"] == {"jkt": key.thumbprint}
    assert source.authorization().startswith("DPoP ")
    stolen = httpx2.get(
        url,
        headers={"Authorization": f"Bearer {source.token()}"},
        verify=NO_TLS,
    )
    assert stolen.status_code == 401


def test_asynchronous_calls_do_the_same(aa: Member) -> None:
    service, secret = aa.service, aa.secret()
    now = service.wall()

    async def call() -> int:
        source = AsyncEntityTokenSource(
            service.issuer,
            aa.entity_id,
            lambda: secret,
            dpop=DpopKey(wall=lambda: now),
            allow_http=True,
        )
        auth = AsyncEntityTokenAuth(source, allow_http=True)
        async with httpx2.AsyncClient(auth=auth, verify=NO_TLS) as client:
            answer = await client.get(f"{service.root}/cr/v2/entityInfo/AA")
        await source.aclose()
        return answer.status_code

    assert asyncio.run(call()) == 200


def test_a_service_that_does_not_bind_tokens_is_reported(issuer: Issuer) -> None:
    source = EntityTokenSource(issuer.url, "HDFC-FIP", lambda: "the-secret", dpop=DpopKey())

    with pytest.raises(UnexpectedResponse, match="does not bind"):
        source.token()


def test_a_proof_names_the_address_alone() -> None:
    made = DpopKey().proof("GET", "https://us%65r:word@fip.example.org/a%2Fb?x=1#y")

    assert jwt.decode(made, options={"verify_signature": False})["htu"] == f"{ORIGIN}/a%2Fb"


def pem(key: ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )


def test_the_key_is_a_p_256_key() -> None:
    private = ec.generate_private_key(ec.SECP256R1())
    public = private.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )

    assert DpopKey(pem(private)).thumbprint == DpopKey(pem(private)).thumbprint
    for wrong in (
        pem(ec.generate_private_key(ec.SECP384R1())),
        pem(rsa.generate_private_key(65537, 2048)),
        public,
        b"x",
    ):
        with pytest.raises(ValueError, match="P-256"):
            DpopKey(wrong)
