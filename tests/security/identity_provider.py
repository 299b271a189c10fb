"""An OpenID Connect provider that answers whatever a test wants, right or forged."""

import base64
import hashlib
import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, parse_qsl, urlsplit

import httpx2
from joserfc import jwt
from joserfc.jwk import Key, RSAKey
from tests.support.cheap_keys import rsa_key
from tests.support.people.console import Reader
from tests.support.process import running_service
from tests.support.service import Service

CLIENT_ID = "mudra console"
CLIENT_SECRET = "a secret: of the/client"
BEGIN = "/console/sign-in/sso"
BACK = "/console/sign-in/sso/callback"


def _key() -> RSAKey:
    return rsa_key(kid="one")


@dataclass
class Provider:
    """What it answers next; `claims` come on top of those of a good ID token."""

    issuer: str = ""
    key: RSAKey = field(default_factory=_key)
    signed_with: Key | None = None
    header: dict[str, str] = field(default_factory=lambda: {"alg": "RS256", "kid": "one"})
    claims: dict[str, object] = field(default_factory=dict)
    without: tuple[str, ...] = ()
    token: str | None = None
    metadata: dict[str, object] = field(default_factory=dict)
    keys: list[object] | None = None
    token_status: int = 200
    raw: bytes = b""
    """In place of an answer with tokens."""
    challenge: str = ""
    nonce: str = ""
    redeemed: list[dict[str, str]] = field(default_factory=list)

    def right(self) -> None:
        """Answer as a provider should again; the person stays the same."""
        fresh = Provider()
        for name in (
            "signed_with",
            "header",
            "without",
            "token",
            "metadata",
            "token_status",
            "raw",
        ):
            setattr(self, name, getattr(fresh, name))

    def id_token(self) -> str:
        """The ID token of the next answer."""
        now = int(time.time())
        good = {
            "iss": self.issuer,
            "aud": CLIENT_ID,
            "sub": "person-1",
            "iat": now,
            "exp": now + 300,
            "auth_time": now,
            "nonce": self.nonce,
            "email_verified": True,
            "name": "Chief Operator",
        }
        claims = {k: v for k, v in {**good, **self.claims}.items() if k not in self.without}
        if self.header["alg"] == "none":
            parts = [json.dumps(self.header).encode(), json.dumps(claims).encode(), b""]
            return ".".join(base64.urlsafe_b64encode(one).decode().rstrip("=") for one in parts)
        algorithms = [self.header["alg"]]
        return jwt.encode(self.header, claims, self.signed_with or self.key, algorithms)

    def answer(self, path: str, form: dict[str, str], authorization: str) -> tuple[int, object]:
        """Answer a request of the service."""
        if path == "/.well-known/openid-configuration":
            return 200, {
                "issuer": self.issuer,
                "authorization_endpoint": f"{self.issuer}/authorize?tenant=1",
                "token_endpoint": f"{self.issuer}/token",
                "jwks_uri": f"{self.issuer}/keys",
                **self.metadata,
            }
        if path == "/keys":
            return 200, {"keys": self.keys or [self.key.as_dict(private=False)]}
        assert path == "/token", path
        self.redeemed.append(form)
        verifier = hashlib.sha256(form["code_verifier"].encode()).digest()
        sent = base64.urlsafe_b64encode(verifier).decode().rstrip("=")
        assert sent == self.challenge, "PKCE"
        pair = base64.b64decode(authorization.removeprefix("Basic ")).decode()
        assert pair == "mudra%20console:a%20secret%3A%20of%20the%2Fclient", "RFC 6749 2.3.1"
        return self.token_status, self.raw or {
            "id_token": self.token or self.id_token(),
            "access_token": "x",
        }


@contextmanager
def provider() -> Iterator[Provider]:
    """Run one on a free port of this machine."""
    made = Provider()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._send(*made.answer(urlsplit(self.path).path, {}, ""))

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            form = dict(parse_qsl(body))
            self._send(*made.answer(self.path, form, self.headers.get("Authorization", "")))

        def _send(self, status: int, facts: object) -> None:
            body = facts if isinstance(facts, bytes) else json.dumps(facts).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    made.issuer = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield made
    server.shutdown()
    server.server_close()


@contextmanager
def service_of(made: Provider, folder: Path) -> Iterator[Service]:
    """Run a service whose operators sign in by the provider alone."""
    (folder / "secret").write_text(f"{CLIENT_SECRET}\n")
    with running_service(
        folder / "data",
        keeps_store=True,
        MUDRA_SSO_ISSUER=made.issuer,
        MUDRA_SSO_CLIENT_ID=CLIENT_ID,
        MUDRA_SSO_CLIENT_SECRET_FILE=str(folder / "secret"),
        MUDRA_SSO_SCOPE_CLAIM="realm_access.roles",
        MUDRA_SSO_SCOPE_MAP="chiefs=members+registry+health+keys+audit,noc=health",
        MUDRA_SSO_SCOPES="set",
        MUDRA_SSO_CREATE="1",
        MUDRA_SSO_SECOND_FACTOR="amr=mfa",
        MUDRA_SSO_LABEL="Network ID",
        MUDRA_OPERATOR_LOCAL_SIGN_IN="0",
    ) as running:
        yield running


def begin(browser: Reader, made: Provider, to: str = "", *, fresh: bool = False) -> dict[str, str]:
    """Press the button; gives what the browser takes to the provider."""
    sent = browser.get(f"{BEGIN}?to={to}{'&fresh=1' if fresh else ''}")
    assert sent.status_code == 303, sent.text
    query = parse_qs(urlsplit(sent.headers["location"]).query, strict_parsing=True)
    asked = {name: values[0] for name, values in query.items()}
    made.challenge, made.nonce = asked["code_challenge"], asked["nonce"]
    return asked


def come_back(browser: Reader, **query: str) -> httpx2.Response:
    """Come back from the provider, as its redirect does."""
    address = str(httpx2.URL(BACK, params={"code": "a-code", **query}))
    return browser.get(address, **{"Sec-Fetch-Site": "cross-site"})


def sign_in(browser: Reader, made: Provider, to: str = "") -> httpx2.Response:
    """There and back."""
    asked = begin(browser, made, to)
    return come_back(browser, state=asked["state"])
