"""/operator/v1/mails: what waits and what failed, and a new try (scope members)."""

from typing import Annotated, Final
from uuid import UUID

from litestar import Response, get, post
from litestar.params import FromPath
from litestar.types import ControllerRouterHandler
from msgspec import Meta, Struct

from mudra.audit.event import Caller
from mudra.http.auth.as_operator import as_operator
from mudra.http.dependencies import InjectedDependencies
from mudra.http.openapi.operation import described
from mudra.http.request.fields import Flag, NoParameters, PageLimit, UuidOrNone
from mudra.http.request.request_context import AnyRequest, receive_json, receive_query
from mudra.http.response.account_responses import MailDetails, mail_details
from mudra.http.response.json_response import HandlerResult
from mudra.http.response.response_body import Page, StatusResponse, cut_page
from mudra.identity.accounts.email_address import MAX_ADDRESS
from mudra.identity.accounts.user import normalize_username
from mudra.identity.operators.operator import Scope
from mudra.overview.mail_queue import NoSuchMail, retry_mail
from mudra.unit_of_work import UnitOfWork


class MailQuery(Struct, frozen=True):
    """Filters emails and selects a page."""

    failed: Flag = "false"
    to: Annotated[str, Meta(max_length=MAX_ADDRESS, description="an email address")] = ""
    after: UuidOrNone = ""
    limit: PageLimit = "100"


class MailsPage(Page, kw_only=True):
    """A page of emails."""

    mails: list[MailDetails]


@get(
    "/mails",
    operation_class=described("List mails", None, MailsPage, bearer=True, query=MailQuery),
)
async def list_mails(request: AnyRequest, service: InjectedDependencies) -> Response[bytes]:
    """List mails, the newest first, without their text, which may hold a one-use link."""
    context, received = receive_query(request, service, MailQuery)

    async def handler(work: UnitOfWork, _: Caller, query: MailQuery) -> HandlerResult:
        limit = int(query.limit)
        rows = await work.mail_queue.queue(
            failed=query.failed == "true",
            to=normalize_username(query.to),
            after=query.after,
            limit=limit + 1,
        )
        shown, following = cut_page(rows, limit, lambda row: row.mail_id)
        return MailsPage(mails=[mail_details(row) for row in shown], next=following)

    return await as_operator(context, received, Scope.MEMBERS, handler)


@post(
    "/mails/{mail_id:uuid}/retry",
    status_code=200,
    operation_class=described("Try a mail again", NoParameters, StatusResponse, bearer=True),
)
async def retry(
    request: AnyRequest, service: InjectedDependencies, mail_id: FromPath[UUID]
) -> Response[bytes]:
    """Have an unsent mail tried again now."""
    context, received = await receive_json(request, service, NoParameters)

    async def handler(work: UnitOfWork, caller: Caller, _: NoParameters) -> HandlerResult:
        outcome = await retry_mail(str(mail_id), caller, work.mail_queue, work.audit_log)
        if isinstance(outcome, NoSuchMail):
            return outcome
        return StatusResponse(status="will be tried now")

    return await as_operator(context, received, Scope.MEMBERS, handler)


handlers: Final[list[ControllerRouterHandler]] = [list_mails, retry]
