"""Implausible reports: what each claims, and admitting or refusing it."""

from typing import Final
from uuid import UUID

from litestar.params import FromPath
from litestar.types import ControllerRouterHandler

from mudra.console.framework import page
from mudra.console.framework.navigation import operator_path
from mudra.console.framework.page import Fields
from mudra.console.framework.page_context import PageContext
from mudra.console.framework.page_results import GoTo, Outcome, RenderedPage
from mudra.console.pages.operator.labels import tone
from mudra.http.auth.gates import operator
from mudra.http.request.health_requests import HeldReportRequest
from mudra.http.request.validation import decode_struct
from mudra.http.response.http_refusals import InvalidField
from mudra.identity.operators.operator import Scope
from mudra.localization.language import gettext, translatable
from mudra.metrics.health.health_service import HealthService
from mudra.metrics.payload.held_reports import HeldReportService, HeldState
from mudra.shared.refusal import Refusal

_PAGE: Final = operator_path("held-reports")
_DONE: Final = {
    "admit": translatable(
        "Admitted. The report counts like any other, also in verdicts about its time."
    ),
    "refuse": translatable("Refused. The report stays kept, and counts nowhere."),
}


@page.get("/operator/held-reports", gate=operator(Scope.HEALTH))
async def show_reports(page_context: PageContext) -> Outcome:
    """List implausible reports that wait; `decided=true` also those decided."""
    all_ = page_context.query.get("decided") == "true"
    return RenderedPage(
        "held_reports.html",
        {
            "reports": [
                (one, (one.state.value, tone(one.state.value)))
                for one in await page_context.tx.service(HeldReportService).list(all_=all_)
            ],
            "all": all_,
            "waiting": HeldState.WAITING,
            "names": await page_context.tx.service(HealthService).names(),
            "message": gettext(_DONE.get(page_context.query.get("told", ""), "")),
        },
    )


@page.post("/operator/held-reports/{receipt_id:uuid}/{decision:str}", gate=operator(Scope.HEALTH))
async def decide(
    page_context: PageContext, fields: Fields, receipt_id: FromPath[UUID], decision: FromPath[str]
) -> Outcome:
    """Admit or refuse a report, with a reason."""
    asked = decode_struct({"reason": fields.get("reason", "").strip()}, HeldReportRequest)
    if isinstance(asked, InvalidField):
        return asked
    service = page_context.tx.service(HeldReportService)
    if decision not in _DONE:
        return InvalidField("the address must end in admit or refuse")
    act = service.admit if decision == "admit" else service.refuse
    outcome = await act(str(receipt_id), asked.reason, page_context.caller)
    return outcome if isinstance(outcome, Refusal) else GoTo(f"{_PAGE}?told={decision}")


handlers: Final[list[ControllerRouterHandler]] = [show_reports, decide]
