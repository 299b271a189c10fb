"""What stopped members' engineers: secrets of other kinds, servers that drop headers, copies."""

import asyncio
import copy
import logging
import pickle
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import httpx2
import pytest
import requests
from hypothesis import given
from hypothesis import strategies as st
from tests.support.cheap_keys import rsa_key
from tests.support.issuer import NOW, Hands, Issuer

import mudra.client
from mudra.client import (
    AsyncEntityTokenSource,
    BodySigner,
    Directory,
    DirectoryUnavailable,
    EntityTokenAuth,
    EntityTokenSource,
    KeysUnavailable,
    RequestsTokenAuth,
    RetryableError,
    RevocationsUnavailable,
    SecretUnreadable,
    ServiceUnavailable,
    TokenMalformed,
    TokenMissing,
    TokenVerifier,
    TooManyRequests,
)
from mudra.client.errors import TokenExpired
from mudra.client.signing.body_signature import SIGNATURE_HEADER, RegisteredKey
from mudra.client.web.refusal_response import refusal_response
from mudra.client.web.token_headers import presented_token
from mudra.client.web.wsgi import EntityTokenMiddleware

SECRET = "the-secret"


@pytest.fixture
def issuer() -> Iterator[Issuer]:
    one = Issuer()
    yield one
    one.close()


@pytest.mark.parametrize(
    ("given_", "named"),
    [
        (None, "NoneType"),
        (b"the-secret", "bytes"),
        (Path("secret"), "PosixPath"),
        ("", "an empty text"),
        ("\n", "an empty text"),
        (7, "int"),
    ],
)
def test_what_is_no_secret_is_named_by_its_type_and_never_sent(
    issuer: Issuer, given_: object, named: str
) -> None:
    tokens = EntityTokenSource(issuer.url, "HDFC-FIP", lambda: given_)  # type: ignore[arg-type,return-value]

    with pytest.raises(SecretUnreadable, match=f"^secret_provider returned {named}[,;] "):
        tokens.token()
    assert issuer.requests == []


@pytest.mark.parametrize("text", [f"{SECRET}\udce9", f"{SECRET}\0", "\ud800"])
def test_a_text_that_no_form_carries_is_named_and_not_shown(issuer: Issuer, text: str) -> None:
    """As `os.environ` gives a secret that is no UTF-8."""
    with pytest.raises(SecretUnreadable, match=r"^secret_provider returned a text with ") as caught:
        EntityTokenSource(issuer.url, "HDFC-FIP", lambda: text).token()

    assert SECRET not in repr(caught.getrepr(style="long", showlocals=False))
    assert caught.value.__context__ is None
    assert issuer.requests == []


@pytest.mark.parametrize("end", ["\n", " ", ":x/iam"])
def test_an_address_that_is_none_is_refused_at_once(end: str) -> None:
    for address in (f"https://iam.example{end}", f"{end}https://iam.example"):
        with pytest.raises(ValueError, match=r"^(the address must|Port could not)"):
            EntityTokenSource(address, "HDFC-FIP", lambda: SECRET)


def test_a_secret_in_place_of_the_function_is_named_at_once_and_not_shown(issuer: Issuer) -> None:
    with pytest.raises(TypeError, match=r"must be a function that returns the secret, not str$"):
        EntityTokenSource(issuer.url, "HDFC-FIP", SECRET)  # type: ignore[arg-type]


@pytest.mark.parametrize("presented", [None, b"a.b.c", 7, ["a.b.c"]])
def test_a_token_that_is_no_text_is_refused_like_any_other(
    issuer: Issuer, presented: object
) -> None:
    with pytest.raises(TokenMalformed, match=f"the token is {type(presented).__name__}, not a"):
        TokenVerifier(issuer.url).verify(presented)  # type: ignore[arg-type]


@pytest.mark.parametrize("text", [f"{SECRET}\n", f"{SECRET}\r\n", f"\ufeff{SECRET}\r\n", SECRET])
def test_the_end_of_a_line_and_a_mark_are_not_of_the_secret(
    issuer: Issuer, text: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, "mudra.client")

    def from_a_file() -> str:
        return text

    assert EntityTokenSource(issuer.url, "HDFC-FIP", from_a_file).token()
    said = [one.getMessage() for one in caplog.records if "secret_provider" in one.getMessage()]
    assert len(said) == (text != SECRET)
    assert all("from_a_file: a line end or byte order mark" in one for one in said)
    assert SECRET not in caplog.text


@given(st.one_of(st.none(), st.binary(), st.integers(), st.lists(st.text()), st.just("")))
def test_no_text_of_an_error_holds_what_a_provider_returned(value: object) -> None:
    shown = str(SecretUnreadable.of(value))

    assert type(value).__name__ in shown or value == ""
    assert len(shown) < 200


def test_the_version_of_the_interface_is_no_part_of_the_base_url() -> None:
    with pytest.raises(ValueError, match=r"leave /v1 out of base_url: https://iam\.example/iam$"):
        EntityTokenSource("https://iam.example/iam/v1/", "HDFC-FIP", lambda: SECRET)


def test_what_another_try_may_end_is_caught_by_one_class() -> None:
    assert mudra.client.RetryableError is RetryableError
    for kind in (
        *(TooManyRequests, ServiceUnavailable),
        *(KeysUnavailable, RevocationsUnavailable, DirectoryUnavailable),
    ):
        assert issubclass(kind, RetryableError)
        assert kind("it is away", "try again").retry_after > 0


def test_a_stopped_issuer_says_when_another_try_may_succeed(issuer: Issuer) -> None:
    token = issuer.token()
    issuer.status = 503

    with pytest.raises(RetryableError) as of_keys:
        TokenVerifier(issuer.url).verify(token)
    source = EntityTokenSource(issuer.url, "HDFC-FIP", lambda: SECRET)
    directory = Directory(issuer.url, source, TokenVerifier(issuer.url))
    with pytest.raises(RetryableError) as of_copy:
        directory.entry("X")

    assert of_keys.value.retry_after > 0
    assert of_copy.value.retry_after > 0


def test_each_fetch_is_logged_and_no_secret_in_it(
    issuer: Issuer, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, "mudra.client")

    token = EntityTokenSource(issuer.url, "HDFC-FIP", lambda: SECRET).token()

    [said] = [one.getMessage() for one in caplog.records if one.levelno == logging.DEBUG]
    assert said.startswith(f"POST {issuer.url}/v1/entity/token/generate: 200 in ")
    assert SECRET not in caplog.text
    assert token not in caplog.text


def fetches(caplog: pytest.LogCaptureFixture) -> list[str]:
    """The fetches that were logged since the last look, without their times."""
    said = [one.getMessage() for one in caplog.records if one.levelno == logging.DEBUG]
    caplog.clear()
    return [one.rpartition(" in ")[0] for one in said]


REGISTRY = "https://registry.example/cr/v2"
GONE = httpx2.MockTransport(lambda _: httpx2.Response(503))


def test_keys_revocations_the_directory_and_failures_are_logged_as_well(
    issuer: Issuer, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, "mudra.client")
    tokens = EntityTokenSource(issuer.url, "HDFC-FIP", lambda: SECRET)
    verifier = TokenVerifier(issuer.url, wall=Hands(NOW))
    directory = Directory(REGISTRY, tokens, verifier, http=httpx2.Client(transport=GONE))
    issuer.publish_revocations()

    verifier.verify(issuer.token())
    of_keys = fetches(caplog)
    with pytest.raises(DirectoryUnavailable):
        directory.entry("KAVERI-FIP")
    of_directory = fetches(caplog)
    issuer.close()
    with pytest.raises(ServiceUnavailable):
        EntityTokenSource(issuer.url, "HDFC-FIP", lambda: SECRET).token()

    assert [one.rpartition("/")[2] for one in of_keys] == ["certs: 200", "revocations: 200"]
    assert f"GET {REGISTRY}/changes?since=0: 503" in of_directory
    assert fetches(caplog) == [f"POST {issuer.url}/v1/entity/token/generate: ConnectError"]


def test_a_fetch_on_an_event_loop_is_logged_as_well(
    issuer: Issuer, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, "mudra.client")

    async def secret() -> str:
        return SECRET

    async def ask() -> None:
        tokens = AsyncEntityTokenSource(issuer.url, "HDFC-FIP", secret)
        try:
            await tokens.token()
        finally:
            await tokens.aclose()

    asyncio.run(ask())
    of_token = fetches(caplog)
    issuer.close()
    with pytest.raises(ServiceUnavailable):
        asyncio.run(ask())

    place = f"POST {issuer.url}/v1/entity/token/generate"
    assert (of_token, fetches(caplog)) == ([f"{place}: 200"], [f"{place}: ConnectError"])


@pytest.mark.parametrize("way", [copy.copy, copy.deepcopy, pickle.dumps])
def test_what_has_connections_says_so_when_it_is_copied(issuer: Issuer, way) -> None:
    tokens = EntityTokenSource(issuer.url, "HDFC-FIP", lambda: SECRET)
    verifier = TokenVerifier(issuer.url)
    held = (
        *(tokens, verifier, AsyncEntityTokenSource(issuer.url, "HDFC-FIP", lambda: SECRET)),
        *(EntityTokenAuth(tokens), Directory("https://r.example/cr/v2", tokens, verifier)),
    )
    for one in held:
        if way is copy.copy and isinstance(one, EntityTokenAuth):
            continue  # it shares its source
        with pytest.raises(
            TypeError, match="cannot be pickled or copied: make one in each process"
        ):
            way(one)


def test_who_presents_no_token_gets_no_error_code() -> None:
    with pytest.raises(TokenMissing, match="may have dropped a header with an underscore") as none:
        presented_token([])

    missing = refusal_response(none.value)
    expired = refusal_response(TokenExpired("it expired", "get another"))

    assert (missing.status, missing.headers["WWW-Authenticate"]) == (401, "Bearer")
    assert expired.headers["WWW-Authenticate"] == 'Bearer error="invalid_token"'


@pytest.mark.parametrize(
    ("server", "said"),
    [
        ("Werkzeug/3.1.9", "instead of `flask run`"),
        ("gunicorn/23.0.0", "header_map"),
        ("waitress", "uWSGI"),
        ("gevent/26.9 Python/3.11", "uWSGI"),
        ("WSGIServer/0.2", "runserver"),
        ("uWSGI", ""),
    ],
)
def test_a_server_that_drops_headers_is_named_once_in_the_log(
    issuer: Issuer, caplog: pytest.LogCaptureFixture, server: str, said: str
) -> None:
    app = EntityTokenMiddleware(lambda *_: [b"ok"], TokenVerifier(issuer.url))

    for _ in range(3):
        app({"PATH_INFO": "/", "SERVER_SOFTWARE": server}, lambda *_: None)  # type: ignore[arg-type,return-value]

    assert said in caplog.text
    assert len(caplog.records) == bool(said)


class Peer:
    """A peer over HTTP: refuses the first token, or redirects; keeps what it was sent."""

    def __init__(self) -> None:
        self.seen: list[tuple[str, dict[str, str], bytes]] = []
        self.refused: set[str] = set()
        self.redirects_to = ""
        peer = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *_: object) -> None:
                pass

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("content-length", "0")))
                headers = {name.lower(): value for name, value in self.headers.items()}
                peer.seen.append((self.path, headers, body))
                status = 401 if headers.get("aa_api_key") in peer.refused else 200
                if peer.redirects_to and self.path == "/moved":
                    status = 307
                self.send_response(status)
                if status == 307:
                    self.send_header("location", peer.redirects_to)
                self.send_header("content-length", "0")
                self.end_headers()

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()


@pytest.fixture
def peer() -> Iterator[Peer]:
    one = Peer()
    yield one
    one.close()


class Steady:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_requests_sends_token_and_signature_and_again_after_a_401(
    issuer: Issuer, peer: Peer
) -> None:
    clock, key = Steady(), rsa_key()
    tokens = EntityTokenSource(issuer.url, "HDFC-FIP", lambda: SECRET, steady=clock)
    signer = BodySigner(key.as_pem(private=True), "k-1")
    peer.refused = {tokens.token()}
    clock.now = 31  # a younger token is not renewed because a peer refused it
    with requests.Session() as session:
        session.auth = RequestsTokenAuth(tokens, header="aa_api_key", signer=signer)

        answer = session.post(f"{peer.url}/Consent", json={"ver": "2.0"})

    assert answer.status_code == 200
    assert [one.status_code for one in answer.history] == [401]
    (_, first, _), (_, second, body) = peer.seen
    assert first["aa_api_key"] in peer.refused
    assert second["aa_api_key"] == tokens.token() != first["aa_api_key"]
    RegisteredKey(key, "k-1", "RS256").check(body, second[SIGNATURE_HEADER])


def test_requests_leaves_the_token_behind_on_a_redirect(issuer: Issuer, peer: Peer) -> None:
    tokens = EntityTokenSource(issuer.url, "HDFC-FIP", lambda: SECRET)
    other = Peer()
    peer.redirects_to = f"{other.url}/stolen"
    try:
        auth = RequestsTokenAuth(tokens, header="aa_api_key")
        requests.post(f"{peer.url}/moved", data="{}", auth=auth, timeout=10)
    finally:
        other.close()

    assert peer.seen[0][1]["aa_api_key"] == tokens.token()
    assert "aa_api_key" not in other.seen[0][1]


def test_requests_sends_no_token_over_plain_http_to_another_machine(issuer: Issuer) -> None:
    auth = RequestsTokenAuth(EntityTokenSource(issuer.url, "HDFC-FIP", lambda: SECRET))

    with pytest.raises(ValueError, match=r"not sent to fip\.example over plain http"):
        requests.get("http://fip.example/", auth=auth, timeout=10)


def test_a_registered_key_in_another_form_of_base64_is_read() -> None:
    key = rsa_key()
    jwk = {**key.as_dict(private=False), "alg": "RS256", "kid": "k-1"}
    jwk["n"] = str(jwk["n"]).replace("-", "+").replace("_", "/") + "=="
    signature = BodySigner(key.as_pem(private=True), "k-1").sign(b"{}")

    RegisteredKey.from_certificate(jwk).check(b"{}", signature)
