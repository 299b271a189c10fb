"""The mail server, as its URL names it.

    smtp://user:password@mail.example          STARTTLS on port 587, required
    smtps://user:password@mail.example         TLS from the first byte, port 465
    smtp://127.0.0.1:25                        this machine: no TLS needed
    smtp://relay.internal:25?starttls=never    no TLS; refused together with a password
    smtps://mail.internal?ca=/etc/ssl/own.pem  a certificate of a private authority

User and password are percent-encoded. Certificates are always checked.
"""

import ssl
from typing import Final
from urllib.parse import parse_qsl, unquote, urlsplit

from msgspec import Struct

from mudra.identity.accounts.email_address import (
    AddressRefused,
    NameRefused,
    display_name,
    normalize_email,
)
from mudra.shared.network_address import is_loopback
from mudra.shared.secret_text import SecretText

_PORTS: Final = {"smtp": 587, "smtps": 465}
_ALLOWED: Final = "smtp://user:password@host:587 or smtps://user:password@host:465"
_STARTTLS: Final = {"always": True, "never": False}


class MailUrlError(Exception):
    """The URL of the mail server cannot be read; the text never holds its password."""


class MailServer(Struct, frozen=True):
    """A mail server, and the sender of the emails."""

    host: str
    port: int
    implicit_tls: bool
    start_tls: bool
    user: str | None
    password: SecretText | None
    sender: str
    sender_name: str = ""
    tls: ssl.SSLContext | None = None


def mail_server(url: SecretText, sender: str, sender_name: str = "") -> MailServer:
    """Parse the URL; raises MailUrlError, which says what is allowed.

    `sender` is the address in From, `sender_name` its display name.
    """
    try:
        parts = urlsplit(url.reveal())
        host, port = parts.hostname, parts.port
        options = dict(
            parse_qsl(parts.query, keep_blank_values=True, strict_parsing=True)
            if parts.query
            else ()
        )
    except ValueError:
        # The cause is left out: it may quote the URL with its password.
        raise MailUrlError(f"MUDRA_SMTP_URL must be {_ALLOWED}") from None
    if parts.scheme not in _PORTS or not host or parts.path.strip("/") or parts.fragment:
        raise MailUrlError(
            f"MUDRA_SMTP_URL must be {_ALLOWED}; "
            "write / ? # @ : of a password as %2F %3F %23 %40 %3A"
        )
    if not options.keys() <= {"starttls", "ca"}:
        raise MailUrlError("MUDRA_SMTP_URL may have the options starttls=always|never and ca=FILE")
    encrypted = parts.scheme == "smtps" or _start_tls(options.get("starttls"), host)
    if parts.password and not encrypted and not is_loopback(host):
        raise MailUrlError(
            "MUDRA_SMTP_URL would send its password unencrypted; use smtps:// or leave out "
            "starttls=never"
        )
    return MailServer(
        host=host,
        port=port or _PORTS[parts.scheme],
        implicit_tls=parts.scheme == "smtps",
        start_tls=parts.scheme == "smtp" and encrypted,
        user=unquote(parts.username) if parts.username else None,
        password=SecretText(unquote(parts.password)) if parts.password else None,
        sender=_sender(sender),
        sender_name=_sender_name(sender_name),
        tls=_trust(options.get("ca")) if encrypted else None,
    )


def _start_tls(option: str | None, host: str) -> bool:
    if option is None:
        return not is_loopback(host)
    if option not in _STARTTLS:
        raise MailUrlError("starttls in MUDRA_SMTP_URL must be always or never")
    return _STARTTLS[option]


def _sender(sender: str) -> str:
    address = normalize_email(sender)
    if isinstance(address, AddressRefused):
        raise MailUrlError(f"MUDRA_MAIL_FROM {address.problem}")
    return address


def _sender_name(name: str) -> str:
    if not name:
        return ""
    shown = display_name(name)
    if isinstance(shown, NameRefused):
        raise MailUrlError(f"the sender's name in emails {shown.problem}")
    return shown


def _trust(ca_file: str | None) -> ssl.SSLContext:
    try:
        return ssl.create_default_context(cafile=ca_file)
    except ssl.SSLError as error:
        raise MailUrlError(
            f"ca in MUDRA_SMTP_URL must be a file of PEM certificates: {ca_file} is none"
        ) from error
    except OSError as error:
        raise MailUrlError(
            f"ca in MUDRA_SMTP_URL must be a file that the service reads: {ca_file}: "
            f"{error.strerror}"
        ) from None
