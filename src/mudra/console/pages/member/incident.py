"""One incident for a member that it concerns: state, cause, windows, what was done, what to do."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final
from uuid import UUID

from litestar.params import FromPath
from litestar.types import ControllerRouterHandler
from msgspec import Struct

from mudra.console.disputes.labels import STATES
from mudra.console.disputes.member_disputes import contest_path, dispute_path
from mudra.console.framework import page
from mudra.console.framework.navigation import member_path
from mudra.console.framework.page_context import PageContext
from mudra.console.framework.page_results import Download, Outcome, RenderedPage
from mudra.console.health.health_query import HealthQuery, shown_codes, view_of
from mudra.console.health.incident_state import state_now
from mudra.console.health.labels import SEVERITY_TONES, headline, state_label
from mudra.console.health.over_time import (
    LATER,
    OVER_TIME,
    PART,
    latest_windows,
    of_incident,
    over_time,
)
from mudra.console.timeline.timeline_pages import changed_before, reader_of
from mudra.disputes.dispute import State
from mudra.disputes.dispute_service import DisputeService
from mudra.http.auth.gates import READER
from mudra.localization.language import gettext, ngettext, translatable
from mudra.metrics.health.api_names import api_names
from mudra.metrics.health.health_service import HealthService
from mudra.metrics.incidents.explanation import changed_by, may_see
from mudra.metrics.incidents.incident import AaReporting, Ending, Incident, StoredIncident, seen_at
from mudra.metrics.incidents.incident import TimelineChange as Change
from mudra.metrics.incidents.incident_service import IncidentService, NoSuchIncident
from mudra.metrics.incidents.subject import aa_concerned, codes_of, fip_concerned, in_sentence
from mudra.metrics.notifications.alarm import ambiguity, counted_text
from mudra.metrics.notifications.severity import severity_of
from mudra.metrics.rollup.percentage import percentage
from mudra.shared.entity_type import EntityType
from mudra.shared.refusal import Refusal

INCIDENTS: Final = "health/incidents"
"""The pages of incidents, below that of an entity."""
_CHANGES: Final = {
    Change.OPENED: translatable("Detected by Mudra: %(cause)s"),
    Change.REOPENED: translatable("Bad again: %(cause)s"),
    Change.GREW: translatable("Another symptom: %(cause)s"),
    Change.SHRANK: translatable("Fewer symptoms: %(cause)s"),
    Change.MOVED: translatable("The cause is now known better: %(cause)s"),
    Change.CORRECTED: translatable("Late reports show: %(cause)s"),
    Change.MERGED: translatable("Part of another incident with the same cause"),
    Change.CLOSED: translatable("Closed: recovered"),
    Change.NO_DATA: translatable("Closed: no data came"),
    Change.CHANGED: translatable("Closed: changed for good, no outage"),
    Change.WITHDRAWN: translatable("Withdrawn: late reports show that there was no incident"),
}


class OwnCalls(Struct, frozen=True):
    """The calls, and what a heading calls them; `aa_id` and `fip_id` are None for all."""

    aa_id: str | None
    fip_id: str | None
    text: str


class Happened(Struct, frozen=True):
    """One line of the timeline."""

    at: datetime
    text: str


def incident_path(entity_id: str, stored: StoredIncident) -> str:
    """Returns the page of an incident for a member."""
    return member_path(entity_id, f"{INCIDENTS}/{stored.incident_id}")


@page.get("/entity/{entity_id:str}/health/incidents/{incident_id:uuid}", gate=READER, reads=True)
async def incident(page_context: PageContext, incident_id: FromPath[UUID]) -> Outcome:
    """Show an incident that concerns the entity; any other is unknown here."""
    member = page_context.member
    stored = await page_context.tx.service(IncidentService).find(str(incident_id))
    if isinstance(stored, Refusal):
        return stored
    of_fips = member.entity_type == EntityType.FIU.value
    if not may_see(stored.incident, member.entity_id, of_fips=of_fips):
        return NoSuchIncident()
    codes = shown_codes(stored.incident)
    view = view_of(stored.incident, codes, page_context.now)
    names = await page_context.tx.service(HealthService).names()
    kind = EntityType(member.entity_type)
    calls = own_calls_of(stored.incident, member.entity_id, kind, names)
    charts = await _charts(page_context, stored.incident, calls, view)
    if isinstance(charts, Download):
        return charts
    if OVER_TIME.is_part(page_context.query):
        return RenderedPage(PART, {**charts, "leading": view})
    facts = {
        **charts,
        **await _state(page_context, stored, names),
        "latest": await latest_windows(
            page_context, stored.incident, codes, aa_id=calls.aa_id, fip_id=calls.fip_id
        )
        if calls
        else (),
        "calls": calls,
        "percent": percentage,
        "all_figures": member_path(member.entity_id, "health") + view.query(),
        "view": view,
        "leading": view,
    }
    return RenderedPage("member_incident.html", facts)


async def _state(
    page_context: PageContext, stored: StoredIncident, names: Mapping[str, str]
) -> Mapping[str, object]:
    found = stored.incident
    health = page_context.tx.service(HealthService)
    judged_until = await health.judged_until()
    state = state_now(stored, judged_until, page_context.now)
    return {
        "stored": stored,
        "incident": found,
        "headline": headline(found, names, recovering=state.recovering),
        "state": state_label(stored, recovering=state.recovering),
        "state_now": state,
        "judged_until": judged_until,
        "severity": severity_of(found).value,
        "severity_tone": SEVERITY_TONES[severity_of(found)],
        "ambiguity": ambiguity(found, names),
        "changed_by": changed_by(found),
        "counted": counted_text(found) if state.tone == "bad" else "",
        "seen_by": seen_by(found, page_context.member.entity_id),
        "apis": ""
        if codes_of(found.subject)  # the headline has them
        else api_names(",".join(sorted(found.cause.affected_apis))),
        "reporting": isinstance(found.subject, AaReporting),
        "happened": happened(stored, names),
        "names": names,
        "changed": await changed_before(page_context, found, reader_of(page_context)),
        "of_all_aas": page_context.member.entity_type == EntityType.AA.value
        and aa_concerned(found.subject) is None,
        **await _contested(page_context, stored),
    }


async def _contested(page_context: PageContext, stored: StoredIncident) -> Mapping[str, object]:
    """Returns the member's disputes and comments of an incident, and where to make one."""
    own, about = page_context.member.entity_id, stored.incident_id
    found = await page_context.tx.service(DisputeService).list(of=own, incident_id=about)
    disputed = [one for one in found if one.state is not State.WITHDRAWN]
    kind = {"kind": "comment"} if disputed else {}
    return {
        "disputed": [(one, STATES[one.state], dispute_path(one)) for one in disputed],
        "contest": contest_path(own, about="incident", incident_id=about, **kind),
    }


async def _charts(
    page_context: PageContext, found: Incident, calls: OwnCalls | None, view: HealthQuery
) -> Mapping[str, object] | Download:
    if calls is None or OVER_TIME.comes_later(page_context.query):
        return LATER
    return await over_time(
        page_context,
        view,
        aa_id=calls.aa_id,
        fip_id=calls.fip_id,
        codes=shown_codes(found),
        blame=of_incident(found),
    )


def own_calls_of(
    found: Incident, entity_id: str, kind: EntityType, names: Mapping[str, str]
) -> OwnCalls | None:
    """Returns the calls that concern a member; None of an agent, of which no calls are known.

    An AA sees its own calls, a FIP those that it receives: none of a third party alone.
    """
    if isinstance(found.subject, AaReporting):
        return None
    aa_id, fip_id = aa_concerned(found.subject), fip_concerned(found.subject)
    fip = names.get(fip_id, fip_id) if fip_id else ""
    if kind is EntityType.AA:
        text = gettext("Your calls to %(fip)s", fip=fip) if fip_id else gettext("Your calls")
        return OwnCalls(entity_id, fip_id, text)
    if kind is EntityType.FIP:
        of_pair = aa_id if fip_id == entity_id else None
        return OwnCalls(of_pair, entity_id, gettext("Calls to you"))
    text = gettext("Calls of all AAs to %(fip)s", fip=fip) if fip_id else gettext("All calls")
    return OwnCalls(None, fip_id, text)


def seen_by(found: Incident, entity_id: str) -> str:
    """Returns how many AAs see it, and whether this member is one; others are not named."""
    aas = found.cause.affected_aas
    others = len(set(aas) - {entity_id})
    if not aas:
        return ""
    is_over = found.ended is not None
    if entity_id not in aas:
        if is_over:
            return ngettext("%(num)s AA saw it.", "%(num)s AAs saw it.", others)
        return ngettext(
            "%(num)s AA has seen it since it began.",
            "%(num)s AAs have seen it since it began.",
            others,
        )
    if not others:
        only = translatable("Of all AAs only you see it.")
        return gettext(translatable("Of all AAs only you saw it.") if is_over else only)
    if is_over:
        return ngettext(
            "You and %(num)s other AA saw it.", "You and %(num)s other AAs saw it.", others
        )
    return ngettext(
        "You and %(num)s other AA have seen it since it began.",
        "You and %(num)s other AAs have seen it since it began.",
        others,
    )


def happened(stored: StoredIncident, names: Mapping[str, str]) -> Sequence[Happened]:
    """Returns what happened, the oldest first: by the evidence, and that the operator took it."""
    found = stored.incident
    lines = [Happened(found.began, gettext("First bad window"))]
    lines += [
        Happened(
            seen_at(found, one),
            gettext(_CHANGES[one.change], cause=in_sentence(one.subject, names)),
        )
        for one in found.timeline
    ]
    if stored.acknowledged_at is not None:
        taken = gettext("The operator of the network works on it")
        lines.append(Happened(stored.acknowledged_at, taken))
    if found.ended is not None and found.ending is Ending.RECOVERED:
        lines.append(Happened(found.ended, gettext("Good again")))
    return sorted(lines, key=lambda line: line.at)


handlers: Final[list[ControllerRouterHandler]] = [incident]
