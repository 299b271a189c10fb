"""/operator/v1/health/held-reports: implausible reports, admitted or refused (scope health)."""

from typing import Final
from uuid import UUID

from litestar.handlers import HTTPRouteHandler
from litestar.params import FromPath
from msgspec import Struct

from mudra.http.auth.gates import OperatorCall, operator
from mudra.http.request.health_requests import HeldReportRequest, HeldReportsParameters
from mudra.http.response import conflicts
from mudra.http.response.response_body import ResponseBody
from mudra.http.route import get, post
from mudra.identity.operators.operator import Scope
from mudra.metrics.payload.held_reports import Decided, HeldReport, HeldReportService
from mudra.shared.refusal import Refusal
from mudra.shared.time_text import iso_ms


class HeldReportDetails(Struct, rename="camel", kw_only=True):
    """One implausible report: `claimed` and `plausible` count what `doubt` names."""

    receipt_id: str
    aa_id: str
    tag: str
    window: str
    received_at: str
    doubt: str
    claimed: str
    plausible: str
    state: str
    decided_by: str
    decided_at: str | None


class HeldReportsResponse(ResponseBody, kw_only=True):
    """Implausible reports, the latest first."""

    reports: list[HeldReportDetails]


class HeldReportResponse(ResponseBody, kw_only=True):
    """One implausible report as it is now."""

    report: HeldReportDetails


def held_details(held: HeldReport) -> HeldReportDetails:
    """Returns the wire shape; numbers may be over 2^53, so they are texts."""
    return HeldReportDetails(
        receipt_id=held.receipt_id,
        aa_id=held.aa_id,
        tag=held.tag.value,
        window=iso_ms(held.window),
        received_at=iso_ms(held.received_at),
        doubt=held.doubt.what,
        claimed=str(held.doubt.claimed),
        plausible=str(held.doubt.limit),
        state=held.state.value,
        decided_by=held.decided_by,
        decided_at=iso_ms(held.decided_at) if held.decided_at else None,
    )


@get("/operator/v1/health/held-reports", "List implausible reports", gate=operator(Scope.HEALTH))
async def held_reports(call: OperatorCall[HeldReportsParameters]) -> HeldReportsResponse:
    """List reports that are in no sum until they are admitted; with `decided` all of them."""
    found = await call.tx.service(HeldReportService).list(all_=call.body.decided == "true")
    return HeldReportsResponse(reports=[held_details(one) for one in found])


@post(
    "/operator/v1/health/held-reports/{receipt_id:uuid}/admit",
    "Admit an implausible report",
    gate=operator(Scope.HEALTH),
    conflicts=conflicts.HELD,
)
async def admit(
    call: OperatorCall[HeldReportRequest], receipt_id: FromPath[UUID]
) -> HeldReportResponse | Refusal:
    """Count a report like any other."""
    service = call.tx.service(HeldReportService)
    return _response(await service.admit(str(receipt_id), call.body.reason, call.caller))


@post(
    "/operator/v1/health/held-reports/{receipt_id:uuid}/refuse",
    "Refuse an implausible report",
    gate=operator(Scope.HEALTH),
    conflicts=conflicts.HELD,
)
async def refuse(
    call: OperatorCall[HeldReportRequest], receipt_id: FromPath[UUID]
) -> HeldReportResponse | Refusal:
    """Leave a report out for good; it stays kept."""
    service = call.tx.service(HeldReportService)
    return _response(await service.refuse(str(receipt_id), call.body.reason, call.caller))


def _response(outcome: Decided) -> HeldReportResponse | Refusal:
    if isinstance(outcome, Refusal):
        return outcome
    return HeldReportResponse(report=held_details(outcome))


operator_handlers: Final[list[HTTPRouteHandler]] = [held_reports, admit, refuse]
