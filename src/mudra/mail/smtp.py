"""Hand an email to an SMTP server."""

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime
from email.errors import MessageError
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTP as SMTP_POLICY
from email.utils import format_datetime
from typing import Final

import aiosmtplib

from mudra.identity.accounts.email_address import normalize_email
from mudra.mail.facts import EmailFactsError
from mudra.mail.mail_server import MailServer
from mudra.overview.mail_delivery import Delivered, Undelivered
from mudra.shared.mail.email_message import Email
from mudra.shared.mail.mail_text import unsafe_in_mail

_STEP_TIMEOUT_S: Final = 20
_WHOLE_TIMEOUT_S: Final = 60
_PERMANENT: Final = 500
_MAX_SUBJECT: Final = 250
_MAX_PROBLEM: Final = 200
_MAIL_ID: Final = re.compile(r"[A-Za-z0-9._-]{1,64}")
_FILE_NAME: Final = re.compile(r"[a-z0-9][a-z0-9.-]{0,63}")
_LINK: Final = re.compile(r"https?://[A-Za-z0-9._~:/\[\]@%-]{1,900}")
_MEDIA_TYPE: Final = re.compile(r"text/([a-z0-9.+-]{1,64})")


async def deliver(
    server: MailServer,
    email: Email,
    *,
    mail_id: str,
    written_at: datetime,
    within_s: float = _WHOLE_TIMEOUT_S,
) -> Delivered | Undelivered:
    """Hand over an email. The same `mail_id` again makes a second copy recognizable."""
    try:
        message = message_of(email, server.sender, mail_id, written_at, server.sender_name)
    except (ValueError, MessageError) as error:
        return Undelivered(again=False, problem=one_line(f"the email cannot be sent: {error}"))
    try:
        await send(server, message, within_s)
    except (aiosmtplib.SMTPRecipientsRefused, aiosmtplib.SMTPDataError) as error:
        return _refused(error)
    except (aiosmtplib.SMTPException, OSError, ValueError) as error:
        problem = f"{server.host}:{server.port}: {type(error).__name__}: {error}"
        return Undelivered(again=True, problem=one_line(problem))
    return Delivered()


def message_of(
    email: Email, sender: str, mail_id: str, sent_at: datetime, sender_name: str = ""
) -> EmailMessage:
    """Build the message; the same mail has the same Message-ID when it is sent again.

    Raises EmailFactsError for anything that could add a header or a recipient: the
    standard library alone lets some of it through.
    """
    _check(email, sender, mail_id, sender_name)
    message = EmailMessage(policy=SMTP_POLICY)
    message["From"] = Address(display_name=sender_name, addr_spec=sender)
    message["To"] = Address(addr_spec=email.to)
    message["Subject"] = email.subject
    message["Date"] = format_datetime(sent_at)
    message["Message-ID"] = f"<{mail_id}@{sender.rpartition('@')[2]}>"
    # Out-of-office programs do not reply to such emails (RFC 3834).
    message["Auto-Submitted"] = "auto-generated"
    if email.unsubscribe:
        message["List-Unsubscribe"] = f"<{email.unsubscribe}>"
        message["List-Unsubscribe-Post"] = "List-Unsubscribe=One-Click"
    message.set_content(email.text)
    message.add_alternative(email.html, subtype="html")
    for attachment in email.attachments:
        message.add_attachment(
            attachment.content,
            subtype=attachment.media_type.removeprefix("text/"),
            filename=attachment.name,
        )
    return message


async def send(
    server: MailServer, message: EmailMessage, within_s: float = _WHOLE_TIMEOUT_S
) -> None:
    """Hand over one message; raises aiosmtplib.SMTPException or OSError."""
    async with signed_in(server, within_s) as client:
        await client.send_message(message)


@asynccontextmanager
async def signed_in(server: MailServer, within_s: float) -> AsyncIterator[aiosmtplib.SMTP]:
    """Connect, start TLS and sign in, as the server's URL has it; says goodbye at the end.

    Raises aiosmtplib.SMTPException or OSError, also when the block takes longer.
    """
    client = aiosmtplib.SMTP(
        hostname=server.host,
        port=server.port,
        username=server.user,
        password=server.password.reveal() if server.password else None,
        use_tls=server.implicit_tls,
        start_tls=server.start_tls,
        tls_context=server.tls,
        timeout=_STEP_TIMEOUT_S,
    )
    async with asyncio.timeout(within_s), client:
        yield client


def _check(email: Email, sender: str, mail_id: str, sender_name: str) -> None:
    for field, address in (("to", email.to), ("sender", sender)):
        # Equal except for case: nothing was cut off, mapped or removed.
        if normalize_email(address) != address.lower():
            raise EmailFactsError(f"{field} must be one plain email address")
    for field, text in (("subject", email.subject), ("sender's name", sender_name)):
        if unsafe_in_mail(text) or len(text) > _MAX_SUBJECT:
            raise EmailFactsError(
                f"{field} must be one line of at most {_MAX_SUBJECT} characters without '=?'"
            )
    if email.unsubscribe and not _LINK.fullmatch(email.unsubscribe):
        raise EmailFactsError("the address to unsubscribe at must be one plain URL")
    if not _MAIL_ID.fullmatch(mail_id):
        raise EmailFactsError("the mail's ID must be letters, digits, '.', '_' and '-'")
    for attachment in email.attachments:
        if not _FILE_NAME.fullmatch(attachment.name):
            raise EmailFactsError(
                "an attachment's name must be lower-case letters, digits, '.', '-'"
            )
        if not _MEDIA_TYPE.fullmatch(attachment.media_type):
            raise EmailFactsError("an attachment must be of a text type, such as text/calendar")


def _refused(
    error: aiosmtplib.SMTPRecipientsRefused | aiosmtplib.SMTPDataError,
) -> Undelivered:
    if isinstance(error, aiosmtplib.SMTPDataError):
        codes, says = [error.code], error.message
    else:
        codes = [refused.code for refused in error.recipients]
        says = "; ".join(refused.message for refused in error.recipients)
    final = all(code >= _PERMANENT for code in codes)
    return Undelivered(again=not final, problem=one_line(f"refused with {codes[0]}: {says}"))


def one_line(problem: str) -> str:
    """Return one short line: what an unknown server says goes to logs and lists."""
    return " ".join("".join(c if c.isprintable() else " " for c in problem).split())[:_MAX_PROBLEM]
