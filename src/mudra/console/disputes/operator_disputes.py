"""The disputes of all members: the queue, and one with its decision."""

from collections.abc import Sequence
from typing import Final
from uuid import UUID

from litestar.params import FromPath
from litestar.types import ControllerRouterHandler

from mudra.console.disputes.case_page import RefusedForm, case_facts, download_of
from mudra.console.disputes.labels import STATES, contested_incidents, title_of
from mudra.console.framework import page
from mudra.console.framework.navigation import operator_path
from mudra.console.framework.page import Fields
from mudra.console.framework.page_context import PageContext
from mudra.console.framework.page_results import GoTo, Outcome, RenderedPage
from mudra.console.framework.page_zone import zone_of_form
from mudra.console.health.health_query import shown_codes
from mudra.console.health.labels import named_headline
from mudra.disputes.correction import Effect
from mudra.disputes.dispute import OPERATOR_ACTS, Act, Dispute, Side
from mudra.disputes.dispute_service import DisputeService, NoSuchDispute
from mudra.disputes.step_rule import StepCommand
from mudra.http.auth.gates import operator
from mudra.http.request.body.request_body import TEXT_LIMITS
from mudra.http.response.http_refusals import InvalidField
from mudra.identity.operators.operator import Scope
from mudra.localization.display_zone import display_zone
from mudra.localization.language import gettext, translatable
from mudra.metrics.health.api_names import api_names
from mudra.metrics.health.health_service import HealthService
from mudra.metrics.incidents.explanation import ends_of
from mudra.metrics.incidents.incident import Incident
from mudra.metrics.payload.catalogue import TYPE_OF_API, WINDOW, window_start
from mudra.metrics.rollup.coverage import TimeRange
from mudra.metrics.rollup.percentage import percentage
from mudra.metrics.rollup.series import Point
from mudra.metrics.rollup.step import Step
from mudra.shared.refusal import Refusal

_PAGE: Final = operator_path("disputes")
_MOST_WINDOWS: Final = 24
"""Windows that a page lists one by one."""
_EFFECTS: Final[dict[str, Effect]] = {
    "left_out": "left_out",
    "not_against_member": "not_against_member",
}
_MESSAGES: Final = {
    "review": translatable("You took it for review."),
    "ask": translatable("The question was sent."),
    "answer": translatable("The answer was sent."),
    "accept": translatable("Accepted. The correction is marked where the figures are shown."),
    "accept_partly": translatable(
        "Partly accepted. The correction is marked where the figures are shown."
    ),
    "reject": translatable("Rejected. The figures stay as they are."),
    "reopen": translatable("Reopened. Its corrections have ended."),
}


@page.get("/operator/disputes", gate=operator(Scope.HEALTH))
async def disputes(page_context: PageContext) -> Outcome:
    """List those to be decided, the most urgent first, then the others."""
    tx, now = page_context.tx, page_context.now
    entity_id = page_context.query.get("of", "")[:64]
    found = await tx.service(DisputeService).list(of=entity_id)
    names = await tx.service(HealthService).names()
    contested = await contested_incidents(tx, found)
    lines = [
        (
            one,
            title_of(one, contested.get(one.dispute_id), names),
            STATES[one.state],
            one.is_overdue(now),
        )
        for one in found
    ]
    waiting = sorted(
        (line for line in lines if line[0].is_open), key=lambda line: line[0].due_at or now
    )
    facts = {
        "waiting": waiting,
        "others": [line for line in lines if not line[0].is_open],
        "names": names,
        "path": _PAGE,
        "of": entity_id,
    }
    return RenderedPage("operator_disputes.html", facts)


@page.get("/operator/disputes/{dispute_id:uuid}", gate=operator(Scope.HEALTH))
async def dispute(page_context: PageContext, dispute_id: FromPath[UUID]) -> Outcome:
    """Show one dispute, with the forms that its state permits."""
    return await _case_page(page_context, dispute_id, RefusedForm())


@page.post(
    "/operator/disputes/{dispute_id:uuid}/steps", gate=operator(Scope.HEALTH), limits=TEXT_LIMITS
)
async def step(page_context: PageContext, fields: Fields, dispute_id: FromPath[UUID]) -> Outcome:
    """Review, ask, answer, decide or reopen."""
    act = fields.get("act", "")
    if act not in {one.value for one in OPERATOR_ACTS}:
        return NoSuchDispute()
    command = _command(Act(act), fields)
    if isinstance(command, Refusal):
        return await _case_page(page_context, dispute_id, RefusedForm.of(act, command, fields))
    outcome = await page_context.tx.service(DisputeService).step(
        str(dispute_id), command, page_context.caller, page_context.now
    )
    if isinstance(outcome, NoSuchDispute):
        return outcome
    if isinstance(outcome, Refusal):
        return await _case_page(page_context, dispute_id, RefusedForm.of(act, outcome, fields))
    return GoTo(f"{_PAGE}/{outcome.dispute_id}?told={act}")


@page.get(
    "/operator/disputes/{dispute_id:uuid}/evidence/{evidence_id:uuid}", gate=operator(Scope.HEALTH)
)
async def evidence(
    page_context: PageContext, dispute_id: FromPath[UUID], evidence_id: FromPath[UUID]
) -> Outcome:
    """Download a file of a dispute."""
    found = await page_context.tx.service(DisputeService).find(str(dispute_id))
    if isinstance(found, Refusal):
        return found
    return await download_of(page_context, found, str(evidence_id))


async def _case_page(page_context: PageContext, dispute_id: UUID, refused: RefusedForm) -> Outcome:
    tx = page_context.tx
    found = await tx.service(DisputeService).find(str(dispute_id))
    if isinstance(found, Refusal):
        return found
    case = await tx.service(DisputeService).case(found)
    names = await tx.service(HealthService).names()
    zone = display_zone()
    contested = (await contested_incidents(tx, [found])).get(found.dispute_id)
    title = title_of(found, contested, names)
    facts = {
        **case_facts(page_context, case, Side.OPERATOR, refused, title),
        "path": f"{_PAGE}/{found.dispute_id}",
        "back": _PAGE,
        "name": names.get(found.entity_id, found.entity_id),
        "apis": _apis_of(found),
        "first": zone.local(found.start),
        "last": zone.local(found.end),
        "message": gettext(_MESSAGES.get(page_context.query.get("told", ""), "")),
        "contested": contested,
        "figures_until": contested.last_bad + WINDOW if contested else found.end,
        "windows": await _windows(page_context, found, contested),
        "incident_title": named_headline(names),
        "percent": percentage,
    }
    return RenderedPage("operator_dispute.html", facts, refused.status)


async def _windows(
    page_context: PageContext, one: Dispute, contested: Incident | None
) -> Sequence[Point]:
    """Returns the windows that are contested, of the APIs of the incident; none of a long time."""
    within = TimeRange(one.start, min(one.end, window_start(page_context.now)))
    ends = None if contested is None else ends_of(contested)
    if contested is None or ends is None or not 0 < within.number <= _MOST_WINDOWS:
        return ()
    return await page_context.tx.service(HealthService).steps(
        within, Step.WINDOW, shown_codes(contested), aa_id=ends.aa_id, fip_id=ends.fip_id
    )


def _apis_of(one: Dispute) -> list[tuple[str, str]]:
    return [(code, api_names(code)) for code in one.apis or tuple(TYPE_OF_API)]


def _command(act: Act, fields: Fields) -> StepCommand | InvalidField:
    text = fields.get("text", "").replace("\r\n", "\n")
    effect = _EFFECTS.get(fields.get("effect", "left_out"))
    if effect is None:
        return InvalidField(f"effect must be one of {', '.join(_EFFECTS)}")
    if act is not Act.ACCEPT_PARTLY:
        return StepCommand(act, text, effect)
    zone = zone_of_form(fields)
    if isinstance(zone, InvalidField):
        return zone
    times = {}
    for name in ("start", "end"):
        typed = fields.get(name, "").strip()
        times[name] = zone.instant(typed) if typed else None
        if typed and times[name] is None:
            return InvalidField(f"{name} must be a date and time such as 2026-01-31T22:30")
    apis = (fields["api"],) if fields.get("api") else ()
    return StepCommand(act, text, effect, times["start"], times["end"], apis)


handlers: Final[list[ControllerRouterHandler]] = [disputes, dispute, step, evidence]
