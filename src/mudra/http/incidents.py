"""Incidents: the operator sees all and acknowledges, members see their own."""

from collections.abc import Sequence
from typing import Final

from litestar import Response, get, post
from litestar.handlers import HTTPRouteHandler

from mudra.audit.event import Act, Caller, EventName
from mudra.http.answer import refusal, success
from mudra.http.bearer import authorization_of
from mudra.http.calling_entity import calling_entity, revoked
from mudra.http.envelope import iso_ms
from mudra.http.errors import NoSuchAddress
from mudra.http.exchange import AnyRequest, new_exchange
from mudra.http.operator_access import operator_refused
from mudra.http.operator_call import operator_call
from mudra.http.service import Injected
from mudra.identity.roster import Scope
from mudra.runtime.work import Work
from mudra.storage.metrics_incidents import StoredIncident, subject_row
from mudra.tokens.check import TokenFacts

_MOST: Final = 500


@get("/operator/v1/incidents")
async def incidents(request: AnyRequest, service: Injected) -> Response[bytes]:
    """The latest incidents; `open=true` for those that are not over, `entityId` for one entity."""
    exchange = new_exchange(request, service)
    refused = await operator_refused(exchange, Scope.HEALTH)
    if refused is not None:
        return refusal(exchange.envelope, refused).response()
    query = request.query_params
    async with service.open_work() as work:
        found = await work.incidents.shown(
            only_open=query.get("open") == "true", entity_id=query.get("entityId"), limit=_MOST
        )
    return success(exchange.envelope, {"incidents": [_shown(one) for one in found]}).response()


@post("/operator/v1/incidents/{incident_id:uuid}/acknowledge", status_code=200)
async def acknowledge(request: AnyRequest, service: Injected) -> Response[bytes]:
    """Note that this operator looks after an incident."""
    exchange = new_exchange(request, service)
    incident_id = str(request.path_params["incident_id"])

    async def act(work: Work, caller: Caller) -> object:
        if not await work.incidents.acknowledge(incident_id, caller.actor):
            return NoSuchAddress()
        await work.journal.note(Act(EventName.METRICS_INCIDENT_ACKNOWLEDGE, caller, incident_id))
        return {"incidentId": incident_id, "acknowledgedBy": caller.actor}

    return await operator_call(exchange, None, Scope.HEALTH, act)


def member_incident_routes(prefixes: Sequence[str]) -> list[HTTPRouteHandler]:
    """Make the handler at every address of the metrics."""

    @get([f"{prefix}/incidents" for prefix in prefixes])
    async def own_incidents(request: AnyRequest, service: Injected) -> Response[bytes]:
        """The latest incidents of the calling entity."""
        exchange = new_exchange(request, service)
        facts = await calling_entity(authorization_of(request), service)
        if not isinstance(facts, TokenFacts):
            return refusal(exchange.envelope, facts).response()
        async with service.open_work() as work:
            ended = await revoked(facts, work)
            found = await work.incidents.shown(
                only_open=False, entity_id=facts.subject, limit=_MOST
            )
        if ended:
            return refusal(exchange.envelope, ended).response()
        return success(exchange.envelope, {"incidents": [_shown(one) for one in found]}).response()

    return [own_incidents]


def _shown(stored: StoredIncident) -> dict[str, object]:
    incident = stored.incident
    subject = subject_row(incident.subject)
    return {
        "incidentId": stored.incident_id,
        "kind": subject["kind"],
        "entityId": subject["entity_id"],
        "type": subject["type"],
        "began": iso_ms(incident.began),
        "lastBad": iso_ms(incident.last_bad),
        "ended": iso_ms(incident.ended) if incident.ended else None,
        "state": incident.ending.value,
        "badWindows": incident.bad_windows,
        "succeeded": incident.succeeded,
        "judged": incident.judged,
        "acknowledgedBy": stored.acknowledged_by,
    }
