"""One incident: verdict, latest windows, evidence, contacts, acts, timeline."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from litestar.params import FromPath
from litestar.types import ControllerRouterHandler
from msgspec import Struct, field

from mudra.console.disputes.labels import STATES
from mudra.console.framework import page
from mudra.console.framework.console_errors import page_problem, refusal_text
from mudra.console.framework.page import Fields
from mudra.console.framework.page_context import PageContext
from mudra.console.framework.page_results import Download, GoTo, Outcome, RenderedPage
from mudra.console.health.callable_members import members_at_cause
from mudra.console.health.cause_rows import apis_counted, apis_text
from mudra.console.health.grid import HEALTH, pair_path
from mudra.console.health.health_query import HealthQuery, shown_codes, view_of
from mudra.console.health.incident_state import closes_after, state_now
from mudra.console.health.labels import (
    distinct_names,
    headline,
    operator_path_of,
    state_label,
    subject_ids,
)
from mudra.console.health.over_time import (
    LATER,
    OVER_TIME,
    PART,
    latest_windows,
    of_incident,
    over_time,
)
from mudra.console.health.silence_form import LENGTHS
from mudra.console.health.trend import causes_over
from mudra.console.pages.operator.health.contrasts import contrasts_table
from mudra.console.pages.operator.health.incident_public import public_facts
from mudra.console.pages.operator.health.silences import MAX_OWNERS, silence_about
from mudra.console.timeline.timeline_pages import changed_before
from mudra.disputes.dispute import Dispute
from mudra.disputes.dispute_service import DisputeService
from mudra.http.auth.gates import operator
from mudra.http.request.body.request_body import TEXT_LIMITS
from mudra.identity.memberships.member_search import MemberFilter, MemberRow
from mudra.identity.memberships.member_search_store import MemberSearch
from mudra.identity.operators.operator import Scope
from mudra.localization.language import gettext, translatable
from mudra.metrics.health.health_service import HealthService
from mudra.metrics.incidents.acts.act import ActCommand, ActKind
from mudra.metrics.incidents.acts.act_service import IncidentActService
from mudra.metrics.incidents.acts.similar import MAX_SEARCHED, Similar
from mudra.metrics.incidents.acts.story import hand_over_of, post_mortem_of, story_of
from mudra.metrics.incidents.contrast import Contrast, contrasts
from mudra.metrics.incidents.explanation import changed_by
from mudra.metrics.incidents.incident import AaReporting, Incident, StoredIncident
from mudra.metrics.incidents.incident_service import IncidentService, NoSuchIncident
from mudra.metrics.incidents.silence_service import SilenceService
from mudra.metrics.incidents.subject import aa_concerned, fip_concerned, name_of
from mudra.metrics.incidents.verdict import grounds, reach_of
from mudra.metrics.notifications.alarm import (
    ambiguity,
    counted_text,
    moved_from,
    timeline_lines,
)
from mudra.metrics.notifications.severity import severity_of
from mudra.metrics.payload.catalogue import CUSTOMER_CODES, WINDOW, Tag
from mudra.metrics.rollup.coverage import TimeRange
from mudra.metrics.rollup.percentage import percentage, share_of
from mudra.metrics.rollup.series import Point
from mudra.shared.refusal import Refusal

_MAX_EVIDENCE: Final = timedelta(days=7)
_MAX_CONTACTS: Final = 8
_SILENCED: Final = "silence"
NOTICES: Final[Mapping[str, str]] = {
    ActKind.ASSIGN: translatable("The incident has a new owner."),
    ActKind.HAND_OVER: translatable("Handed over."),
    ActKind.COMMENT: translatable("Comment added."),
    ActKind.CLOSE: translatable("Closed by hand."),
    ActKind.REOPEN: translatable("Reopened."),
    ActKind.POST_MORTEM: translatable("Post-mortem saved."),
    _SILENCED: translatable("Silence started."),
    "announce": translatable("Announced on the public status. Subscribers get it."),
    "update": translatable("Update published. Subscribers get it."),
}


class Side(Struct, frozen=True):
    """A member to call, and how it is reached."""

    member: MemberRow
    affected: bool
    """Whether the cause only affects it."""


class Evidence(Struct, frozen=True):
    """The latest windows, the latest last, and the calls of the bad time next to like ones."""

    latest: Sequence[Point]
    contrasts: Sequence[Contrast]
    all_apis: bool
    """Whether both are of all calls: the cause names no API."""
    filled: int = 0
    """Windows that an AA did not report in time, and later did."""


class Refused(Struct, frozen=True):
    """A form that was not carried out: which, why, and what was typed into it."""

    form: str = ""
    problem: str = ""
    status: int = 200
    text: str = ""
    typed: Mapping[str, str] = field(default_factory=dict)
    """All that was typed, where the form has more than a text."""


@page.get("/operator/incidents/{incident_id:uuid}", gate=operator(Scope.HEALTH), reads=True)
async def incident(page_context: PageContext, incident_id: FromPath[UUID]) -> Outcome:
    """Show one incident."""
    return await incident_page(page_context, str(incident_id))


@page.post(
    "/operator/incidents/{incident_id:uuid}/acts", gate=operator(Scope.HEALTH), limits=TEXT_LIMITS
)
async def act(page_context: PageContext, fields: Fields, incident_id: FromPath[UUID]) -> Outcome:
    """Assign, hand over, comment, close, reopen, or write the post-mortem."""
    wanted, kind = str(incident_id), fields.get("act", "")
    if kind not in tuple(ActKind):
        return NoSuchIncident()
    text = fields.get("text", "")
    command = ActCommand(ActKind(kind), text, fields.get("owner", ""), fields.get("instead_of"))
    outcome = await page_context.tx.service(IncidentActService).act(
        wanted, command, page_context.caller
    )
    if isinstance(outcome, NoSuchIncident):
        return outcome
    if isinstance(outcome, Refusal):
        return await incident_page(page_context, wanted, _refused(kind, outcome, text))
    return GoTo(f"{operator_path_of(outcome)}?told={kind}")


@page.post("/operator/incidents/{incident_id:uuid}/silence", gate=operator(Scope.HEALTH))
async def silence(
    page_context: PageContext, fields: Fields, incident_id: FromPath[UUID]
) -> Outcome:
    """Silence alerts about its subject for some hours."""
    wanted = str(incident_id)
    stored = await page_context.tx.service(IncidentService).find(wanted)
    if isinstance(stored, Refusal):
        return stored
    hours = fields.get("hours", "")
    if hours not in map(str, LENGTHS):
        return NoSuchIncident()
    command = silence_about(
        stored.incident.subject,
        page_context.now + timedelta(hours=int(hours)),
        fields.get("reason", ""),
    )
    tx = page_context.tx
    outcome = await tx.service(SilenceService).begin(command, page_context.caller, page_context.now)
    if isinstance(outcome, Refusal):
        typed = fields.get("reason", "")
        return await incident_page(page_context, wanted, _refused(_SILENCED, outcome, typed))
    return GoTo(f"{operator_path_of(stored)}?told={_SILENCED}")


def _refused(form: str, refusal: Refusal, text: str) -> Refused:
    problem = page_problem(refusal)
    return Refused(form, refusal_text(refusal), problem.status, text)


async def _disputes(page_context: PageContext, incident_id: str) -> Sequence[tuple[Dispute, str]]:
    found = await page_context.tx.service(DisputeService).list(incident_id=incident_id)
    return [(one, STATES[one.state][0]) for one in found]


async def incident_page(
    page_context: PageContext, incident_id: str, refused: Refused | None = None
) -> Outcome:
    """Shows the page, with the form that was refused."""
    stored = await page_context.tx.service(IncidentService).find(incident_id)
    if isinstance(stored, Refusal):
        return stored
    view = view_of(stored.incident, shown_codes(stored.incident), page_context.now)
    names = await page_context.tx.service(HealthService).names()
    charts = await _charts(page_context, stored.incident, view, names)
    if isinstance(charts, Download):
        return charts
    if OVER_TIME.is_part(page_context.query):
        return RenderedPage(PART, {**charts, "leading": view})
    distinct = distinct_names(names)
    evidence = await _evidence(page_context, stored.incident, distinct)
    compared = contrasts_table(
        stored.incident.subject, lambda row: _contrast_path(row, stored.incident, view)
    )
    rows, health = evidence.contrasts, page_context.tx.service(HealthService)
    export = compared.export(rows, page_context.query)
    if export is not None:
        return export
    facts = {
        **charts,
        "names": names,
        **_verdict(page_context, stored, await health.judged_until(), names),
        "grounds": grounds(stored.incident, rows, distinct, filled=evidence.filled),
        "latest": evidence.latest,
        "filled": evidence.filled,
        "all_apis": evidence.all_apis,
        "contrasts": compared.view(rows, page_context.query) if rows else None,
        **await _acts(page_context, stored, names),
        **await public_facts(page_context, stored),
        "similar": await _similar(page_context, stored),
        "changed": await changed_before(page_context, stored.incident),
        "disputes": await _disputes(page_context, incident_id),
        "stored": stored,
        "incident": stored.incident,
        "view": view,
        "leading": view,
        "path": operator_path_of(stored),
        "page_of": _page_of(stored.incident),
        "sides": await _sides(page_context, stored.incident, evidence.contrasts),
        "may_open_members": Scope.MEMBERS in page_context.scopes,
        "more_affected": _not_listed(stored.incident),
        "refused": refused or Refused(),
    }
    return RenderedPage("incident.html", facts, refused.status if refused else 200)


def _verdict(
    page_context: PageContext,
    stored: StoredIncident,
    judged_until: datetime | None,
    names: Mapping[str, str],
) -> Mapping[str, object]:
    found, settings = stored.incident, page_context.dependencies.settings
    reach, state = reach_of(found), state_now(stored, judged_until, page_context.now)
    kind = name_of(found.subject).kind.value
    return {
        "headline": headline(found, names, recovering=state.recovering),
        "ids": subject_ids(found.subject),
        "state": state_label(stored, recovering=state.recovering),
        "severity": severity_of(found).value,
        "state_now": state,
        "judged_until": judged_until,
        "close_after": closes_after(stored),
        "reporting": isinstance(found.subject, AaReporting),
        "counted": counted_text(found),
        "ambiguity": ambiguity(found, names),
        "changed_by": changed_by(found),
        "success": percentage(share_of(found.succeeded, found.eligible), 1)
        if found.failing
        else None,
        "percent": percentage,
        "headline_of": headline,
        "state_of": state_label,
        "path_of": operator_path_of,
        "reach": reach,
        "apis": apis_counted(found, reach.apis) if reach.apis else "",
        "api_names": apis_text(found, reach.apis) if reach.apis else "",
        "moved": moved_from(found, names),
        "runbook": settings.health_runbook.replace("{kind}", kind),
        "notice": gettext(NOTICES.get(page_context.query.get("told", ""), "")),
    }


async def _evidence(
    page_context: PageContext, found: Incident, names: Mapping[str, str]
) -> Evidence:
    """Returns the latest windows, and the calls of its bad time next to like ones."""
    health = page_context.tx.service(HealthService)
    codes = shown_codes(found)
    if isinstance(found.subject, AaReporting):
        filled = await _filled(health, found, found.subject.aa_id, page_context.now)
        return Evidence((), (), all_apis=True, filled=filled)
    latest = await latest_windows(
        page_context,
        found,
        codes,
        aa_id=aa_concerned(found.subject),
        fip_id=fip_concerned(found.subject),
    )
    until = found.last_bad + WINDOW
    within = TimeRange(max(found.began, until - _MAX_EVIDENCE), until)
    rows = contrasts(found, await health.calls_of_pairs(within, sorted(codes)), names)
    return Evidence(latest, rows, all_apis=codes >= frozenset(CUSTOMER_CODES))


async def _filled(health: HealthService, found: Incident, aa_id: str, now: datetime) -> int:
    """Returns how many windows of a gap in an AA's reports were reported after all."""
    gap = TimeRange(found.began, found.last_bad + WINDOW)
    coverage = await health.coverage(gap, now, aa_id)
    in_time = gap.number - found.bad_windows
    return coverage.received.get((aa_id, Tag.REQUESTS), 0) - in_time


async def _acts(
    page_context: PageContext, stored: StoredIncident, names: Mapping[str, str]
) -> Mapping[str, object]:
    tx, now = page_context.tx, page_context.now
    acts = await tx.service(IncidentActService).of(stored.incident_id)
    silences = await tx.service(SilenceService).list(now, past=True)
    subject = stored.incident.subject
    return {
        "story": story_of(stored, timeline_lines(stored.incident, names), acts, silences, now),
        "post_mortem": post_mortem_of(acts),
        "hand_over": hand_over_of(acts) if stored.is_open else None,
        "mine": stored.acknowledged_by == page_context.caller.actor,
        "me": page_context.caller.actor.removeprefix("operator:"),
        "owners": (await tx.service(IncidentActService).owners())[:MAX_OWNERS],
        "silenced": [one for one in silences if one.covers(subject, now)],
        "lengths": LENGTHS,
    }


async def _similar(page_context: PageContext, stored: StoredIncident) -> Sequence[Similar]:
    """Returns incidents of the member at the cause that are like this one."""
    tx = page_context.tx
    others = [
        one
        for entity_id in members_at_cause(stored.incident.subject)
        for one in await tx.service(IncidentService).latest(entity_id=entity_id, limit=MAX_SEARCHED)
    ]
    return await tx.service(IncidentActService).similar(
        stored, list({one.incident_id: one for one in others}.values())
    )


def _affected(found: Incident) -> Sequence[str]:
    """Returns the members that the cause affects, without those at it."""
    both = [*found.cause.affected_aas, *found.cause.affected_fips]
    return [one for one in both if one not in members_at_cause(found.subject)]


def _not_listed(found: Incident) -> int:
    """Returns how many affected members are beyond the list of contacts."""
    named = members_at_cause(found.subject)
    return max(0, len(named) + len(_affected(found)) - _MAX_CONTACTS)


async def _sides(
    page_context: PageContext, found: Incident, rows: Sequence[Contrast]
) -> Sequence[Side]:
    """Returns whom to call: those at the cause first, then those that it affects, the worst first.

    At the cause of a path are its two ends: which of them is not known.
    """
    named = members_at_cause(found.subject)
    hit = [end for row in rows if row.affected for end in (row.aa_id, row.fip_id)]
    in_order = sorted(_affected(found), key=lambda one: hit.index(one) if one in hit else len(hit))
    affected = in_order[: _MAX_CONTACTS - len(named)]
    search = MemberSearch(page_context.tx)
    return [
        Side(row, affected=entity_id not in named)
        for entity_id in (*named, *affected)
        for row in await search.members(MemberFilter(entity_id=entity_id), "", 1)
    ]


async def _charts(
    page_context: PageContext, found: Incident, view: HealthQuery, names: Mapping[str, str]
) -> Mapping[str, object] | Download:
    if OVER_TIME.comes_later(page_context.query):
        return LATER
    aa_id, fip_id = aa_concerned(found.subject), fip_concerned(found.subject)
    return await over_time(
        page_context,
        view,
        aa_id=aa_id,
        fip_id=fip_id,
        codes=shown_codes(found),
        blame=of_incident(found, await causes_over(page_context, view), names),
    )


def _page_of(found: Incident) -> str:
    aa_id, fip_id = aa_concerned(found.subject), fip_concerned(found.subject)
    if aa_id and fip_id:
        return pair_path(aa_id, fip_id)
    if fip_id:
        return f"{HEALTH}/fip/{fip_id}"
    return f"{HEALTH}/aa/{aa_id}" if aa_id else HEALTH


def _contrast_path(row: Contrast, found: Incident, view: HealthQuery) -> str:
    """Returns the page of a row's calls; empty where no page has them."""
    if row.aa_id and row.fip_id:
        return pair_path(row.aa_id, row.fip_id) + view.query()
    if row.aa_id and fip_concerned(found.subject) is None:
        return f"{HEALTH}/aa/{row.aa_id}{view.query()}"
    # Of those in one row, the page at the cause lists each.
    return _page_of(found) + view.query() if row.affected is not None else ""


handlers: Final[list[ControllerRouterHandler]] = [incident, act, silence]
