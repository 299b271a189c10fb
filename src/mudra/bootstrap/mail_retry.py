"""An operator has an unsent letter tried again: the outbox and the audit in one transaction."""

from mudra.audit.event import AuditEntry, Caller, EventName
from mudra.overview.mail_queue import NoSuchMail
from mudra.unit_of_work import UnitOfWork


async def retry_mail(mail_id: str, caller: Caller, work: UnitOfWork) -> str | NoSuchMail:
    """Have an unsent letter tried again now; gives its ID."""
    outcome = await work.mail_queue.retry(mail_id)
    if isinstance(outcome, str):
        await work.journal.note(
            AuditEntry(EventName.MAIL_LETTER_RETRY, caller, detail={"mail": mail_id})
        )
    return outcome
