"""An authenticator for passkeys, in Python: it signs whatever a test wants signed."""

import base64
import contextlib
import hashlib
import html
import json
import re
import socket
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import cbor2
import httpx2
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from tests.support.people.console import Reader
from tests.support.people.second_factor import PAGE, csrf
from tests.support.process import running_service
from tests.support.service import Service

_OPTIONS = re.compile(r'data-passkey-options="([^"]+)"')
SIGN_IN = "/console/sign-in/passkey"
PROVE = "/console/passkey/challenge"
UP, UV, ATTESTED = 0x01, 0x04, 0x40
Options = dict[str, Any]


@contextlib.contextmanager
def named_service(data_dir: Path, **variables: str) -> Iterator[Service]:
    """A sandbox whose public address is a host name, which passkeys need."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    address = {"MUDRA_BASE_URL": f"http://localhost:{port}/iam"}
    with running_service(data_dir, port=port, keeps_store=True, **address, **variables) as running:
        yield running


def encode(data: bytes) -> str:
    """Base64url without padding."""
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def decode(text: str) -> bytes:
    """The bytes of it."""
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


@dataclass(frozen=True)
class Passkey:
    """One passkey; `count` is what its next signature says, None for one that never counts."""

    origin: str
    user_handle: bytes = b""
    credential_id: bytes = field(default_factory=lambda: uuid.uuid4().bytes)
    key: ec.EllipticCurvePrivateKey = field(
        default_factory=lambda: ec.generate_private_key(ec.SECP256R1())
    )
    rp_id: str = "localhost"
    count: int = 1
    flags: int = UP | UV
    cross_origin: bool = False

    def create(self, options: Options, **client: object) -> str:
        """The answer of navigator.credentials.create(); `client` goes into the client data."""
        point = self.key.public_key().public_numbers()
        cose = {1: 2, 3: -7, -1: 1, -2: point.x.to_bytes(32), -3: point.y.to_bytes(32)}
        attested = bytes(16) + len(self.credential_id).to_bytes(2) + self.credential_id
        data = self._data(ATTESTED) + attested + cbor2.dumps(cose)
        parts = {
            "clientDataJSON": self._client("webauthn.create", options, client),
            "attestationObject": cbor2.dumps({"fmt": "none", "attStmt": {}, "authData": data}),
        }
        return self._answer(parts)

    def get(self, options: Options, **client: object) -> str:
        """The answer of navigator.credentials.get()."""
        data, asked = self._data(), self._client("webauthn.get", options, client)
        signed = data + hashlib.sha256(asked).digest()
        parts = {
            "clientDataJSON": asked,
            "authenticatorData": data,
            "signature": self.key.sign(signed, ec.ECDSA(hashes.SHA256())),
            "userHandle": self.user_handle,
        }
        return self._answer({name: value for name, value in parts.items() if value})

    def later(self, count: int) -> "Passkey":
        """The same one, with another counter."""
        return replace(self, count=count)

    def _data(self, more: int = 0) -> bytes:
        flags = bytes([self.flags | more])
        return hashlib.sha256(self.rp_id.encode()).digest() + flags + self.count.to_bytes(4)

    def _client(self, kind: str, options: Options, other: dict[str, object]) -> bytes:
        facts = {"type": kind, "challenge": options["challenge"], "origin": self.origin}
        return json.dumps({**facts, "crossOrigin": self.cross_origin, **other}).encode()

    def _answer(self, parts: dict[str, bytes]) -> str:
        own = encode(self.credential_id)
        response = {name: encode(value) for name, value in parts.items()}
        return json.dumps({"id": own, "rawId": own, "type": "public-key", "response": response})


def options_of(page: httpx2.Response) -> Options:
    """Returns the options by which a page asks the browser for a passkey."""
    found = _OPTIONS.search(page.text)
    assert found, page.text
    options = json.loads(html.unescape(found[1]))
    assert isinstance(options, dict)
    return options


def fetch(browser: Reader, path: str) -> Options:
    """Fetch a challenge, as the script of the page does."""
    answer = browser.post(path, {})
    assert answer.status_code == 200, answer.text
    options = answer.json()
    assert isinstance(options, dict)
    return options


def begin(browser: Reader, name: str = "Phone", **proof: str) -> httpx2.Response:
    """Open the page that creates a passkey."""
    return browser.act(PAGE, f"{PAGE}/passkey/begin", name=name, **proof)


def add(
    browser: Reader, page: httpx2.Response, response: str, name: str = "Phone"
) -> httpx2.Response:
    """Send what the browser created."""
    fields = {"csrf_token": csrf(page), "name": name, "passkey": response}
    return browser.post(f"{PAGE}/passkey/add", fields)


def new_passkey(browser: Reader, service: Service, name: str = "Phone", **proof: str) -> Passkey:
    """Create a passkey and register it."""
    page = begin(browser, name, **proof)
    options = options_of(page)
    passkey = Passkey(service.root, decode(options["user"]["id"]))
    done = add(browser, page, passkey.create(options), name)
    assert done.status_code in {200, 303}, done.text
    return passkey.later(2)


def sign_in(browser: Reader, response: str, to: str = "") -> httpx2.Response:
    """Send the answer of a passkey as a sign-in."""
    return browser.post(SIGN_IN, {"passkey": response, "to": to})
