"""Check that a mail server takes the service's emails, before there is one to send."""

import socket
import ssl
from typing import Final

import aiosmtplib

from mudra.mail.mail_server import MailUrlError, mail_server
from mudra.mail.smtp import one_line, signed_in
from mudra.shared.secret_text import SecretText

_WITHIN_S: Final = 20.0
_WAY: Final = "check scheme, host and port in MUDRA_SMTP_URL (smtp:// 587, smtps:// 465)"
_FAULTS: Final[tuple[tuple[type[Exception], str, str], ...]] = (
    (
        aiosmtplib.SMTPAuthenticationError,
        "refuses the sign-in",
        "check user and password in MUDRA_SMTP_URL, percent-encoded",
    ),
    (
        aiosmtplib.SMTPSenderRefused,
        "refuses the sender",
        "check MUDRA_MAIL_FROM, and whether MUDRA_SMTP_URL needs a user or starttls=always",
    ),
    (aiosmtplib.SMTPResponseException, "refuses this machine", "ask those who run it"),
    (
        ssl.SSLCertVerificationError,
        "has a certificate that is not trusted",
        "name the host as its certificate does, or its authority by ?ca=FILE in MUDRA_SMTP_URL",
    ),
    (ssl.SSLError, "begins no TLS", _WAY),
    (socket.gaierror, "is not known", "check the host in MUDRA_SMTP_URL, and DNS on this machine"),
    (TimeoutError, "does not answer in time", f"{_WAY}, and the firewall"),
    (OSError, "cannot be reached", f"{_WAY}, and the firewall"),
    (Exception, "cannot do what MUDRA_SMTP_URL asks for", _WAY),
)
"""Kinds of errors, the narrower ones first: what the server does, and the way out."""


async def mail_server_fault(
    url: SecretText, sender: str, sender_name: str, within_s: float = _WITHIN_S
) -> str:
    """Return why the server would take no email, and the way out; empty when it would.

    Connects, starts TLS, signs in and names the sender as a delivery does, but sends no email.
    """
    try:
        server = mail_server(url, sender, sender_name)
    except MailUrlError as error:
        return str(error)
    try:
        async with signed_in(server, within_s) as client:
            await client.mail(server.sender)
            await client.rset()
    except (aiosmtplib.SMTPException, OSError, ValueError) as error:
        inner = error.__cause__ or error  # the library wraps what failed while it connected
        problem, way_out = next(
            (problem, way_out) for kind, problem, way_out in _FAULTS if isinstance(inner, kind)
        )
        said = one_line(_said(error))
        reason = f" ({said})" if said else ""
        return f"the mail server {server.host}:{server.port} {problem}{reason}: {way_out}"
    return ""


def _said(error: Exception) -> str:
    if isinstance(error, aiosmtplib.SMTPResponseException):
        return f"{error.code} {error.message}"
    return str(error).rstrip(".")
