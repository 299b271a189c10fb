"""/sandbox/v1/faults: list, switch on, end. An entity's admin its own, an operator any."""

from typing import Final

from litestar import Response
from litestar import get as framework_get
from litestar.params import FromPath
from litestar.types import ControllerRouterHandler

from mudra.demo.faults.fault import (
    TOO_MANY_FAULT_KEYS,
    Fault,
    FaultKind,
    FaultRefused,
    fault_conflict,
    operators_fault,
)
from mudra.demo.faults.fault_board import FaultySigner
from mudra.demo.faults.switch_faults import FaultActor, FaultService
from mudra.demo.faults.wire import (
    FaultEndRequest,
    FaultQuery,
    FaultRequest,
    FaultsResponse,
    faults_response,
)
from mudra.http.auth.gates import SIGNED_IN, UserCall
from mudra.http.dependencies import InjectedDependencies
from mudra.http.endpoint import B
from mudra.http.route import get, post
from mudra.identity.operators.operator import Operator, Scope
from mudra.identity.operators.operator_store import Operators
from mudra.shared.refusal import Refusal

_PATH: Final = "/sandbox/v1/faults"

END_FAULT: Final = (
    FaultRefused("entityId: no member has the ID KAVERI"),
    operators_fault(FaultKind.SLOW),
)
FAULT: Final = (
    fault_conflict(FaultKind.UNAVAILABLE, FaultKind.TOO_MANY_REQUESTS),
    *END_FAULT,
    TOO_MANY_FAULT_KEYS,
)


@get(_PATH, "List the faults in force", gate=SIGNED_IN)
async def list_faults(call: UserCall[FaultQuery]) -> FaultsResponse | Refusal:
    """List the faults of the caller's entities, for an operator the faults of all."""
    found = await call.tx.service(FaultService).list(await _actor(call), call.body.entity_id)
    return found if isinstance(found, Refusal) else faults_response(found)


@post(_PATH, "Switch a fault on", conflicts=FAULT, gate=SIGNED_IN)
async def switch_on(call: UserCall[FaultRequest]) -> FaultsResponse | Refusal:
    """Let the clients of one entity meet a fault until its end; the same kind again replaces it."""
    outcome = await call.tx.service(FaultService).switch_on(call.body.wanted(), await _actor(call))
    return faults_response([outcome]) if isinstance(outcome, Fault) else outcome


@post(f"{_PATH}/end", "End faults", conflicts=END_FAULT, gate=SIGNED_IN)
async def switch_off(call: UserCall[FaultEndRequest]) -> FaultsResponse | Refusal:
    """End the fault of a kind, or all of the entity; returns those that were ended."""
    kind = FaultKind(call.body.kind) if call.body.kind else None
    ended = await call.tx.service(FaultService).switch_off(
        call.body.entity_id, kind, await _actor(call)
    )
    return ended if isinstance(ended, Refusal) else faults_response(ended)


@framework_get("/sandbox/v1/entities/{entity_id:str}/jwks.json", include_in_schema=False)
async def keys_of_an_entity(
    entity_id: FromPath[str], dependencies: InjectedDependencies
) -> Response[bytes]:
    """The published keys (RFC 7517 5), as an entity whose key was dropped is to see them."""
    signer = dependencies.signer
    assert isinstance(signer, FaultySigner), "mounted in a sandbox only"
    keys = await signer.jwks_of(entity_id)
    return Response(
        keys, media_type="application/json", headers={"Access-Control-Allow-Origin": "*"}
    )


async def _actor(call: UserCall[B]) -> FaultActor:
    user, scopes = call.user, await Operators(call.tx).scopes(call.user.user_id)
    if Scope.MEMBERS in scopes:
        acting = call.context.caller(Operator(user.user_id, user.email, scopes).actor)
        return FaultActor(acting, user.administers, True)  # noqa: FBT003  # the parts in their order
    return FaultActor(call.caller, user.administers, False)  # noqa: FBT003  # the parts in their order


handlers: Final[list[ControllerRouterHandler]] = [
    list_faults,
    switch_on,
    switch_off,
    keys_of_an_entity,
]
"""Mounted in the sandbox only."""
