"""Silences of operators (scope health), and the planned maintenances of a member itself."""

from datetime import datetime
from typing import Final
from uuid import UUID

from litestar.handlers import HTTPRouteHandler
from litestar.params import FromPath

from mudra.http.auth.gates import EntityCall, OperatorCall, entity, operator
from mudra.http.request.fields import NoParameters
from mudra.http.request.health_requests import (
    MaintenanceChangeRequest,
    MaintenanceRequest,
    SilenceRequest,
    SilencesParameters,
)
from mudra.http.response import conflicts
from mudra.http.response.alarm_responses import (
    SilenceResponse,
    SilencesResponse,
    own_silence_details,
    silence_details,
)
from mudra.http.route import get, post
from mudra.identity.accounts.people_store import People
from mudra.identity.operators.operator import Scope
from mudra.levels.level_service import LevelService
from mudra.metrics.incidents.silence import Silence, SilenceCommand
from mudra.metrics.incidents.silence_service import SilenceService
from mudra.shared.refusal import Refusal
from mudra.storage.database.transaction import Transaction


@get("/operator/v1/health/silences", "List silences", gate=operator(Scope.HEALTH))
async def silences(call: OperatorCall[SilencesParameters]) -> SilencesResponse:
    """List active and scheduled silences, earliest end first."""
    now = await People(call.tx).now()
    found = await call.tx.service(SilenceService).list(now, past=call.body.past == "true")
    notices = await call.tx.service(LevelService).notices(found)
    return SilencesResponse(silences=[silence_details(one, notices) for one in found])


@post("/operator/v1/health/silences", "Begin a silence", gate=operator(Scope.HEALTH))
async def begin(call: OperatorCall[SilenceRequest]) -> SilenceResponse | Refusal:
    """Stop alarms about an entity, one of its APIs, or the whole network, for some time."""
    begins = call.body.begins if isinstance(call.body.begins, datetime) else None
    command = SilenceCommand(
        call.body.entity_id,
        call.body.type,
        begins,
        call.body.ends,
        call.body.reason,
        call.body.peer_id,
        call.body.maintenance,
    )
    now = await People(call.tx).now()
    outcome = await call.tx.service(SilenceService).begin(command, call.caller, now)
    return await _response(call.tx, outcome)


@post(
    "/operator/v1/health/silences/{silence_id:uuid}/end",
    "End a silence",
    conflicts=conflicts.END_SILENCE,
    gate=operator(Scope.HEALTH),
)
async def end(
    call: OperatorCall[NoParameters], silence_id: FromPath[UUID]
) -> SilenceResponse | Refusal:
    """End a silence now; alarms resume for incidents that continue."""
    now = await People(call.tx).now()
    outcome = await call.tx.service(SilenceService).end(str(silence_id), call.caller, now)
    return await _response(call.tx, outcome)


@get("/maintenance", "List own planned maintenances", gate=entity())
async def own_maintenances(call: EntityCall[NoParameters]) -> SilencesResponse:
    """List the calling entity's active and scheduled maintenances, earliest end first."""
    now = await People(call.tx).now()
    found = await call.tx.service(SilenceService).own(call.entity.entity_id, now)
    notices = await call.tx.service(LevelService).notices(found)
    return SilencesResponse(silences=[own_silence_details(one, notices) for one in found])


@post(
    "/maintenance",
    "Announce an own planned maintenance",
    conflicts=conflicts.MAINTENANCE,
    gate=entity(),
)
async def announce(call: EntityCall[MaintenanceRequest]) -> SilenceResponse | Refusal:
    """Have nothing judged about the calling entity for some time; the public status says so.

    At most 24 hours of it in any seven days. Reports of service levels leave out only what was
    announced as long before as the network's rule says, usually 24 hours.
    """
    begins = call.body.begins if isinstance(call.body.begins, datetime) else None
    command = SilenceCommand(
        call.entity.entity_id, "", begins, call.body.ends, call.body.reason, maintenance=True
    )
    now = await People(call.tx).now()
    outcome = await call.tx.service(SilenceService).announce(command, call.caller, now)
    return await _response(call.tx, outcome)


@post(
    "/maintenance/{silence_id:uuid}",
    "Change an own planned maintenance",
    conflicts=conflicts.CHANGE_MAINTENANCE,
    gate=entity(),
)
async def change(
    call: EntityCall[MaintenanceChangeRequest], silence_id: FromPath[UUID]
) -> SilenceResponse | Refusal:
    """Change a maintenance that the calling entity announced and that has not begun.

    Where it gets a time that was not announced before, it counts as announced now.
    """
    change_, now = call.body.of(call.entity.entity_id), await People(call.tx).now()
    service = call.tx.service(SilenceService)
    outcome = await service.change(str(silence_id), change_, call.caller, now)
    return await _response(call.tx, outcome)


@post(
    "/maintenance/{silence_id:uuid}/end",
    "End an own planned maintenance",
    conflicts=conflicts.END_SILENCE,
    gate=entity(),
)
async def end_own(
    call: EntityCall[NoParameters], silence_id: FromPath[UUID]
) -> SilenceResponse | Refusal:
    """End a maintenance now, also one that has not begun."""
    own, now = call.entity.entity_id, await People(call.tx).now()
    ended = await call.tx.service(SilenceService).end(str(silence_id), call.caller, now, own_of=own)
    if isinstance(ended, Refusal):
        return ended
    notices = await call.tx.service(LevelService).notices([ended])
    return SilenceResponse(silence=own_silence_details(ended, notices))


async def _response(tx: Transaction, outcome: Silence | Refusal) -> SilenceResponse | Refusal:
    if isinstance(outcome, Refusal):
        return outcome
    notices = await tx.service(LevelService).notices([outcome])
    return SilenceResponse(silence=silence_details(outcome, notices))


operator_handlers: Final[list[HTTPRouteHandler]] = [silences, begin, end]
member_handlers: Final[list[HTTPRouteHandler]] = [own_maintenances, announce, change, end_own]
