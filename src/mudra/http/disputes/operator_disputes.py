"""The disputes of all members, for operators with the scope health: they answer and decide."""

from typing import Final
from uuid import UUID

from litestar.handlers import HTTPRouteHandler
from litestar.params import FromPath

from mudra.disputes.dispute_service import DisputeService
from mudra.http.auth.gates import OperatorCall, operator
from mudra.http.disputes.requests import AllDisputesQuery, OperatorStepRequest
from mudra.http.disputes.responses import (
    DisputeResponse,
    DisputesResponse,
    EvidenceContentResponse,
    case_response,
    content_response,
    disputes_response,
)
from mudra.http.request.body.request_body import TEXT_LIMITS
from mudra.http.request.fields import NoParameters
from mudra.http.response import conflicts
from mudra.http.route import get, post
from mudra.identity.accounts.people_store import People
from mudra.identity.operators.operator import Scope
from mudra.shared.refusal import Refusal


@get("/operator/v1/disputes", "List disputes", gate=operator(Scope.HEALTH))
async def disputes(call: OperatorCall[AllDisputesQuery]) -> DisputesResponse:
    """List the comments and disputes of all members, of one, or about one incident."""
    asked = call.body
    return disputes_response(
        await call.tx.service(DisputeService).list(
            of=asked.entity_id, incident_id=asked.incident_id, only_open=asked.open == "true"
        )
    )


@get("/operator/v1/disputes/{dispute_id:uuid}", "Show a dispute", gate=operator(Scope.HEALTH))
async def dispute(
    call: OperatorCall[NoParameters], dispute_id: FromPath[UUID]
) -> DisputeResponse | Refusal:
    """Show a dispute with its steps, its files and its corrections."""
    service = call.tx.service(DisputeService)
    found = await service.find(str(dispute_id))
    return found if isinstance(found, Refusal) else case_response(await service.case(found))


@post(
    "/operator/v1/disputes/{dispute_id:uuid}/steps",
    "Take a step in a dispute",
    conflicts=conflicts.DECIDE_DISPUTE,
    gate=operator(Scope.HEALTH),
    limits=TEXT_LIMITS,
)
async def step(
    call: OperatorCall[OperatorStepRequest], dispute_id: FromPath[UUID]
) -> DisputeResponse | Refusal:
    """Review a dispute, ask or answer its member, accept it wholly or partly, reject or reopen it.

    An acceptance makes corrections, by which figures count differently; none is deleted.
    """
    service, now = call.tx.service(DisputeService), await People(call.tx).now()
    outcome = await service.step(str(dispute_id), call.body.command, call.caller, now)
    return outcome if isinstance(outcome, Refusal) else case_response(await service.case(outcome))


@get(
    "/operator/v1/disputes/{dispute_id:uuid}/evidence/{evidence_id:uuid}",
    "Read a file of a dispute",
    gate=operator(Scope.HEALTH),
)
async def evidence(
    call: OperatorCall[NoParameters], dispute_id: FromPath[UUID], evidence_id: FromPath[UUID]
) -> EvidenceContentResponse | Refusal:
    """Return a file with its content; the reading is audited."""
    service = call.tx.service(DisputeService)
    found = await service.find(str(dispute_id))
    if isinstance(found, Refusal):
        return found
    read = await service.read(found, str(evidence_id), call.caller)
    return read if isinstance(read, Refusal) else content_response(*read)


handlers: Final[list[HTTPRouteHandler]] = [disputes, dispute, step, evidence]
