"""A member's disputes: listed, raised in one form, followed step by step."""

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import Final
from uuid import UUID

from litestar.params import FromPath
from litestar.types import ControllerRouterHandler

from mudra.console.disputes.case_page import RefusedForm, case_facts, download_of
from mudra.console.disputes.labels import STATES, contested_incidents, title_of
from mudra.console.framework import page
from mudra.console.framework.navigation import member_path
from mudra.console.framework.page import Fields
from mudra.console.framework.page_context import PageContext
from mudra.console.framework.page_results import GoTo, Outcome, RenderedPage
from mudra.console.health.labels import headline
from mudra.disputes.dispute import MEMBER_ACTS, About, Act, Dispute, Kind, Side
from mudra.disputes.dispute_service import DisputeService, NoSuchDispute
from mudra.disputes.evidence import MAX_BYTES, read_base64
from mudra.disputes.raise_rule import CONTEST_WITHIN, RaiseCommand, last_day_over
from mudra.disputes.step_rule import MAX_TEXT, StepCommand
from mudra.http.auth.gates import ADMIN, READER
from mudra.http.request.body.request_body import TEXT_LIMITS
from mudra.http.response.http_refusals import InvalidField
from mudra.localization.language import translatable
from mudra.metrics.health.api_names import api_names
from mudra.metrics.health.health_service import HealthService
from mudra.metrics.incidents.explanation import may_see
from mudra.metrics.incidents.incident import NO_CAUSES
from mudra.metrics.incidents.incident_service import IncidentService
from mudra.metrics.payload.catalogue import TYPE_OF_API
from mudra.server_protocol.body_reader import BodyLimits
from mudra.shared.entity_type import EntityType
from mudra.shared.refusal import Refusal, ValueRefused

_UPLOAD: Final = BodyLimits(MAX_BYTES * 4 // 3 + 64 * 1024)
_DISPUTES: Final = "disputes"
_MESSAGES: Final = {
    "raise": translatable("The dispute is with the operator. You get an email of each step."),
    "comment": translatable("The comment is published with the figures."),
    "inform": translatable("Your statement was added."),
    "withdraw": translatable("It is withdrawn."),
    "attach": translatable("The file was attached."),
}
_MOST_INCIDENTS: Final = 50
"""The latest ones, which the form offers; the page of each incident leads here with it."""
_DAYS: Final = ("day", "first_day", "last_day")


@page.get("/entity/{entity_id:str}/disputes", gate=READER)
async def disputes(page_context: PageContext) -> Outcome:
    """List the member's disputes, with the form for another one."""
    typed = {
        name: page_context.query[name][:64]
        for name in ("kind", "about", "incident_id", "api", *_DAYS)
        if name in page_context.query
    }
    return await _list_page(page_context, RefusedForm(typed=typed))


@page.post("/entity/{entity_id:str}/disputes", gate=ADMIN, limits=TEXT_LIMITS)
async def begin(page_context: PageContext, fields: Fields) -> Outcome:
    """Raise a dispute, or publish a comment."""
    command = _command(fields)
    if isinstance(command, Refusal):
        return await _list_page(page_context, RefusedForm.of("raise", command, fields))
    outcome = await page_context.tx.service(DisputeService).begin(
        page_context.member.entity_id, command, page_context.caller, page_context.now
    )
    if isinstance(outcome, Refusal):
        return await _list_page(page_context, RefusedForm.of("raise", outcome, fields))
    message = "raise" if outcome.kind is Kind.DISPUTE else "comment"
    return GoTo(f"{dispute_path(outcome)}?told={message}")


@page.get("/entity/{entity_id:str}/disputes/{dispute_id:uuid}", gate=READER)
async def dispute(page_context: PageContext, dispute_id: FromPath[UUID]) -> Outcome:
    """Show one of the member's disputes."""
    return await _case_page(page_context, dispute_id, RefusedForm())


@page.post(
    "/entity/{entity_id:str}/disputes/{dispute_id:uuid}/steps", gate=ADMIN, limits=TEXT_LIMITS
)
async def step(page_context: PageContext, fields: Fields, dispute_id: FromPath[UUID]) -> Outcome:
    """Add to the statement, answer a question, or withdraw."""
    act = fields.get("act", "")
    if act not in {one.value for one in MEMBER_ACTS}:
        return NoSuchDispute()
    text = fields.get("text", "").replace("\r\n", "\n")
    outcome = await page_context.tx.service(DisputeService).step(
        str(dispute_id),
        StepCommand(Act(act), text),
        page_context.caller,
        page_context.now,
        of=page_context.member.entity_id,
    )
    if isinstance(outcome, NoSuchDispute):
        return outcome
    if isinstance(outcome, Refusal):
        return await _case_page(page_context, dispute_id, RefusedForm.of(act, outcome, fields))
    return GoTo(f"{dispute_path(outcome)}?told={act}")


@page.post(
    "/entity/{entity_id:str}/disputes/{dispute_id:uuid}/evidence", gate=ADMIN, limits=_UPLOAD
)
async def attach(page_context: PageContext, fields: Fields, dispute_id: FromPath[UUID]) -> Outcome:
    """Attach a file: the page's script puts it into the form as Base64, or a text is pasted."""
    found = await _own(page_context, dispute_id)
    if isinstance(found, Refusal):
        return found
    content = _content(fields)
    outcome = (
        content
        if isinstance(content, Refusal)
        else await page_context.tx.service(DisputeService).attach(
            *(found.dispute_id, fields.get("name", ""), content),
            *(page_context.caller, page_context.now),
            of=found.entity_id,
        )
    )
    if isinstance(outcome, Refusal):
        shown = {"name": fields.get("name", "")[:100]}
        return await _case_page(page_context, dispute_id, RefusedForm.of("attach", outcome, shown))
    return GoTo(f"{dispute_path(found)}?told=attach")


@page.get(
    "/entity/{entity_id:str}/disputes/{dispute_id:uuid}/evidence/{evidence_id:uuid}", gate=READER
)
async def evidence(
    page_context: PageContext, dispute_id: FromPath[UUID], evidence_id: FromPath[UUID]
) -> Outcome:
    """Download a file of one of the member's disputes."""
    found = await _own(page_context, dispute_id)
    if isinstance(found, Refusal):
        return found
    return await download_of(page_context, found, str(evidence_id))


def dispute_path(one: Dispute) -> str:
    """Return the page of a dispute for its member."""
    return member_path(one.entity_id, f"{_DISPUTES}/{one.dispute_id}")


def contest_path(entity_id: str, **what: str) -> str:
    """Return the page of the form, filled in: `about`, `day`, `incident_id`, `api`."""
    query = "&".join(f"{name}={value}" for name, value in what.items())
    return f"{member_path(entity_id, _DISPUTES)}?{query}#raise"


async def _own(page_context: PageContext, dispute_id: UUID) -> Dispute | NoSuchDispute:
    found = await page_context.tx.service(DisputeService).find(str(dispute_id))
    if isinstance(found, Dispute) and found.entity_id == page_context.member.entity_id:
        return found
    return NoSuchDispute()


async def _list_page(page_context: PageContext, form: RefusedForm) -> Outcome:
    entity_id = page_context.member.entity_id
    found = await page_context.tx.service(DisputeService).list(of=entity_id)
    contested = await contested_incidents(page_context.tx, found)
    names = await page_context.tx.service(HealthService).names()
    facts = {
        "form": form,
        "listed": [
            (
                one,
                title_of(one, contested.get(one.dispute_id), names),
                STATES[one.state],
                dispute_path(one),
            )
            for one in found
        ],
        "path": member_path(entity_id, _DISPUTES),
        "incidents": await _incidents(page_context, form.typed.get("incident_id", ""), names),
        "apis": [(code, api_names(code)) for code in TYPE_OF_API],
        "last_day": last_day_over(page_context.now).isoformat(),
        "within_days": CONTEST_WITHIN.days,
        "max_text": MAX_TEXT,
    }
    return RenderedPage("disputes.html", facts, form.status)


async def _incidents(
    page_context: PageContext, typed: str, names: Mapping[str, str]
) -> Sequence[tuple[str, str, datetime]]:
    """Returns the latest incidents that the member can write about, and the one that is asked for.

    Each with its ID, what failed and since when.
    """
    member, service = page_context.member, page_context.tx.service(IncidentService)
    of_fips = member.entity_type == EntityType.FIU.value
    of = None if of_fips else member.entity_id
    latest = await service.latest(entity_id=of, limit=_MOST_INCIDENTS)
    found = [one for one in latest if one.incident.ending not in NO_CAUSES]
    asked = _uuid(typed)
    if asked and asked not in {one.incident_id for one in found}:
        found += await service.of_ids([asked])
    return [
        (one.incident_id, headline(one.incident, names), one.incident.began)
        for one in found
        if may_see(one.incident, member.entity_id, of_fips=of_fips)
    ]


async def _case_page(page_context: PageContext, dispute_id: UUID, refused: RefusedForm) -> Outcome:
    found = await _own(page_context, dispute_id)
    if isinstance(found, Refusal):
        return found
    case = await page_context.tx.service(DisputeService).case(found)
    contested = await contested_incidents(page_context.tx, [found])
    names = await page_context.tx.service(HealthService).names()
    title = title_of(found, contested.get(found.dispute_id), names)
    facts = {
        **case_facts(page_context, case, Side.MEMBER, refused, title),
        "path": dispute_path(found),
        "back": member_path(found.entity_id, _DISPUTES),
        "message": _MESSAGES.get(page_context.query.get("told", ""), ""),
    }
    return RenderedPage("dispute.html", facts, refused.status)


def _command(fields: Fields) -> RaiseCommand | InvalidField | ValueRefused:
    kind, about = fields.get("kind", ""), fields.get("about", "")
    if kind not in set(Kind):
        return InvalidField(f"kind must be one of {', '.join(Kind)}")
    if about not in set(About):
        return InvalidField(f"about must be one of {', '.join(About)}")
    days: dict[str, date | None] = {}
    for name in _DAYS:
        typed = fields.get(name, "").strip()
        try:
            days[name] = date.fromisoformat(typed) if typed else None
        except ValueError:
            return ValueRefused(name.replace("_", " "), "must be a day such as 2026-01-31")
    is_day = about == About.DAY
    return RaiseCommand(
        Kind(kind),
        About(about),
        fields.get("text", "").replace("\r\n", "\n"),
        _uuid(fields.get("incident_id", "")) if about == About.INCIDENT else None,
        days["day"] if is_day else days["first_day"],
        None if is_day else days["last_day"],
        fields.get("api") or None,
    )


def _uuid(typed: str) -> str | None:
    try:
        return str(UUID(typed))
    except ValueError:
        return None


def _content(fields: Fields) -> bytes | ValueRefused:
    """Return the file that the script read, else the text that was pasted."""
    read = fields.get("content", "")
    return read_base64(read) if read else fields.get("pasted", "").encode()


handlers: Final[list[ControllerRouterHandler]] = [
    disputes,
    begin,
    dispute,
    step,
    attach,
    evidence,
]
