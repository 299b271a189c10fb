"""/operator/v1/audit: search the audit by page (scope audit)."""

from datetime import datetime
from typing import Annotated, Final, Literal

from litestar import Response, get, post
from litestar.types import ControllerRouterHandler
from msgspec import UNSET, Meta, Struct, UnsetType, field

from mudra.audit.event import Caller
from mudra.audit.search import AuditFilter, AuditRow
from mudra.http.auth.as_operator import as_operator
from mudra.http.auth.operator_access import find_operator
from mudra.http.dependencies import InjectedDependencies
from mudra.http.openapi.operation import described
from mudra.http.operator.shapes import AuditVerdictResponse
from mudra.http.request.fields import (
    EventNumber,
    Instant,
    NoParameters,
    PageLimit,
    SearchText,
    UuidOrNone,
)
from mudra.http.request.request_context import AnyRequest, receive_json, receive_query
from mudra.http.response.json_response import HandlerResult, refusal, success
from mudra.http.response.response_body import DateTime, Page, cut_page
from mudra.identity.operators.operator import Scope
from mudra.shared.refusal import Refusal
from mudra.shared.time_text import iso_ms
from mudra.unit_of_work import UnitOfWork


class AuditQuery(Struct, frozen=True):
    """Filters events and selects a page, the newest first."""

    event: SearchText = ""
    outcome: Annotated[
        Literal["", "success", "refused", "failed"],
        Meta(description="success, refused or failed"),
    ] = ""
    actor: Annotated[str, Meta(max_length=300, description="a text")] = ""
    user_id: UuidOrNone = field(name="userId", default="")
    entity_id: SearchText = field(name="entityId", default="")
    txn_id: Annotated[str, Meta(max_length=128, description="a text")] = field(
        name="txnIdIs", default=""
    )
    since: Instant | UnsetType = UNSET
    until: Instant | UnsetType = UNSET
    after: EventNumber = ""
    limit: PageLimit = "100"


class EventDetails(Struct, kw_only=True):
    """An event of the audit log."""

    seq: int
    at: DateTime
    event: str
    outcome: str
    actor: str
    entity_id: str = field(name="entityId")
    address: str
    txn_id: str = field(name="txnId")
    reason: str
    detail: dict[str, str | int]


class EventsPage(Page, kw_only=True):
    """A page of the audit log."""

    events: list[EventDetails]


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
        return EventsPage(events=[_details(row) for row in shown], next=following)

    return await as_operator(context, order, Scope.AUDIT, act)


@post(
    "/audit/verify",
    status_code=200,
    operation_class=described("Verify the audit", NoParameters, AuditVerdictResponse, bearer=True),
)
async def verify(request: AnyRequest, service: InjectedDependencies) -> Response[bytes]:
    """Verify every sealed row and the checkpoints next to the database: a minute per million."""
    context, order = await receive_json(request, service, NoParameters)
    found = await find_operator(context, Scope.AUDIT)
    if isinstance(found, Refusal):
        return refusal(context.envelope, found).response()
    if isinstance(order, Refusal):
        return refusal(context.envelope, order).response()
    verdict = await service.verify_audit(context.caller(found.actor))
    body = AuditVerdictResponse(
        intact=verdict.intact,
        rows=verdict.rows,
        vouched=verdict.vouched,
        problem=verdict.problem,
    )
    return success(context.envelope, body).response()


def _details(row: AuditRow) -> EventDetails:
    return EventDetails(
        seq=row.seq,
        at=iso_ms(row.at),
        event=row.event,
        outcome=row.outcome,
        actor=row.actor,
        entity_id=row.entity_id,
        address=row.address,
        txn_id=row.txn_id,
        reason=row.reason,
        detail={name: _plain(value) for name, value in row.detail.items()},
    )


def _plain(value: object) -> str | int:
    return value if isinstance(value, str | int) else str(value)


handlers: Final[list[ControllerRouterHandler]] = [search, verify]
