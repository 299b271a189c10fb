"""The disputes of a member: raised by its admins, and seen by its readers too."""

from typing import Final
from uuid import UUID

from litestar.params import FromPath
from litestar.types import ControllerRouterHandler

from mudra.disputes.dispute import Dispute
from mudra.disputes.dispute_service import DisputeService, NoSuchDispute
from mudra.http.auth.gates import SIGNED_IN, UserCall
from mudra.http.disputes.requests import (
    EVIDENCE_LIMITS,
    DisputeRequest,
    DisputesQuery,
    EvidenceRequest,
    MemberStepRequest,
)
from mudra.http.disputes.responses import (
    DisputeResponse,
    DisputesResponse,
    EvidenceContentResponse,
    EvidenceResponse,
    case_response,
    content_response,
    disputes_response,
    evidence_details,
)
from mudra.http.request.body.request_body import TEXT_LIMITS
from mudra.http.request.fields import NoParameters
from mudra.http.response import conflicts
from mudra.http.route import get, post
from mudra.identity.accounts.people_store import People
from mudra.identity.memberships.member import NotYourEntity
from mudra.shared.refusal import Refusal


@get("/entity/disputes", "List the entity's disputes", gate=SIGNED_IN)
async def own_disputes(call: UserCall[DisputesQuery]) -> DisputesResponse | Refusal:
    """List the comments and disputes of an entity that you administer or read."""
    if not call.user.sees(call.body.entity_id):
        return NotYourEntity()
    return disputes_response(
        await call.tx.service(DisputeService).list(
            of=call.body.entity_id, only_open=call.body.open == "true"
        )
    )


@post(
    "/entity/disputes",
    "Raise a dispute, or publish a comment",
    conflicts=conflicts.RAISE,
    gate=SIGNED_IN,
    limits=TEXT_LIMITS,
)
async def raise_own(call: UserCall[DisputeRequest]) -> DisputeResponse | Refusal:
    """Contest or comment on an incident, a day, or one API over some days, of your own entity.

    What ended more than 62 days ago can no longer be contested. The token is that of an admin of
    `entityId`, and the incident one of its own.
    """
    asked = call.body
    if asked.entity_id not in call.user.administers:
        return NotYourEntity()
    command = asked.command()
    if isinstance(command, Refusal):
        return command
    service, now = call.tx.service(DisputeService), await People(call.tx).now()
    return await _shown(service, await service.begin(asked.entity_id, command, call.caller, now))


@get("/entity/disputes/{dispute_id:uuid}", "Show an own dispute", gate=SIGNED_IN)
async def own_dispute(
    call: UserCall[NoParameters], dispute_id: FromPath[UUID]
) -> DisputeResponse | Refusal:
    """Show a dispute of an entity that you administer or read, with its steps and files."""
    return await _shown(call.tx.service(DisputeService), await _seen(call, dispute_id))


@post(
    "/entity/disputes/{dispute_id:uuid}/steps",
    "Take a step in an own dispute",
    conflicts=conflicts.OWN_STEP,
    gate=SIGNED_IN,
    limits=TEXT_LIMITS,
)
async def own_step(
    call: UserCall[MemberStepRequest], dispute_id: FromPath[UUID]
) -> DisputeResponse | Refusal:
    """Add to the statement, answer the operator's question, or withdraw the dispute."""
    found = await _administered(call, dispute_id)
    if isinstance(found, Refusal):
        return found
    service, now = call.tx.service(DisputeService), await People(call.tx).now()
    outcome = await service.step(
        found.dispute_id, call.body.command, call.caller, now, of=found.entity_id
    )
    return await _shown(service, outcome)


@post(
    "/entity/disputes/{dispute_id:uuid}/evidence",
    "Attach a file to an own dispute",
    conflicts=conflicts.ATTACH,
    gate=SIGNED_IN,
    limits=EVIDENCE_LIMITS,
)
async def attach(
    call: UserCall[EvidenceRequest], dispute_id: FromPath[UUID]
) -> EvidenceResponse | Refusal:
    """Attach a PDF, a picture or a text of at most 2 MiB; five files at most."""
    found = await _administered(call, dispute_id)
    if isinstance(found, Refusal):
        return found
    content = call.body.read()
    if isinstance(content, Refusal):
        return content
    added = await call.tx.service(DisputeService).attach(
        *(found.dispute_id, call.body.name, content, call.caller, await People(call.tx).now()),
        of=found.entity_id,
    )
    return (
        added if isinstance(added, Refusal) else EvidenceResponse(evidence=evidence_details(added))
    )


@get(
    "/entity/disputes/{dispute_id:uuid}/evidence/{evidence_id:uuid}",
    "Read a file of an own dispute",
    gate=SIGNED_IN,
)
async def own_evidence(
    call: UserCall[NoParameters], dispute_id: FromPath[UUID], evidence_id: FromPath[UUID]
) -> EvidenceContentResponse | Refusal:
    """Return a file with its content; the reading is audited."""
    found = await _seen(call, dispute_id)
    if isinstance(found, Refusal):
        return found
    read = await call.tx.service(DisputeService).read(found, str(evidence_id), call.caller)
    return read if isinstance(read, Refusal) else content_response(*read)


async def _seen(call: UserCall[NoParameters], dispute_id: UUID) -> Dispute | NoSuchDispute:
    """Return a dispute whose member the caller sees; another is unknown here."""
    found = await call.tx.service(DisputeService).find(str(dispute_id))
    if isinstance(found, Dispute) and call.user.sees(found.entity_id):
        return found
    return NoSuchDispute()


async def _administered(
    call: UserCall[MemberStepRequest] | UserCall[EvidenceRequest], dispute_id: UUID
) -> Dispute | NoSuchDispute | NotYourEntity:
    """Return a dispute whose member the caller administers; a reader is refused by name."""
    found = await call.tx.service(DisputeService).find(str(dispute_id))
    if isinstance(found, NoSuchDispute) or not call.user.sees(found.entity_id):
        return NoSuchDispute()
    return found if found.entity_id in call.user.administers else NotYourEntity()


async def _shown(service: DisputeService, outcome: Dispute | Refusal) -> DisputeResponse | Refusal:
    if isinstance(outcome, Refusal):
        return outcome
    return case_response(await service.case(outcome))


handlers: Final[list[ControllerRouterHandler]] = [
    own_disputes,
    raise_own,
    own_dispute,
    own_step,
    attach,
    own_evidence,
]
