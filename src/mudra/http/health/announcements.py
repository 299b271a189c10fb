"""Announcements on the public status, by operators with the scope health."""

from datetime import datetime
from typing import Final
from uuid import UUID

from litestar.handlers import HTTPRouteHandler
from litestar.params import FromPath

from mudra.http.auth.gates import OperatorCall, operator
from mudra.http.request.announcement_requests import (
    AnnouncementRequest,
    AnnouncementsParameters,
    UpdateRequest,
)
from mudra.http.request.body.request_body import TEXT_LIMITS
from mudra.http.request.fields import NoParameters
from mudra.http.response import conflicts
from mudra.http.response.announcement_responses import (
    AnnouncementResponse,
    AnnouncementsResponse,
    announcement_details,
)
from mudra.http.route import get, post
from mudra.identity.accounts.people_store import People
from mudra.identity.operators.operator import Scope
from mudra.metrics.announcements.announcement import Announcement
from mudra.metrics.announcements.announcement_service import AnnouncementService
from mudra.metrics.incidents.incident_service import IncidentService
from mudra.shared.refusal import Refusal


@get("/operator/v1/announcements", "List announcements", gate=operator(Scope.HEALTH))
async def announcements(call: OperatorCall[AnnouncementsParameters]) -> AnnouncementsResponse:
    """List what the public status shows or will show, the last published first."""
    now = await People(call.tx).now()
    found = await call.tx.service(AnnouncementService).list(now, past=call.body.past == "true")
    return AnnouncementsResponse(announcements=[announcement_details(one, now) for one in found])


@post(
    "/operator/v1/announcements",
    "Publish an announcement",
    conflicts=conflicts.ANNOUNCE,
    gate=operator(Scope.HEALTH),
    limits=TEXT_LIMITS,
)
async def publish(call: OperatorCall[AnnouncementRequest]) -> AnnouncementResponse | Refusal:
    """Show a text on the public status, now or later, and send it to subscribers once."""
    now = await People(call.tx).now()
    if call.body.incident_id:
        about = await call.tx.service(IncidentService).find(call.body.incident_id)
        if isinstance(about, Refusal):
            return about
    outcome = await call.tx.service(AnnouncementService).publish(
        call.body.command, call.caller, now
    )
    return _response(outcome, now)


@post(
    "/operator/v1/announcements/{announcement_id:uuid}",
    "Change an announcement",
    conflicts=conflicts.CHANGE_ANNOUNCEMENT,
    gate=operator(Scope.HEALTH),
    limits=TEXT_LIMITS,
)
async def change(
    call: OperatorCall[AnnouncementRequest], announcement_id: FromPath[UUID]
) -> AnnouncementResponse | Refusal:
    """Replace one that is not over, wholly: what is left out is removed. It is not sent again.

    Without `kind` it becomes information, without `fipIds` it concerns the whole network, and
    translations and times that are left out are gone. `publishAt` stays if left out.
    """
    now, which = await People(call.tx).now(), str(announcement_id)
    outcome = await call.tx.service(AnnouncementService).change(
        which, call.body.command, call.caller, now
    )
    return _response(outcome, now)


@post(
    "/operator/v1/announcements/{announcement_id:uuid}/updates",
    "Add an update to an announcement",
    conflicts=conflicts.ADD_UPDATE,
    gate=operator(Scope.HEALTH),
    limits=TEXT_LIMITS,
)
async def update(
    call: OperatorCall[UpdateRequest], announcement_id: FromPath[UUID]
) -> AnnouncementResponse | Refusal:
    """Add a text to one that is shown, and send it to subscribers; `ends` moves it to the past."""
    now, which = await People(call.tx).now(), str(announcement_id)
    outcome = await call.tx.service(AnnouncementService).update(
        which, call.body.command, call.caller, now
    )
    return _response(outcome, now)


@post(
    "/operator/v1/announcements/{announcement_id:uuid}/end",
    "End an announcement",
    conflicts=conflicts.CHANGE_ANNOUNCEMENT,
    gate=operator(Scope.HEALTH),
)
async def end(
    call: OperatorCall[NoParameters], announcement_id: FromPath[UUID]
) -> AnnouncementResponse | Refusal:
    """Move one to the history now; one that is scheduled is never published."""
    now = await People(call.tx).now()
    return _response(
        await call.tx.service(AnnouncementService).end(str(announcement_id), call.caller, now), now
    )


def _response(outcome: Announcement | Refusal, now: datetime) -> AnnouncementResponse | Refusal:
    if isinstance(outcome, Refusal):
        return outcome
    return AnnouncementResponse(announcement=announcement_details(outcome, now))


operator_handlers: Final[list[HTTPRouteHandler]] = [announcements, publish, change, update, end]
