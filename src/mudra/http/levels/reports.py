"""Reports of service levels: an operator's of all members, a member's own and the network's."""

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Annotated, Any, Final, Literal
from uuid import UUID
from zoneinfo import ZoneInfo

from litestar.handlers import HTTPRouteHandler
from litestar.params import FromPath
from msgspec import UNSET, Meta, Struct
from msgspec.structs import replace

from mudra.audit.event import Caller
from mudra.http.auth.gates import EntityCall, OperatorCall, entity, operator
from mudra.http.endpoint import Call
from mudra.http.levels.level_shapes import (
    PeriodRequest,
    ProofResponse,
    ReportMadeResponse,
    ReportRequest,
    ReportResponse,
    ReportsParameters,
    ReportsResponse,
)
from mudra.http.levels.signing import signing
from mudra.http.request.fields import NoParameters
from mudra.http.response import conflicts
from mudra.http.response.http_refusals import InvalidField
from mudra.http.response.operator_name import shown_to_members
from mudra.http.response.response_body import CsvText, PdfFile
from mudra.http.route import get, post
from mudra.identity.accounts.people_store import People
from mudra.identity.operators.operator import Scope
from mudra.levels.level_service import LevelService
from mudra.levels.months import month_before
from mudra.levels.printing.report_csv import report_as_csv
from mudra.levels.report_store import Listed, Signed
from mudra.localization.language import written_in
from mudra.metrics.rollup.coverage import TimeRange
from mudra.shared.entity_type import EntityType
from mudra.shared.refusal import Refusal
from mudra.storage.database.deadline import PAGE_S
from mudra.storage.database.transaction import Transaction

_NETWORK: Final = ""
_ANY: Final = None
_MAKE_S: Final = 60.0


class ReportParameters(Struct, frozen=True):
    """The format of a report."""

    format: Annotated[
        Literal["json", "csv", "pdf"],
        Meta(description="json, csv with a line for each number, or pdf to print"),
    ] = "json"
    language: Annotated[
        str,
        Meta(
            pattern=r"^([a-z]{2,3}(-[A-Z][a-z]{3})?(-[A-Z]{2})?)?\Z",
            description="the language of a pdf, such as hi; the network's when left out",
            examples=["hi"],
        ),
    ] = ""


@get("/operator/v1/levels/reports", "List reports of levels", gate=operator(Scope.HEALTH))
async def reports(call: OperatorCall[ReportsParameters]) -> ReportsResponse:
    """List versions of reports, the latest period and version first."""
    which = None if call.body.entity_id is UNSET else str(call.body.entity_id)
    return ReportsResponse(reports=list(await call.tx.service(LevelService).list(which)))


@post(
    "/operator/v1/levels/reports",
    "Make a report of levels",
    conflicts=conflicts.REPORT,
    gate=operator(Scope.HEALTH),
    within_s=_MAKE_S,
)
async def make(call: OperatorCall[ReportRequest]) -> ReportMadeResponse | Refusal:
    """Make a member's report of a month or a period, by default of the month that ended last.

    A period is of full windows of ten minutes and begins within the last 90 days. A further version
    is made only where a number differs.
    """
    return await _made(call, call.tx, call.body, call.body.entity_id, call.caller)


@get(
    "/operator/v1/levels/reports/{report_id:uuid}",
    "Show a report of levels",
    gate=operator(Scope.HEALTH),
    conflicts=conflicts.PRINT,
)
async def report(
    call: OperatorCall[ReportParameters], report_id: FromPath[UUID]
) -> ReportResponse | CsvText | PdfFile | Refusal:
    """Show one version, as JSON, CSV or PDF of the same numbers."""
    return await _shown(call, call.tx, report_id, _ANY, call.caller)


@get(
    "/operator/v1/levels/reports/{report_id:uuid}/proof",
    "Prove a report of levels",
    gate=operator(Scope.HEALTH),
    within_s=PAGE_S,
)
async def proof(
    call: OperatorCall[NoParameters], report_id: FromPath[UUID]
) -> ProofResponse | Refusal:
    """Return the signed text with the exact sums of which its numbers are made."""
    return await _proof(call.tx, report_id, _ANY)


@get("/levels/reports", "List own reports of levels", gate=entity())
async def own_reports(call: EntityCall[NoParameters]) -> ReportsResponse:
    """List versions of the calling entity's reports, then the network's."""
    service = call.tx.service(LevelService)
    found = [one for which in _readable(call) for one in await service.list(which)]
    return ReportsResponse(reports=[_to_member(one) for one in found])


@post(
    "/levels/reports",
    "Make an own report of levels",
    conflicts=conflicts.REPORT,
    gate=entity(EntityType.FIP, EntityType.AA),
    within_s=_MAKE_S,
)
async def make_own(call: EntityCall[PeriodRequest]) -> ReportMadeResponse | Refusal:
    """Make the calling entity's report of a month or a period, by default of the last month.

    A period is of full windows of ten minutes and begins within the last 90 days.
    """
    return await _made(call, call.tx, call.body, call.entity.entity_id, call.caller)


@get(
    "/levels/reports/{report_id:uuid}",
    "Show an own report of levels",
    gate=entity(),
    conflicts=conflicts.PRINT,
)
async def own_report(
    call: EntityCall[ReportParameters], report_id: FromPath[UUID]
) -> ReportResponse | CsvText | PdfFile | Refusal:
    """Show one version of the calling entity's or the network's report."""
    return await _shown(call, call.tx, report_id, _readable(call), call.caller)


@get(
    "/levels/reports/{report_id:uuid}/proof",
    "Prove an own report of levels",
    gate=entity(),
    within_s=PAGE_S,
)
async def own_proof(
    call: EntityCall[NoParameters], report_id: FromPath[UUID]
) -> ProofResponse | Refusal:
    """Return the signed text with the exact sums of which its numbers are made."""
    return await _proof(call.tx, report_id, _readable(call))


def _readable(call: EntityCall[Any]) -> Sequence[str]:
    return (call.entity.entity_id, _NETWORK)


async def _made(
    call: Call[Any], tx: Transaction, period: PeriodRequest, entity_id: str, caller: Caller
) -> ReportMadeResponse | Refusal:
    now, signer = await People(tx).now(), call.dependencies.signer
    await signer.ready()
    within = _within(tx.service(LevelService), period, now)
    if isinstance(within, Refusal):
        return within
    made = await tx.service(LevelService).make(entity_id, within, caller, now, signing(signer))
    return ReportMadeResponse(report=made) if isinstance(made, Listed) else made


def _within(service: LevelService, period: PeriodRequest, now: datetime) -> TimeRange | Refusal:
    start, end, month = period.start, period.end, period.month
    if isinstance(month, str) and start is UNSET and end is UNSET:
        return service.ended_month(month, now)
    if isinstance(start, datetime) and isinstance(end, datetime) and month is UNSET:
        return TimeRange(start.astimezone(UTC), end.astimezone(UTC))
    if start is UNSET and end is UNSET and month is UNSET:
        return month_before(now, ZoneInfo(service.zone))
    return InvalidField("give a month, such as 2026-03, or start and end")


async def _shown(
    call: Call[ReportParameters],
    tx: Transaction,
    report_id: UUID,
    readable: Sequence[str] | None,
    caller: Caller,
) -> ReportResponse | CsvText | PdfFile | Refusal:
    service, wanted = tx.service(LevelService), call.body.format
    found = await service.find(str(report_id), readable)
    if isinstance(found, Refusal):
        return found
    listed, signed = found
    if wanted == "pdf":
        return _pdf(call, service, signed, caller)
    if wanted == "csv":
        return CsvText(await asyncio.to_thread(report_as_csv, signed.report))
    shown = listed if readable is _ANY else _to_member(listed)
    return ReportResponse(listed=shown, report=signed.report)


def _to_member(listed: Listed) -> Listed:
    return replace(listed, made_by=shown_to_members(listed.made_by))


def _pdf(
    call: Call[ReportParameters], service: LevelService, signed: Signed, caller: Caller
) -> PdfFile | Refusal:
    known, tag = call.dependencies.languages, call.body.language
    language = known.find(tag) if tag else known.default
    if language is None:
        return InvalidField(f"language must be one of {', '.join(c.tag for c in known.choices)}")
    with written_in(language):
        printed = service.printed(signed, call.dependencies.settings.network_name)
    made_at = signed.report.made_at
    return PdfFile(partial(call.dependencies.print_pdf, caller.actor, printed, made_at))


async def _proof(
    tx: Transaction, report_id: UUID, readable: Sequence[str] | None
) -> ProofResponse | Refusal:
    found = await tx.service(LevelService).proof(str(report_id), readable)
    if isinstance(found, Refusal):
        return found
    return ProofResponse(
        report=found.report,
        signature=found.signature,
        key=found.key,
        evidence=found.evidence,
        days=list(found.days),
    )


operator_handlers: Final[list[HTTPRouteHandler]] = [reports, make, report, proof]
member_handlers: Final[list[HTTPRouteHandler]] = [own_reports, make_own, own_report, own_proof]
