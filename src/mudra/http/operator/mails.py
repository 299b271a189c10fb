"""/operator/v1/mails: what waits and what failed, and a new try (scope members)."""

from typing import Final
from uuid import UUID

from litestar import Response, get, post
from litestar.params import FromPath
from litestar.types import ControllerRouterHandler

from mudra.audit.event import Caller
from mudra.bootstrap.unit_of_work import Work
from mudra.http.account.people_requests import MailQuery, NothingOrder
from mudra.http.account.people_responses import MailsPage, StatusAnswer
from mudra.http.account.people_shapes import mail_members
from mudra.http.auth.as_operator import operator_call, page
from mudra.http.dependencies import Injected
from mudra.http.openapi.operation import described
from mudra.http.request.request_context import AnyRequest, receive_json, receive_query
from mudra.identity.memberships.memberships import Scope
from mudra.identity.sign_in.sign_in import username_of
from mudra.jobs.mail_retry import retry_mail


@get(
    "/mails",
    operation_class=described("List mails", None, MailsPage, bearer=True, query=MailQuery),
)
async def list_mails(request: AnyRequest, service: Injected) -> Response[bytes]:
    """List mails, the newest first, without their text, which may hold a one-use link."""
    exchange, order = receive_query(request, service, MailQuery)

    async def act(work: Work, _: Caller) -> object:
        assert isinstance(order, MailQuery)
        limit = int(order.limit)
        rows = await work.mail_desk.queue(
            failed=order.failed == "true",
            to=username_of(order.to),
            after=order.after,
            limit=limit + 1,
        )
        return page("mails", [mail_members(row) for row in rows], limit, "id")

    return await operator_call(exchange, order, Scope.MEMBERS, act)


@post(
    "/mails/{mail_id:uuid}/retry",
    status_code=200,
    operation_class=described("Try a mail again", NothingOrder, StatusAnswer, bearer=True),
)
async def retry(request: AnyRequest, service: Injected, mail_id: FromPath[UUID]) -> Response[bytes]:
    """Have an unsent mail tried again now."""
    exchange, order = await receive_json(request, service, NothingOrder)

    async def act(work: Work, caller: Caller) -> object:
        outcome = await retry_mail(str(mail_id), caller, work)
        return {"status": "will be tried now"} if isinstance(outcome, str) else outcome

    return await operator_call(exchange, order, Scope.MEMBERS, act)


handlers: Final[list[ControllerRouterHandler]] = [list_mails, retry]
