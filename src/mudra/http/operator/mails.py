"""/operator/v1/mails: what waits and what failed, and a new try (scope members)."""

from typing import Annotated, Final
from uuid import UUID

from litestar.params import FromPath
from litestar.types import ControllerRouterHandler
from msgspec import Meta, Struct

from mudra.http.auth.gates import OperatorCall, operator
from mudra.http.request.fields import Flag, NoParameters, PageLimit, UuidOrNone
from mudra.http.response import conflicts
from mudra.http.response.account_responses import MailDetails, mail_details
from mudra.http.response.response_body import Page, StatusResponse, cut_page
from mudra.http.route import get, post
from mudra.identity.accounts.email_address import MAX_ADDRESS
from mudra.identity.accounts.user import normalize_username
from mudra.identity.operators.operator import Scope
from mudra.overview.mail_queue_store import MailQueue, NoSuchMail, retry_mail
from mudra.shared.refusal import Refusal


class MailQuery(Struct, frozen=True):
    """Filters emails and selects a page."""

    failed: Flag = "false"
    to: Annotated[str, Meta(max_length=MAX_ADDRESS, description="an email address")] = ""
    after: UuidOrNone = ""
    limit: PageLimit = "100"


class MailsPage(Page, kw_only=True):
    """A page of emails."""

    mails: list[MailDetails]


@get("/mails", "List mails", gate=operator(Scope.MEMBERS))
async def list_mails(call: OperatorCall[MailQuery]) -> MailsPage:
    """List mails, the newest first, without their text, which may hold a one-use link."""
    limit = int(call.body.limit)
    rows = await MailQueue(call.tx).queue(
        failed=call.body.failed == "true",
        to=normalize_username(call.body.to),
        after=call.body.after,
        limit=limit + 1,
    )
    shown, following = cut_page(rows, limit, lambda row: row.mail_id)
    return MailsPage(mails=[mail_details(row) for row in shown], next=following)


@post(
    "/mails/{mail_id:uuid}/retry",
    "Try a mail again",
    conflicts=conflicts.RETRY_MAIL,
    gate=operator(Scope.MEMBERS),
)
async def retry(
    call: OperatorCall[NoParameters], mail_id: FromPath[UUID]
) -> StatusResponse | Refusal:
    """Have an unsent mail tried again now."""
    outcome = await retry_mail(call.tx, str(mail_id), call.caller)
    if isinstance(outcome, NoSuchMail):
        return outcome
    return StatusResponse(status="will be tried now")


handlers: Final[list[ControllerRouterHandler]] = [list_mails, retry]
