"""An incident on the public status: announced in one step from its page, then updated there."""

from typing import Final
from uuid import UUID

from litestar.params import FromPath
from litestar.types import ControllerRouterHandler

from mudra.console.framework import page
from mudra.console.framework.page import Fields
from mudra.console.framework.page_context import PageContext
from mudra.console.framework.page_results import GoTo, Outcome
from mudra.console.health.labels import operator_path_of
from mudra.console.pages.operator.health.announcements import (
    announcement_refused,
    more_languages,
    update_command,
)
from mudra.console.pages.operator.health.incident import Refused, incident_page
from mudra.console.pages.operator.health.incident_public import network_zone
from mudra.http.auth.gates import operator
from mudra.http.request.body.request_body import TEXT_LIMITS
from mudra.identity.operators.operator import Scope
from mudra.metrics.announcements.announcement import (
    AnnouncementCommand,
    Kind,
    NoSuchAnnouncement,
    State,
    Translation,
)
from mudra.metrics.announcements.announcement_service import AnnouncementService
from mudra.metrics.announcements.incident_draft import draft_of
from mudra.metrics.health.health_service import HealthService
from mudra.metrics.incidents.incident import StoredIncident
from mudra.metrics.incidents.incident_service import IncidentService
from mudra.shared.refusal import Refusal

ANNOUNCE: Final = "announce"
UPDATE: Final = "update"


@page.post(
    "/operator/incidents/{incident_id:uuid}/announce",
    gate=operator(Scope.HEALTH),
    limits=TEXT_LIMITS,
)
async def announce(
    page_context: PageContext, fields: Fields, incident_id: FromPath[UUID]
) -> Outcome:
    """Publish an announcement about an incident, about the institution at its cause."""
    tx, now = page_context.tx, page_context.now
    stored = await tx.service(IncidentService).find(str(incident_id))
    if isinstance(stored, Refusal):
        return stored
    public = await tx.service(HealthService).onboarded_fips()
    draft = draft_of(stored.incident, {}, public, network_zone(page_context))
    command = AnnouncementCommand(
        Kind.INCIDENT,
        fields.get("title", ""),
        fields.get("text", ""),
        tuple(
            Translation(tag, fields.get(f"title_{tag}", ""), fields.get(f"text_{tag}", ""))
            for tag in (one.tag for one in more_languages(page_context))
        ),
        draft.fip_ids,
        begins=draft.begins,
        incident_id=stored.incident_id,
    )
    outcome = await tx.service(AnnouncementService).publish(command, page_context.caller, now)
    if isinstance(outcome, Refusal):
        return await _again(page_context, stored, ANNOUNCE, outcome, fields)
    return GoTo(f"{operator_path_of(stored)}?told={ANNOUNCE}")


@page.post(
    "/operator/incidents/{incident_id:uuid}/update",
    gate=operator(Scope.HEALTH),
    limits=TEXT_LIMITS,
)
async def update(page_context: PageContext, fields: Fields, incident_id: FromPath[UUID]) -> Outcome:
    """Add an update to the announcement of an incident; its subscribers get it."""
    tx, now = page_context.tx, page_context.now
    stored = await tx.service(IncidentService).find(str(incident_id))
    if isinstance(stored, Refusal):
        return stored
    service = tx.service(AnnouncementService)
    found = await service.about(stored.incident_id, now)
    shown = [one.announcement_id for one in found if one.state(now) is not State.OVER]
    if not shown:
        return NoSuchAnnouncement()
    outcome = await service.update(
        shown[0], update_command(page_context, fields), page_context.caller, now
    )
    if isinstance(outcome, Refusal):
        return await _again(page_context, stored, UPDATE, outcome, fields)
    return GoTo(f"{operator_path_of(stored)}?told={UPDATE}")


async def _again(
    page_context: PageContext, stored: StoredIncident, form: str, refusal: Refusal, fields: Fields
) -> Outcome:
    shown = announcement_refused(fields, refusal)
    refused = Refused(form, shown.problem, shown.status, typed=shown.typed)
    return await incident_page(page_context, stored.incident_id, refused)


handlers: Final[list[ControllerRouterHandler]] = [announce, update]
