"""An operator has an unsent letter tried again: the outbox and the audit in one transaction."""

from mudra.audit.event import Act, Caller, EventName
from mudra.bootstrap.unit_of_work import Work
from mudra.storage.mail.mail_queue import NoSuchMail


async def retry_mail(mail_id: str, caller: Caller, work: Work) -> str | NoSuchMail:
    """Have an unsent letter tried again now; gives its ID."""
    outcome = await work.mail_desk.retry(mail_id)
    if isinstance(outcome, str):
        await work.journal.note(Act(EventName.MAIL_LETTER_RETRY, caller, detail={"mail": mail_id}))
    return outcome
