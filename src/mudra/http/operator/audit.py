"""/operator/v1/audit: search the audit by page (scope audit)."""

from datetime import datetime
from typing import Annotated, Final, Literal

from litestar.types import ControllerRouterHandler
from msgspec import UNSET, Meta, Struct, UnsetType, field

from mudra.audit.audit_chain import AuditChain
from mudra.audit.audit_log_store import AuditLog
from mudra.audit.proof.verification import MAX_S, verify_audit
from mudra.audit.search import AuditFilter, AuditRow
from mudra.audit.search_store import AuditSearch
from mudra.http.auth.gates import OperatorCall, operator
from mudra.http.operator.shapes import AuditVerdictResponse
from mudra.http.request.fields import (
    EventNumber,
    Instant,
    NoParameters,
    PageLimit,
    SearchText,
    UuidOrNone,
)
from mudra.http.response.response_body import DateTime, Page, cut_page
from mudra.http.route import get, post
from mudra.identity.operators.operator import Scope
from mudra.shared.time_text import iso_ms


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
    jti: SearchText = ""
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


@get("/audit", "Search the audit", gate=operator(Scope.AUDIT), reads=True)
async def search(call: OperatorCall[AuditQuery]) -> EventsPage:
    """List events, the newest first; `event` may end in `*`."""
    which = AuditFilter(
        event=call.body.event,
        outcome=call.body.outcome,
        actor=call.body.actor,
        user_id=call.body.user_id,
        entity_id=call.body.entity_id,
        txn_id=call.body.txn_id,
        jti=call.body.jti,
        since=call.body.since if isinstance(call.body.since, datetime) else None,
        until=call.body.until if isinstance(call.body.until, datetime) else None,
    )
    limit = int(call.body.limit)
    before = int(call.body.after) if call.body.after else None
    rows = await AuditSearch(call.tx).events(which, before, limit + 1)
    shown, following = cut_page(rows, limit, lambda row: str(row.seq))
    return EventsPage(events=[_details(row) for row in shown], next=following)


@post("/audit/verify", "Verify the audit", gate=operator(Scope.AUDIT), within_s=MAX_S)
async def verify(call: OperatorCall[NoParameters]) -> AuditVerdictResponse:
    """Verify every row, its seal and place, and all checkpoints: a minute per million."""
    verdict = await verify_audit(call.tx.service(AuditChain), AuditLog(call.tx), call.caller)
    return AuditVerdictResponse(
        intact=verdict.intact,
        state=verdict.state,
        rows=verdict.rows,
        vouched=verdict.vouched,
        waiting=verdict.waiting,
        token_blocks=verdict.token_blocks,
        dropped_blocks=verdict.dropped_blocks,
        archived=verdict.archived,
        problem=verdict.problem,
        notes=list(verdict.notes),
    )


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
