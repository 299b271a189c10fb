"""The library in members' own HTTP: tokens sent with calls, and checked at the door."""

import asyncio
import json
from collections.abc import Iterator

import httpx2
import pytest
from tests.support.cheap_keys import rsa_key
from tests.support.issuer import NOW, Hands, Issuer

from mudra.client import (
    TOKEN_HEADERS,
    AsyncEntityTokenAuth,
    AsyncEntityTokenSource,
    AsyncTokenVerifier,
    BodySigner,
    EntityTokenAuth,
    EntityTokenSource,
    RegisteredKey,
    TokenVerifier,
)
from mudra.client.web import asgi, wsgi

KEY = rsa_key(kid="ours")
HERE = "http://127.0.0.1:1/x"
OLD = 3600
"""Seconds after which a token that is refused is replaced; a younger one is not."""


@pytest.fixture
def issuer() -> Iterator[Issuer]:
    one = Issuer()
    one.publish_revocations()
    yield one
    one.close()


def wsgi_app(environ, start_response):
    caller = environ.get(wsgi.ENTITY)
    start_response("200 OK", [("Content-Type", "text/plain")])
    return [(caller.entity_id if caller else "nobody").encode()]


async def asgi_app(scope, receive, send):
    caller = scope.get("state", {}).get(asgi.ENTITY)
    body = (caller.entity_id if caller else "nobody").encode()
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": body})


def by_wsgi(issuer: Issuer, path: str, headers: list[tuple[str, str]]) -> httpx2.Response:
    verifier = TokenVerifier(issuer.url, wall=Hands())
    app = wsgi.EntityTokenMiddleware(wsgi_app, verifier, public_paths=["/health"], wall=Hands())
    with httpx2.Client(transport=httpx2.WSGITransport(app=app), base_url="http://fip") as client:
        return client.get(path, headers=headers)


def by_asgi(issuer: Issuer, path: str, headers: list[tuple[str, str]]) -> httpx2.Response:
    async def call() -> httpx2.Response:
        verifier = AsyncTokenVerifier(issuer.url, wall=Hands())
        app = asgi.EntityTokenMiddleware(asgi_app, verifier, public_paths=["/health"], wall=Hands())
        transport = httpx2.ASGITransport(app=app)
        async with httpx2.AsyncClient(transport=transport, base_url="http://fip") as client:
            answer = await client.get(path, headers=headers)
        await verifier.aclose()
        return answer

    return asyncio.run(call())


BOTH = pytest.mark.parametrize("call", [by_wsgi, by_asgi])


@BOTH
@pytest.mark.parametrize("header", TOKEN_HEADERS)
def test_a_caller_with_a_valid_token_is_passed_on_with_its_name(issuer: Issuer, call, header):
    scheme = "Bearer " if header == "Authorization" else ""

    answer = call(issuer, "/v2/Consent", [(header, scheme + issuer.token())])

    assert (answer.status_code, answer.text) == (200, "HDFC-FIP")


@BOTH
@pytest.mark.parametrize(
    "claims",
    [{"exp": NOW - 100}, {"iss": "https://other.example"}, {"roles": "person"}],
    ids=["expired", "issuer", "role"],
)
def test_a_token_that_is_not_valid_is_answered_401(issuer: Issuer, call, claims) -> None:
    token = issuer.token(**claims)

    answer = call(issuer, "/v2/Consent", [("Authorization", f"Bearer {token}")])

    assert answer.status_code == 401
    assert answer.headers["www-authenticate"].startswith("Bearer")
    assert answer.json()["errorCode"] == "Unauthorized"
    assert answer.json()["timestamp"] == "2026-03-01T12:00:00.000Z"
    assert token not in answer.text


@BOTH
def test_a_caller_without_a_token_is_shown_where_it_belongs(issuer: Issuer, call) -> None:
    answer = call(issuer, "/v2/Consent", [])

    assert answer.status_code == 401
    assert "client_api_key" in answer.json()["errorMsg"]


@BOTH
def test_two_tokens_that_differ_are_refused_and_one_twice_is_fine(issuer: Issuer, call) -> None:
    mine, other = issuer.token(), issuer.token(jti="jti-2")

    same = call(issuer, "/", [("Authorization", f"Bearer {mine}"), ("aa_api_key", mine)])
    two = call(issuer, "/", [("Authorization", f"Bearer {mine}"), ("aa_api_key", other)])

    assert same.status_code == 200
    assert two.status_code == 401
    assert "more than one" in two.json()["errorMsg"]


@BOTH
def test_public_paths_need_none_and_only_exactly_these(issuer: Issuer, call) -> None:
    assert call(issuer, "/health", []).text == "nobody"
    assert call(issuer, "/health/x", []).status_code == 401
    assert call(issuer, "/Health", []).status_code == 401


@BOTH
def test_an_issuer_out_of_reach_is_answered_503(issuer: Issuer, call) -> None:
    token = issuer.token()
    issuer.close()

    answer = call(issuer, "/", [("Authorization", f"Bearer {token}")])

    assert answer.status_code == 503
    assert answer.headers["retry-after"] == "5"
    assert json.loads(answer.text)["errorCode"] == "ServiceUnavailable"


def test_a_web_socket_without_a_token_is_closed_before_it_opens(issuer: Issuer) -> None:
    sent = []

    async def send(message):
        sent.append(message)

    async def connect() -> None:
        verifier = AsyncTokenVerifier(issuer.url, wall=Hands())
        app = asgi.EntityTokenMiddleware(asgi_app, verifier)
        await app({"type": "websocket", "path": "/", "headers": []}, send, send)
        await verifier.aclose()

    asyncio.run(connect())

    assert sent == [{"type": "websocket.close", "code": 1008}]


def test_the_start_of_the_program_is_passed_on(issuer: Issuer) -> None:
    passed = []

    async def app(scope, receive, send):
        passed.append(scope["type"])

    async def start() -> None:
        verifier = AsyncTokenVerifier(issuer.url)
        await asgi.EntityTokenMiddleware(app, verifier)({"type": "lifespan"}, app, app)
        await verifier.aclose()

    asyncio.run(start())

    assert passed == ["lifespan"]


class Peer:
    """A peer that refuses the first tokens, and keeps what it was sent."""

    def __init__(self, refuses: int = 0) -> None:
        self.refuses = refuses
        self.seen: list[httpx2.Request] = []
        self.tokens: list[str] = []

    def __call__(self, request: httpx2.Request) -> httpx2.Response:
        self.seen.append(request)
        self.tokens.append(request.headers.get("authorization", ""))
        return httpx2.Response(401 if len(self.seen) <= self.refuses else 200)


def posted(issuer: Issuer, peer: Peer, url: str = HERE, **options) -> httpx2.Response:
    steady = Hands(0)
    tokens = EntityTokenSource(issuer.url, "HDFC-FIP", lambda: "the-secret", steady=steady)
    tokens.token()
    steady.now += OLD
    auth = EntityTokenAuth(tokens, **options)
    with httpx2.Client(transport=httpx2.MockTransport(peer), auth=auth) as client:
        return client.post(url, json={"ver": "1.0"})


def aposted(issuer: Issuer, peer: Peer, url: str = HERE, **options) -> httpx2.Response:
    async def call() -> httpx2.Response:
        steady = Hands(0)
        tokens = AsyncEntityTokenSource(issuer.url, "HDFC-FIP", lambda: "the-secret", steady=steady)
        await tokens.token()
        steady.now += OLD
        auth = AsyncEntityTokenAuth(tokens, **options)
        async with httpx2.AsyncClient(transport=httpx2.MockTransport(peer), auth=auth) as client:
            answer = await client.post(url, json={"ver": "1.0"})
        await tokens.aclose()
        return answer

    return asyncio.run(call())


SENDERS = pytest.mark.parametrize("send", [posted, aposted])


@SENDERS
@pytest.mark.parametrize(
    ("header", "value"), [("Authorization", "Bearer token-1"), ("aa_api_key", "token-1")]
)
def test_the_token_is_sent_where_the_peer_expects_it(issuer: Issuer, send, header, value) -> None:
    peer = Peer()

    assert send(issuer, peer, header=header).status_code == 200
    assert [one.headers[header] for one in peer.seen] == [value]


@SENDERS
def test_after_a_401_the_same_request_is_sent_once_with_another_token(issuer: Issuer, send) -> None:
    peer = Peer(refuses=1)

    assert send(issuer, peer).status_code == 200
    assert peer.tokens == ["Bearer token-1", "Bearer token-2"]
    assert {one.content for one in peer.seen} == {b'{"ver":"1.0"}'}


@SENDERS
def test_a_peer_that_refuses_all_is_asked_twice(issuer: Issuer, send) -> None:
    peer = Peer(refuses=9)

    assert send(issuer, peer).status_code == 401
    assert len(peer.seen) == 2


@SENDERS
def test_a_token_is_not_sent_in_the_clear_to_another_machine(issuer: Issuer, send) -> None:
    peer = Peer()

    with pytest.raises(ValueError, match="over plain http"):
        send(issuer, peer, "http://aa.example/x")
    assert send(issuer, peer, "http://aa.example/x", allow_http=True).status_code == 200
    assert send(issuer, peer, "https://aa.example/x").status_code == 200


@SENDERS
def test_a_signer_signs_the_bytes_that_are_sent(issuer: Issuer, send) -> None:
    peer = Peer(refuses=1)
    send(issuer, peer, signer=BodySigner(KEY.as_pem(private=True), "ours"))

    public = {**KEY.as_dict(private=False), "alg": "RS256", "kid": "ours"}
    for request in peer.seen:
        RegisteredKey.from_certificate(public).check(
            request.content, request.headers["x-jws-signature"]
        )
    assert len(peer.seen) == 2


def test_the_wrong_twin_for_a_client_is_an_error_and_sends_nothing(issuer: Issuer) -> None:
    peer = Peer()
    tokens = AsyncEntityTokenSource(issuer.url, "HDFC-FIP", lambda: "the-secret")
    transport = httpx2.MockTransport(peer)

    with (
        httpx2.Client(transport=transport, auth=AsyncEntityTokenAuth(tokens)) as client,
        pytest.raises(TypeError, match="EntityTokenAuth"),
    ):
        client.get(HERE)
    assert peer.seen == []
