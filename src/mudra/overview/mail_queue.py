"""The outbox as operators see it, and their request to try an email again."""

from mudra.audit.audit_log_store import AuditLog
from mudra.audit.event import AuditEntry, Caller, EventName
from mudra.overview.mail_queue_store import MailQueue, NoSuchMail
from mudra.storage.database.transaction import Transaction


async def retry_mail(tx: Transaction, mail_id: str, caller: Caller) -> str | NoSuchMail:
    """Try an unsent email again now, and record who asked for it; returns its ID."""
    outcome = await MailQueue(tx).retry(mail_id)
    if isinstance(outcome, str):
        await AuditLog(tx).append(
            AuditEntry(EventName.MAIL_LETTER_RETRY, caller, detail={"mail": mail_id})
        )
    return outcome
