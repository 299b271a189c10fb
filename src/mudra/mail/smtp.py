"""Hand a letter to an SMTP server named by URL.

`smtp://` uses STARTTLS and refuses to go on without it, except toward this
machine; `smtps://` is TLS from the first byte. User and password stand in the URL.
"""

from dataclasses import dataclass
from datetime import datetime
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTP as SMTP_POLICY
from email.utils import format_datetime
from urllib.parse import unquote, urlsplit

import aiosmtplib

from mudra.mail.compose import Letter
from mudra.runtime.config import is_loopback
from mudra.secret_text import SecretText

_TIMEOUT_S = 20
_PORTS = {"smtp": 587, "smtps": 465}


class MailUrlError(Exception):
    """The URL of the mail server cannot be read; the text never holds its password."""


@dataclass(frozen=True, slots=True)
class MailServer:
    """Where mails are handed over, and who sends them."""

    host: str
    port: int
    implicit_tls: bool
    start_tls: bool | None
    user: str | None
    password: SecretText | None
    sender: str


def mail_server(url: SecretText, sender: str) -> MailServer:
    """Read the URL; raises MailUrlError with what is allowed."""
    parts = urlsplit(url.reveal())
    try:
        port = parts.port
    except ValueError:
        port = -1
    if parts.scheme not in _PORTS or not parts.hostname or port == -1:
        raise MailUrlError("MUDRA_SMTP_URL must be smtp://user:password@host:587 or smtps://…")
    return MailServer(
        host=parts.hostname,
        port=port or _PORTS[parts.scheme],
        implicit_tls=parts.scheme == "smtps",
        # None: used when the server offers it, which is enough on one machine.
        start_tls=None if is_loopback(parts.hostname) else parts.scheme == "smtp",
        user=unquote(parts.username) if parts.username else None,
        password=SecretText(unquote(parts.password)) if parts.password else None,
        sender=sender,
    )


def message_of(letter: Letter, sender: str, mail_id: str, sent_at: datetime) -> EmailMessage:
    """Build the message; the same mail has the same Message-ID when it is sent again."""
    message = EmailMessage(policy=SMTP_POLICY)
    message["From"] = Address(addr_spec=sender)
    message["To"] = Address(addr_spec=letter.to)
    message["Subject"] = letter.subject
    message["Date"] = format_datetime(sent_at)
    message["Message-ID"] = f"<{mail_id}@{sender.rpartition('@')[2]}>"
    message["Auto-Submitted"] = "auto-generated"
    message.set_content(letter.text)
    message.add_alternative(letter.html, subtype="html")
    return message


async def send(server: MailServer, message: EmailMessage) -> None:
    """Hand over one message; raises aiosmtplib.SMTPException or OSError."""
    await aiosmtplib.send(
        message,
        hostname=server.host,
        port=server.port,
        username=server.user,
        password=server.password.reveal() if server.password else None,
        use_tls=server.implicit_tls,
        start_tls=False if server.implicit_tls else server.start_tls,
        timeout=_TIMEOUT_S,
    )
