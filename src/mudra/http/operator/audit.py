"""/operator/v1/audit: search the audit by page (scope audit)."""

from datetime import datetime
from typing import Final

from litestar import Response, get, post
from litestar.types import ControllerRouterHandler

from mudra.audit.event import Caller
from mudra.audit.search import AuditFilter
from mudra.http.account.people_requests import AuditQuery, NoParameters
from mudra.http.account.people_responses import EventsPage
from mudra.http.account.people_shapes import event_details
from mudra.http.auth.as_operator import as_operator
from mudra.http.auth.operator_access import find_operator
from mudra.http.dependencies import InjectedDependencies
from mudra.http.openapi.operation import described
from mudra.http.operator.shapes import AuditVerdictResponse
from mudra.http.request.envelope import Body
from mudra.http.request.request_context import AnyRequest, receive_json, receive_query
from mudra.http.response.json_response import HandlerResult, refusal, success
from mudra.http.response.response_body import cut_page
from mudra.identity.operators.operator import Scope
from mudra.shared.refusal import Refusal
from mudra.unit_of_work import UnitOfWork


@get(
    "/audit",
    operation_class=described("Search the audit", None, EventsPage, bearer=True, query=AuditQuery),
)
async def search(request: AnyRequest, service: InjectedDependencies) -> Response[bytes]:
    """List events, the newest first; `event` may end in `*`."""
    context, order = receive_query(request, service, AuditQuery)

    async def act(work: UnitOfWork, _: Caller, order: AuditQuery) -> HandlerResult:
        which = AuditFilter(
            event=order.event,
            outcome=order.outcome,
            actor=order.actor,
            user_id=order.user_id,
            entity_id=order.entity_id,
            txn_id=order.txn_id,
            since=order.since if isinstance(order.since, datetime) else None,
            until=order.until if isinstance(order.until, datetime) else None,
        )
        limit = int(order.limit)
        before = int(order.after) if order.after else None
        rows = await work.audit_search.events(which, before, limit + 1)
        shown, following = cut_page(rows, limit, lambda row: str(row.seq))
        return EventsPage(events=[event_details(row) for row in shown], next=following)

    return await as_operator(context, order, Scope.AUDIT, act)


@post(
    "/audit/verify",
    status_code=200,
    operation_class=described("Verify the audit", NoParameters, AuditVerdictResponse, bearer=True),
)
async def verify(request: AnyRequest, service: InjectedDependencies) -> Response[bytes]:
    """Verify every sealed row and the checkpoints beside the database: a minute per million."""
    context, order = await receive_json(request, service, NoParameters)
    found = await find_operator(context, Scope.AUDIT)
    if isinstance(found, Refusal):
        return refusal(context.envelope, found).response()
    if isinstance(order, Refusal):
        return refusal(context.envelope, order).response()
    verdict = await service.verify_audit(context.caller(found.actor))
    members: Body = {
        "intact": verdict.intact,
        "rows": verdict.rows,
        "vouched": verdict.vouched,
        "problem": verdict.problem,
    }
    return success(context.envelope, members).response()


handlers: Final[list[ControllerRouterHandler]] = [search, verify]
