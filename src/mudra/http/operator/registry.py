"""/operator/v1/registry: what awaits approval, an entry's history, decisions on both."""

from typing import Final

from litestar.params import FromPath
from litestar.types import ControllerRouterHandler

from mudra.http.auth.gates import OperatorCall, operator
from mudra.http.operator.shapes import DecisionRequest
from mudra.http.registry.query import read_moment
from mudra.http.request.fields import NoParameters
from mudra.http.response.http_refusals import InvalidField
from mudra.http.response.probe_responses import ProbeResponse, probe_response
from mudra.http.response.registry_record import (
    DecisionResponse,
    PendingEntriesResponse,
    RecordResponse,
    decision_response,
    pending_response,
    record_response,
)
from mudra.http.route import get, post
from mudra.identity.accounts.people_store import People
from mudra.identity.operators.operator import Scope
from mudra.registry.lifecycle import actor
from mudra.registry.lifecycle.decision import Decision, RegistryAction
from mudra.registry.lifecycle.pending_entries import MAX_PENDING
from mudra.registry.lifecycle.pending_entry_store import PendingEntries
from mudra.registry.lifecycle.refusal import unknown_entity
from mudra.registry.lifecycle.register import Command, decide
from mudra.registry.ports import Registry
from mudra.registry.probe.probe import Probe, not_probed
from mudra.registry.probe.probe_service import ProbeService
from mudra.shared.refusal import Refusal


@get("/registry/waiting", "List what waits for approval", gate=operator(Scope.REGISTRY))
async def waiting(call: OperatorCall[NoParameters]) -> PendingEntriesResponse | Refusal:
    """List pending versions, the longest waiting first, 1,000 at most, each with its changes."""
    return pending_response(await PendingEntries(call.tx).waiting(MAX_PENDING))


@get(
    "/registry/entries/{entity_id:str}",
    "Show the history of an entry",
    gate=operator(Scope.REGISTRY),
)
async def history(
    call: OperatorCall[NoParameters], entity_id: FromPath[str]
) -> RecordResponse | Refusal:
    """Show the newest 200 versions of an entry with who, when and what each changed, and its keys.

    The live and the pending version are always among them. Where the first version shown is
    not 1, there are older ones; the first key may have been live before.
    """
    record = await call.tx.service(Registry).history(entity_id)
    return unknown_entity(entity_id) if record is None else record_response(record)


@post(
    "/registry/entries/{entity_id:str}/decide",
    "Decide on an entry",
    conflict=True,
    gate=operator(Scope.REGISTRY),
)
async def decide_on(
    call: OperatorCall[DecisionRequest], entity_id: FromPath[str]
) -> DecisionResponse | Refusal:
    """Approve (now or from `goesLiveAt`), reject, suspend, restore, retire or roll back."""
    goes_live_at = read_moment(call.body.goes_live_at or None, "goesLiveAt")
    if isinstance(goes_live_at, InvalidField):
        return goes_live_at
    caller, user_id = call.caller, call.operator.user_id
    user = await People(call.tx).by_id(user_id) if user_id else None
    administers = user.administers if user else ()
    acting = actor.operator(
        *(caller.actor, caller.address, caller.txn_id), user_id=user_id, administers=administers
    )
    action = RegistryAction(call.body.act)
    outcome = await decide(
        call.tx.service(Registry),
        Command(action, entity_id, acting, call.body.reason, call.body.version, goes_live_at),
    )
    return decision_response(outcome) if isinstance(outcome, Decision) else outcome


@post(
    "/registry/entries/{entity_id:str}/probe",
    "Probe the base URL of an entry",
    conflict=True,
    gate=operator(Scope.REGISTRY),
)
async def probe(
    call: OperatorCall[NoParameters], entity_id: FromPath[str]
) -> ProbeResponse | Refusal:
    """Have the base URL of the pending version called, else of the live one; GET has the result.

    Whether it answers, by which certificate, and whether it holds the registered key. An approval
    does not depend on it.
    """
    found = await call.tx.service(ProbeService).request(entity_id, call.caller)
    return probe_response(found) if isinstance(found, Probe) else found


@get(
    "/registry/entries/{entity_id:str}/probe",
    "Show the latest probe of an entry",
    gate=operator(Scope.REGISTRY),
)
async def show_probe(
    call: OperatorCall[NoParameters], entity_id: FromPath[str]
) -> ProbeResponse | Refusal:
    """Show what the latest probe found; without `doneAt` it is not done yet."""
    found = await call.tx.service(ProbeService).probes.latest(entity_id)
    return not_probed(entity_id) if found is None else probe_response(found)


handlers: Final[list[ControllerRouterHandler]] = [waiting, history, decide_on, probe, show_probe]
