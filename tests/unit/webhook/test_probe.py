"""What a probe of a base URL finds, also when the server means harm."""

import asyncio
import datetime as dt
import ipaddress
import json
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from tests.support.cheap_keys import rsa_key

from mudra.audit.event import Caller
from mudra.client import BodySigner
from mudra.registry.payload.fields.url_rules import AddressPolicy
from mudra.registry.probe.challenge import PATH, Challenge, new_challenge
from mudra.registry.probe.probe import ProbeResult, WaitingProbe
from mudra.webhook.probe import probe
from mudra.webhook.reach import Reach

PUBLIC = Reach(AddressPolicy())
SANDBOX = Reach(AddressPolicy(allow_http=True, allow_private=True))
OPENED = Reach(AddressPolicy(), (ipaddress.ip_network("127.0.0.0/8"),))
NOW = dt.datetime(2026, 11, 23, 12, tzinfo=dt.UTC)
KEY = rsa_key(kid="ours", use="sig", alg="RS256")
SIGNER = BodySigner(KEY.as_pem(private=True), "ours")
OTHER = BodySigner(rsa_key().as_pem(private=True), "ours")
Answer = Callable[[BaseHTTPRequestHandler, bytes], None]


@contextmanager
def server(answer: Answer, tls: ssl.SSLContext | None = None) -> Iterator[tuple[str, list[str]]]:
    """A server on this machine: its address, and the paths that were asked for."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

        def do_POST(self) -> None:
            asked.append(self.path)
            answer(self, self.rfile.read(int(self.headers["content-length"])))

        def do_GET(self) -> None:
            self.do_POST()

    class Quiet(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, *_: object) -> None:
            """A client that only looked at the certificate is no error."""

    running = Quiet(("127.0.0.1", 0), Handler)
    if tls is not None:
        running.socket = tls.wrap_socket(running.socket, server_side=True)
    threading.Thread(target=running.serve_forever, args=(0.01,), daemon=True).start()
    scheme = "https" if tls else "http"
    try:
        yield f"{scheme}://127.0.0.1:{running.server_port}/aa", asked
    finally:
        running.shutdown()
        running.server_close()


def reply(handler: BaseHTTPRequestHandler, body: bytes, status: int = 200, **headers: str) -> None:
    handler.send_response(status)
    for name, value in headers.items():
        handler.send_header(name.replace("_", "-"), value)
    handler.send_header("content-length", str(len(body)))
    handler.end_headers()
    handler.wfile.write(body)


def proof(signer: BodySigner = SIGNER, **changes: str) -> Answer:
    """Answer a challenge as a member does; `changes` are what a wrong one has."""

    def answer(handler: BaseHTTPRequestHandler, challenge: bytes) -> None:
        asked = json.loads(challenge)
        body = json.dumps({**asked, **changes}).encode()
        reply(handler, body, x_jws_signature=signer.sign(body))

    return answer


def waiting(url: str) -> WaitingProbe:
    public = {name: str(value) for name, value in KEY.as_dict(private=False).items()}
    return WaitingProbe("p", "KAVERI-FIP", 1, url, public, Caller("operator:tests"))


def challenge_to(one: WaitingProbe, nonce: str = "n" * 43) -> Challenge:
    return new_challenge(one, "https://iam.example.org/iam", nonce, NOW)


def probed(
    url: str,
    reach: Reach = SANDBOX,
    authorities: ssl.SSLContext | None = None,
    within_s: float = 5.0,
) -> ProbeResult:
    one = waiting(url)
    call = probe(one, challenge_to(one), "signature", reach, authorities, within_s)
    return asyncio.run(call)


def test_a_server_that_holds_the_key_proves_it() -> None:
    with server(proof()) as (url, asked):
        found = probed(url)

    assert found == ProbeResult(200, "", "", None)
    assert found.is_key_proven
    assert asked == [f"/aa{PATH}"]


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        (proof(OTHER), "not signed by that key"),
        (proof(nonce="m" * 43), "nonce of the answer is another"),
        (proof(entityId="OTHER-FIP"), "entityId of the answer is another"),
        (proof(baseUrl="https://other.example"), "baseUrl of the answer is another"),
        (proof(purpose="else"), "purpose of the answer is another"),
        (proof(issuer="https://else.example"), "issuer of the answer is another"),
        (lambda handler, _: reply(handler, b"{}"), "x-jws-signature"),
        (
            lambda handler, _: reply(handler, b"no", x_jws_signature=SIGNER.sign(b"no")),
            "is not JSON",
        ),
        (
            lambda handler, body: reply(handler, body, x_jws_signature="a" * 9000),
            "x-jws-signature",
        ),
    ],
)
def test_a_wrong_answer_is_no_proof(answer: Answer, problem: str) -> None:
    with server(answer) as (url, _):
        found = probed(url)

    assert (found.status, found.problem) == (200, "")
    assert problem in found.key_problem


@pytest.mark.parametrize("status", [204, 301, 302, 307, 308, 401, 404, 500])
def test_no_redirect_is_followed_and_other_answers_prove_nothing(status: int) -> None:
    with server(proof()) as (target, further):

        def redirect(handler: BaseHTTPRequestHandler, _: bytes) -> None:
            reply(handler, b"", status, location=target + PATH)

        with server(redirect) as (url, asked):
            found = probed(url)

    assert (found.status, found.problem) == (status, "")
    assert found.key_problem == "the server does not answer the challenge"
    assert len(asked) == 1
    assert further == []


def test_a_long_answer_is_not_read_to_its_end() -> None:
    with server(lambda handler, _: reply(handler, b"x" * 10_000_000)) as (url, _):
        found = probed(url)

    assert "longer than 8192 bytes" in found.key_problem


def test_a_slow_answer_is_not_waited_for() -> None:
    over = threading.Event()

    def slow(handler: BaseHTTPRequestHandler, _: bytes) -> None:
        handler.send_response(200)
        handler.send_header("content-length", "100")
        handler.end_headers()
        while not over.wait(0.05):
            try:
                handler.wfile.write(b"x")
                handler.wfile.flush()
            except OSError:
                return

    with server(slow) as (url, _):
        found = probed(url, within_s=0.5)
        over.set()

    assert found.problem == "no answer within 0.5 seconds"


@pytest.mark.parametrize(
    "url",
    [
        "https://127.0.0.1/",
        "https://169.254.169.254/latest/meta-data",
        "https://[::1]/",
        "https://[::ffff:10.0.0.1]/",
        "https://10.1.2.3:8443/x",
        "http://93.184.215.14/",
        "https://user:word@93.184.215.14/",
        "file:///etc/passwd",
        "https://localhost/",
    ],
)
def test_private_addresses_and_other_schemes_are_not_called(url: str) -> None:
    found = probed(url, PUBLIC)

    assert found.problem.startswith(("the address", "the host"))
    assert (found.status, found.certificate) == (0, None)


@pytest.mark.parametrize("address", ["127.0.0.1", "169.254.169.254", "10.0.0.1", "::1"])
def test_a_public_name_that_leads_inside_is_not_called(
    monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    def look_up(_: str, port: int, *__: object, **___: object) -> list[tuple[object, ...]]:
        return [
            (socket.AF_INET, socket.SOCK_STREAM, 6, "", (one, port))
            for one in ("93.184.215.14", address)
        ]

    monkeypatch.setattr(socket, "getaddrinfo", look_up)

    assert probed("https://fip.example.org/", PUBLIC).problem.startswith("the host is")


def test_no_one_there_is_reported() -> None:
    assert (
        probed("http://127.0.0.1:9/").problem
        == "no connection: no program listens there, or a firewall refuses it"
    )


def self_signed(name: str, *extensions: tuple[x509.ExtensionType, bool]) -> tuple[bytes, bytes]:
    """A certificate that signs itself, as DER, and its key in PEM; an extension may be critical."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(dt.datetime(2020, 1, 1, tzinfo=dt.UTC))
        .not_valid_after(dt.datetime(2099, 1, 1, tzinfo=dt.UTC))
    )
    for extension, critical in extensions:
        builder = builder.add_extension(extension, critical)
    made = builder.sign(key, hashes.SHA256())
    private = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    return made.public_bytes(serialization.Encoding.DER), private


def written(file: Path, der: bytes, private: bytes) -> Path:
    """The file from which a server reads its certificate and key."""
    file.write_bytes(private + ssl.DER_cert_to_PEM_cert(der).encode())
    return file


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate for 127.0.0.1 that signs itself, with its key."""
    address = x509.IPAddress(ipaddress.ip_address("127.0.0.1"))
    names = x509.SubjectAlternativeName([address, x509.DNSName("fip.example.org")])
    authority = x509.BasicConstraints(ca=True, path_length=None)
    made = self_signed("fip.example.org\u202e", (authority, True), (names, False))
    return written(tmp_path_factory.mktemp("tls") / "server.pem", *made)


@pytest.fixture(scope="module")
def plain_certificate() -> tuple[bytes, bytes]:
    """A certificate with two extensions of no meaning and one name, as DER, and its key."""
    names = x509.SubjectAlternativeName([x509.DNSName("a.b")])
    unknown = [
        x509.UnrecognizedExtension(x509.ObjectIdentifier(oid), b"\x05\x00")
        for oid in ("1.2.3.4", "1.2.3.5")
    ]
    return self_signed("fip.example.org", *((one, False) for one in (names, *unknown)))


def tls_of(file: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file)
    return context


def test_the_certificate_is_reported_and_the_key_asked_for_under_it(certificate: Path) -> None:
    trusted = ssl.create_default_context(cafile=str(certificate))
    with server(proof(), tls_of(certificate)) as (url, _):
        found = probed(url, OPENED, trusted)

    assert (found.status, found.problem, found.key_problem) == (200, "", "")
    assert found.certificate is not None
    assert found.certificate.problem == ""
    assert found.certificate.subject == "CN=fip.example.org?"
    assert found.certificate.names == ("fip.example.org",)
    assert found.certificate.valid_until.year == 2099


def test_a_certificate_that_no_authority_signed_is_shown_and_nothing_is_sent(
    certificate: Path,
) -> None:
    with server(proof(), tls_of(certificate)) as (url, asked):
        found = probed(url, OPENED)

    assert asked == []
    assert found.certificate is not None
    assert "self-signed" in found.certificate.problem
    assert found.problem.startswith("the certificate is not trusted")
    assert not found.is_key_proven


@pytest.mark.parametrize(
    ("changed", "to", "problem"),
    [
        # An extension twice, a name of a kind that is not in use, a version that there is not.
        (b"\x06\x03\x2a\x03\x05", b"\x06\x03\x2a\x03\x04", "the certificate is not trusted"),
        (b"\x82\x03a.b", b"\xa3\x03\x05\x00\x00", "the certificate is not trusted"),
        (b"\xa0\x03\x02\x01\x02", b"\xa0\x03\x02\x01\x05", "the certificate cannot be read"),
    ],
)
def test_a_certificate_against_the_rules_ends_the_probe(
    plain_certificate: tuple[bytes, bytes], tmp_path: Path, changed: bytes, to: bytes, problem: str
) -> None:
    der, private = plain_certificate
    assert changed in der
    file = written(tmp_path / "server.pem", der.replace(changed, to, 1), private)

    with server(proof(), tls_of(file)) as (url, asked):
        found = probed(url, OPENED)

    assert found.problem.startswith(problem)
    assert (asked, found.is_key_proven) == ([], False)


def test_a_server_that_says_nothing_is_not_waited_for_to_the_end() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        found = probed(f"https://127.0.0.1:{silent.getsockname()[1]}/aa", OPENED)

    assert found.problem == "no TLS handshake within 3 seconds"
