"""A real SMTP server that keeps what it is given, with a certificate of its own."""

import datetime as dt
import ipaddress
import ssl
from asyncio import Server
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, AuthResult, Envelope, LoginPassword, Session
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID


@dataclass
class Received:
    """One message as it came over the wire."""

    sender: str
    recipients: list[str]
    content: bytes
    over_tls: bool


@dataclass
class SmtpSink:
    """Keeps messages; `rcpt_answer` and `data_answer` make it refuse them."""

    password: str = "p@ss:word/1"
    received: list[Received] = field(default_factory=list)
    logins: list[tuple[bytes, bytes, bool]] = field(default_factory=list)
    rcpt_answer: str = ""
    data_answer: str = ""
    port: int = 0
    once_taken: Callable[[], object] = bool
    """Called when a message is kept, before its sender hears of it."""

    async def handle_RCPT(  # noqa: N802  # aiosmtpd's name for the hook
        self, _server: SMTP, _session: Session, envelope: Envelope, address: str, _options: object
    ) -> str:
        if self.rcpt_answer:
            return self.rcpt_answer
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(  # noqa: N802  # aiosmtpd's name for the hook
        self, _server: SMTP, session: Session, envelope: Envelope
    ) -> str:
        if self.data_answer:
            return self.data_answer
        assert envelope.mail_from is not None
        assert isinstance(envelope.content, bytes)
        over_tls = session.ssl is not None
        self.received.append(
            Received(envelope.mail_from, envelope.rcpt_tos, envelope.content, over_tls)
        )
        self.once_taken()
        return "250 OK"

    def login(
        self,
        _server: SMTP,
        session: Session,
        _envelope: Envelope,
        _mechanism: str,
        given: LoginPassword,
    ) -> AuthResult:
        self.logins.append((given.login, given.password, session.ssl is not None))
        return AuthResult(success=given.password == self.password.encode(), handled=False)


@dataclass(frozen=True)
class Certificate:
    """Files of a certificate that only those trust who are configured to."""

    cert: Path
    key: Path

    def context(self) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.cert, self.key)
        return context


def make_certificate(directory: Path, days: int = 1) -> Certificate:
    """Make a self-signed certificate for localhost and 127.0.0.1, valid for so many days."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    now = dt.datetime.now(dt.UTC)
    names = [x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(days=1))
        .not_valid_after(now + dt.timedelta(days=days))
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    files = Certificate(directory / "cert.pem", directory / "key.pem")
    files.cert.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    files.key.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    return files


@contextmanager
def smtp_sink(
    *,
    start_tls: Certificate | None = None,
    implicit_tls: Certificate | None = None,
    login: bool = False,
    password: str = SmtpSink.password,
) -> Iterator[SmtpSink]:
    """Run the server on a free port of 127.0.0.1."""
    sink = SmtpSink(password)
    controller = _FreePort(
        sink,
        hostname="127.0.0.1",
        port=0,
        ssl_context=implicit_tls.context() if implicit_tls else None,
        tls_context=start_tls.context() if start_tls else None,
        require_starttls=start_tls is not None,
        auth_required=login,
        auth_require_tls=False,
        authenticator=sink.login if login else None,
    )
    controller.start()
    sink.port = controller.bound_port
    try:
        yield sink
    finally:
        controller.stop()


class _FreePort(Controller):
    """aiosmtpd connects to its own port once it listens, so it must learn which one."""

    bound_port = 0

    def _trigger_server(self) -> None:
        assert isinstance(self.server, Server)
        self.port = self.bound_port = self.server.sockets[0].getsockname()[1]
        super()._trigger_server()  # type: ignore[no-untyped-call]  # the library has no types
