"""Email: waiting, failed and why, retry, and the text without its links of one use."""

from collections.abc import Mapping, Sequence
from typing import Final
from urllib.parse import urlencode
from uuid import UUID

from litestar.params import FromPath
from litestar.types import ControllerRouterHandler
from msgspec.structs import replace

from mudra.console.framework import page
from mudra.console.framework.navigation import operator_path
from mudra.console.framework.page import Fields
from mudra.console.framework.page_context import PageContext
from mudra.console.framework.page_results import Download, GoTo, Outcome, RenderedPage, StreamedPage
from mudra.console.framework.table import Column, Table
from mudra.console.pages.email_text import paragraphs, severity_of, severity_tone, without_severity
from mudra.console.pages.operator.labels import tone
from mudra.http.auth.gates import operator
from mudra.identity.operators.operator import Scope
from mudra.localization.language import ngettext, translatable
from mudra.overview.mail_queue_store import MailQueue, NoSuchMail, QueuedMail, retry_mail
from mudra.shared.mail.email_message import StoredEmail
from mudra.storage.mail.outbox import Outbox

MAX_COUNT: Final = 2000
_MOST_RECIPIENTS: Final = 10


def mail_state(mail: QueuedMail) -> str:
    """Return the state of an email as pages show it: one that no mail server took is kept here."""
    return translatable("kept here") if mail.is_kept_here else mail.state


_PAGE: Final = operator_path("mails")
STATE: Final = Column[QueuedMail](
    "state",
    translatable("State"),
    mail_state,
    "tag",
    tone=lambda m: tone(mail_state(m)),
    phone="state",
)
"""What became of an email, in each table of emails."""
SEVERITY: Final = Column[QueuedMail](
    "severity",
    translatable("Severity"),
    lambda m: severity_of(m.subject).lower() or None,
    "tag",
    tone=lambda m: severity_tone(m.subject),
    phone="state",
)
"""With what the subject of an alarm begins; subjects are shown without it."""
_COLUMNS: Final[Sequence[Column[QueuedMail]]] = (
    Column(
        "subject",
        translatable("Subject"),
        lambda m: without_severity(m.subject),
        link=lambda m: f"{_PAGE}/{m.mail_id}" if m.mail_id else _alike(m.subject),
    ),
    SEVERITY,
    Column("at", translatable("Written"), lambda m: m.created_at, "time", phone="figure"),
    Column("to", translatable("Recipient"), lambda m: m.recipient, "address", phone="figure"),
    replace(STATE, phone=""),
    Column("tries", translatable("Attempts"), lambda m: m.attempts or None, "number"),
    Column("error", translatable("Last error"), lambda m: m.last_error or None, "below"),
    Column("next", translatable("Next attempt"), lambda m: m.next_attempt_at, "time"),
)


_TABLE: Final = Table[QueuedMail](
    "mails", translatable("Email"), _COLUMNS, first_sort="-at", rows=20
)


_KEPT: Final = replace(
    _TABLE,
    columns=[replace(one, usual="kept here") if one.key == STATE.key else one for one in _COLUMNS],
)
"""The table without a mail server: the head of the page says once what became of the emails."""


def _alike(subject: str) -> str:
    """Returns the address of the list of emails of a subject, that one row is for."""
    return f"{_PAGE}?{urlencode({'mails.q': without_severity(subject)})}"


def folded(rows: Sequence[QueuedMail]) -> Sequence[QueuedMail]:
    """Returns the same with emails of one subject, minute and fate as one row.

    An alarm goes to many: it is read once. A filter looks through all rows.
    """
    groups: dict[tuple[object, ...], list[QueuedMail]] = {}
    for one in rows:
        minute = one.created_at.replace(second=0, microsecond=0)
        fate = mail_state(one), one.attempts, one.last_error
        groups.setdefault((one.subject, minute, fate), []).append(one)
    return [
        group[0]
        if len(group) == 1
        else replace(
            group[0],
            mail_id="",
            recipient=ngettext("%(num)s recipient", "%(num)s recipients", len(group)),
        )
        for group in groups.values()
    ]


@page.get("/operator/mails", gate=operator(Scope.MEMBERS))
async def mails(page_context: PageContext) -> Outcome:
    """List emails; failed ones have a button to try again."""
    kept_here = page_context.dependencies.settings.smtp_url is None
    notice = page_context.query.get("told", "") == "tried"
    return StreamedPage("operator_mails.html", {"kept_here": kept_here, "notice": notice}, _figures)


async def _figures(page_context: PageContext) -> Mapping[str, object] | Download:
    failing = await MailQueue(page_context.tx).queue(failed=True, limit=MAX_COUNT)
    rows = await MailQueue(page_context.tx).queue(failed=False, limit=MAX_COUNT)
    shown = rows if page_context.query.get("mails.q") else folded(rows)
    table = _KEPT if page_context.dependencies.settings.smtp_url is None else _TABLE
    return _TABLE.export(rows, page_context.query) or {
        "failing": failing,
        "view": table.view(shown, page_context.query),
        "most": MAX_COUNT if len(rows) == MAX_COUNT else 0,
    }


@page.get("/operator/mails/{mail_id:uuid}", gate=operator(Scope.MEMBERS))
async def mail(page_context: PageContext, mail_id: FromPath[UUID]) -> Outcome:
    """Show the text of an email as it was written, but for what only its recipient may see."""
    found = await page_context.tx.service(Outbox).mail(str(mail_id))
    if found is None:
        return NoSuchMail()
    subject = found.email.subject
    shown = {
        "mail": found,
        "subject": without_severity(subject),
        "severity": severity_of(subject).lower(),
        "severity_tone": severity_tone(subject),
        "paragraphs": paragraphs(found.email.shown),
        "recipients": await _recipients(page_context, found),
        "most": _MOST_RECIPIENTS,
        "alike": _alike(subject),
    }
    return RenderedPage("operator_mail.html", shown)


async def _recipients(page_context: PageContext, found: StoredEmail) -> Sequence[str]:
    """Returns all recipients of the emails of a subject and minute: one row of the list."""
    rows = await MailQueue(page_context.tx).queue(failed=False, limit=MAX_COUNT)
    minute = found.created_at.replace(second=0, microsecond=0)
    others = {
        one.recipient
        for one in rows
        if one.subject == found.email.subject
        if one.created_at.replace(second=0, microsecond=0) == minute
    }
    return [found.email.to, *sorted(others - {found.email.to})]


@page.post("/operator/mails/retry", gate=operator(Scope.MEMBERS))
async def retry(page_context: PageContext, fields: Fields) -> Outcome:
    """Try an unsent email again now."""
    tx = page_context.tx
    outcome = await retry_mail(tx, fields.get("mail", ""), page_context.caller)
    return GoTo(operator_path("mails?told=tried")) if isinstance(outcome, str) else outcome


handlers: Final[list[ControllerRouterHandler]] = [mails, mail, retry]
