"""Silences: started and ended on the page of incidents."""

from datetime import datetime
from typing import Final
from uuid import UUID

from litestar.params import FromPath
from litestar.types import ControllerRouterHandler

from mudra.console.framework import page
from mudra.console.framework.page import Fields
from mudra.console.framework.page_context import PageContext
from mudra.console.framework.page_results import GoTo, Outcome, RenderedPage
from mudra.console.health.callable_members import callees
from mudra.console.health.silence_form import LENGTHS, SilenceForm, refused_form, times_of
from mudra.console.health.tables import incidents_table
from mudra.console.pages.operator.health.incident_list_acts import assigned_text
from mudra.http.auth.gates import operator
from mudra.http.response.http_refusals import InvalidField
from mudra.identity.operators.operator import Scope
from mudra.levels.level_service import LevelService
from mudra.localization.language import gettext, translatable
from mudra.metrics.health.api_names import api_name
from mudra.metrics.health.health_service import HealthService
from mudra.metrics.incidents.acts.act_service import IncidentActService
from mudra.metrics.incidents.incident import Subject
from mudra.metrics.incidents.incident_service import IncidentService
from mudra.metrics.incidents.silence import CODES, Silence, SilenceCommand
from mudra.metrics.incidents.silence_service import SilenceService
from mudra.metrics.incidents.subject import name_of
from mudra.metrics.payload.catalogue import CALL_CODES
from mudra.shared.refusal import Refusal

_PAGE: Final = "/console/operator/incidents"
_MAX_COUNT: Final = 1000
MAX_OWNERS: Final = 200
"""Operators among whom an owner is chosen."""
_MESSAGES: Final = {
    "silenced": translatable("Silence started."),
    "ended": translatable("Silence ended. Alerts resume for incidents that continue."),
    "maintenance": translatable("Maintenance started."),
    "maintenance-ended": translatable("Maintenance ended. Incidents open again."),
}


async def incidents_page(page_context: PageContext, form: SilenceForm) -> Outcome:
    """Shows the list of incidents with the silences, and the form for another one."""
    done = page_context.query.get("told", "")
    only_open = page_context.query.get("open") == "true"
    found = page_context.tx.service(IncidentService)
    to_handle = await found.to_handle(limit=_MAX_COUNT)
    rows = to_handle if only_open else await found.latest(limit=_MAX_COUNT)
    called = await callees(page_context.tx, [one for one in rows if one.is_open])
    names = await page_context.tx.service(HealthService).names()
    table = incidents_table(names, callees=called, now=page_context.now)
    export = table.export(rows, page_context.query)
    if export is not None:
        return export
    silences = await page_context.tx.service(SilenceService).list(page_context.now)
    facts = {
        "view": table.view(rows, page_context.query),
        "only_open": only_open,
        "open_count": len(to_handle),
        "silences": silences,
        "notices": await page_context.tx.service(LevelService).notices(silences),
        "apis": {code: api_name(code) for code in CALL_CODES},
        "lengths": LENGTHS,
        "member_names": names,
        "form": form,
        "message": gettext(_MESSAGES.get(done, "")) or assigned_text(done),
        "owners": (await page_context.tx.service(IncidentActService).owners())[:MAX_OWNERS],
    }
    return RenderedPage("incidents.html", facts, form.status)


def silence_about(subject: Subject, ends: datetime, reason: str) -> SilenceCommand:
    """Returns the silence of alarms about a subject from now on."""
    name = name_of(subject)
    code = name.type if name.type in CODES else ""
    return SilenceCommand(name.entity_id, code, None, ends, reason, name.peer_id)


@page.post("/operator/silences", gate=operator(Scope.HEALTH))
async def begin(page_context: PageContext, fields: Fields) -> Outcome:
    """Start a silence, now or later."""
    command = _command(fields, page_context.now)
    if isinstance(command, Refusal):
        return await _again(page_context, fields, command)
    outcome = await page_context.tx.service(SilenceService).begin(
        command, page_context.caller, page_context.now
    )
    if isinstance(outcome, Refusal):
        return await _again(page_context, fields, outcome)
    return GoTo(f"{_PAGE}?told={'maintenance' if outcome.maintenance else 'silenced'}")


def _command(fields: Fields, now: datetime) -> SilenceCommand | InvalidField:
    times = times_of(fields, LENGTHS)
    if isinstance(times, InvalidField):
        return times
    return SilenceCommand(
        fields.get("entity_id", "").strip(),
        fields.get("type", ""),
        times.begins,
        times.ends(now),
        fields.get("reason", ""),
        fields.get("peer_id", "").strip(),
        maintenance=fields.get("maintenance", "") == "yes",
    )


async def _again(page_context: PageContext, fields: Fields, refusal: Refusal) -> Outcome:
    """Shows the form with what was typed, and what is wrong with it."""
    return await incidents_page(page_context, refused_form(fields, refusal))


@page.post("/operator/silences/{silence_id:uuid}/end", gate=operator(Scope.HEALTH))
async def end(page_context: PageContext, _: Fields, silence_id: FromPath[UUID]) -> Outcome:
    """End a silence now."""
    outcome = await page_context.tx.service(SilenceService).end(
        str(silence_id), page_context.caller, page_context.now
    )
    if not isinstance(outcome, Silence):
        return outcome
    return GoTo(f"{_PAGE}?told={'maintenance-ended' if outcome.maintenance else 'ended'}")


handlers: Final[list[ControllerRouterHandler]] = [begin, end]
