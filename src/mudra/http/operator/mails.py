"""/operator/v1/mails: what waits and what failed, and a new try (scope members)."""

from typing import Final
from uuid import UUID

from litestar import Response, get, post
from litestar.params import FromPath
from litestar.types import ControllerRouterHandler

from mudra.audit.event import Caller
from mudra.http.account.people_requests import MailQuery, NoParameters
from mudra.http.account.people_responses import MailsPage, StatusResponse
from mudra.http.account.people_shapes import mail_details
from mudra.http.auth.as_operator import as_operator
from mudra.http.dependencies import InjectedDependencies
from mudra.http.openapi.operation import described
from mudra.http.request.request_context import AnyRequest, receive_json, receive_query
from mudra.http.response.json_response import HandlerResult
from mudra.http.response.response_body import cut_page
from mudra.identity.operators.operator import Scope
from mudra.identity.sign_in.sign_in import username_of
from mudra.overview.mail_queue import NoSuchMail, retry_mail
from mudra.unit_of_work import UnitOfWork


@get(
    "/mails",
    operation_class=described("List mails", None, MailsPage, bearer=True, query=MailQuery),
)
async def list_mails(request: AnyRequest, service: InjectedDependencies) -> Response[bytes]:
    """List mails, the newest first, without their text, which may hold a one-use link."""
    context, order = receive_query(request, service, MailQuery)

    async def act(work: UnitOfWork, _: Caller, order: MailQuery) -> HandlerResult:
        limit = int(order.limit)
        rows = await work.mail_queue.queue(
            failed=order.failed == "true",
            to=username_of(order.to),
            after=order.after,
            limit=limit + 1,
        )
        shown, following = cut_page(rows, limit, lambda row: row.mail_id)
        return MailsPage(mails=[mail_details(row) for row in shown], next=following)

    return await as_operator(context, order, Scope.MEMBERS, act)


@post(
    "/mails/{mail_id:uuid}/retry",
    status_code=200,
    operation_class=described("Try a mail again", NoParameters, StatusResponse, bearer=True),
)
async def retry(
    request: AnyRequest, service: InjectedDependencies, mail_id: FromPath[UUID]
) -> Response[bytes]:
    """Have an unsent mail tried again now."""
    context, order = await receive_json(request, service, NoParameters)

    async def act(work: UnitOfWork, caller: Caller, _request: NoParameters) -> HandlerResult:
        outcome = await retry_mail(str(mail_id), caller, work.mail_queue, work.journal)
        if isinstance(outcome, NoSuchMail):
            return outcome
        return StatusResponse(status="will be tried now")

    return await as_operator(context, order, Scope.MEMBERS, act)


handlers: Final[list[ControllerRouterHandler]] = [list_mails, retry]
