"""The outbox as operators see it, and their request to try an email again."""

from mudra.audit.audit_log_store import AuditLog
from mudra.audit.event import AuditEntry, Caller, EventName
from mudra.overview.mail_queue_store import MailQueue, NoSuchMail


async def retry_mail(
    mail_id: str, caller: Caller, mails: MailQueue, audit_log: AuditLog
) -> str | NoSuchMail:
    """Try an unsent email again now, and record who asked for it; returns its ID."""
    outcome = await mails.retry(mail_id)
    if isinstance(outcome, str):
        await audit_log.append(
            AuditEntry(EventName.MAIL_LETTER_RETRY, caller, detail={"mail": mail_id})
        )
    return outcome
