"""Email: waiting, failed and why, retry, and the text without its links of one use."""

from collections.abc import Mapping, Sequence
from typing import Final
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
from mudra.localization.language import translatable
from mudra.overview.mail_queue_store import MailQueue, NoSuchMail, QueuedMail, retry_mail
from mudra.storage.mail.outbox import Outbox

MAX_COUNT: Final = 2000


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
_COLUMNS: Final[Sequence[Column[QueuedMail]]] = (
    Column(
        "subject",
        translatable("Subject"),
        lambda m: without_severity(m.subject),
        link=lambda m: f"{_PAGE}/{m.mail_id}",
    ),
    Column(
        "severity",
        translatable("Severity"),
        lambda m: severity_of(m.subject) or None,
        "tag",
        tone=lambda m: severity_tone(m.subject),
        phone="state",
    ),
    Column("at", translatable("Written"), lambda m: m.created_at, "time", phone="figure"),
    Column("to", translatable("To"), lambda m: m.recipient, "address", phone="figure"),
    STATE,
    Column("tries", translatable("Attempts"), lambda m: m.attempts or None, "number"),
    Column("error", translatable("Last error"), lambda m: m.last_error or None, "below"),
    Column("next", translatable("Next attempt"), lambda m: m.next_attempt_at, "time"),
)


def _table(usual: str) -> Table[QueuedMail]:
    """Returns the table; what became of most emails, which the page says above it, has no ink."""
    columns = [replace(one, usual=usual) if one is STATE else one for one in _COLUMNS]
    return Table("mails", translatable("Email"), columns, first_sort="-at")


_SENT: Final = _table("sent")
_KEPT_HERE: Final = _table("kept here")


@page.get("/operator/mails", gate=operator(Scope.MEMBERS))
async def mails(page_context: PageContext) -> Outcome:
    """List emails; failed ones have a button to try again."""
    kept_here = page_context.dependencies.settings.smtp_url is None
    notice = page_context.query.get("told", "") == "tried"
    return StreamedPage("operator_mails.html", {"kept_here": kept_here, "notice": notice}, _figures)


async def _figures(page_context: PageContext) -> Mapping[str, object] | Download:
    failing = await MailQueue(page_context.tx).queue(failed=True, limit=MAX_COUNT)
    rows = await MailQueue(page_context.tx).queue(failed=False, limit=MAX_COUNT)
    table = _SENT if page_context.dependencies.settings.smtp_url else _KEPT_HERE
    return table.export(rows, page_context.query) or {
        "failing": failing,
        "view": table.view(rows, page_context.query),
        "most": MAX_COUNT if len(rows) == MAX_COUNT else 0,
    }


@page.get("/operator/mails/{mail_id:uuid}", gate=operator(Scope.MEMBERS))
async def mail(page_context: PageContext, mail_id: FromPath[UUID]) -> Outcome:
    """Show the text of an email as it was written, but for what only its recipient may see."""
    found = await page_context.tx.service(Outbox).mail(str(mail_id))
    if found is None:
        return NoSuchMail()
    shown = {"mail": found, "paragraphs": paragraphs(found.email.shown)}
    return RenderedPage("operator_mail.html", shown)


@page.post("/operator/mails/retry", gate=operator(Scope.MEMBERS))
async def retry(page_context: PageContext, fields: Fields) -> Outcome:
    """Try an unsent email again now."""
    tx = page_context.tx
    outcome = await retry_mail(tx, fields.get("mail", ""), page_context.caller)
    return GoTo(operator_path("mails?told=tried")) if isinstance(outcome, str) else outcome


handlers: Final[list[ControllerRouterHandler]] = [mails, mail, retry]
