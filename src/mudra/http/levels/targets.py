"""Targets of service levels, by operators with the scope health."""

from typing import Final
from uuid import UUID

from litestar.handlers import HTTPRouteHandler
from litestar.params import FromPath

from mudra.http.auth.gates import OperatorCall, operator
from mudra.http.levels.level_shapes import TargetRequest, TargetResponse, TargetsResponse
from mudra.http.request.fields import NoParameters
from mudra.http.response import conflicts
from mudra.http.route import get, post
from mudra.identity.accounts.people_store import People
from mudra.identity.operators.operator import Scope
from mudra.levels.level_service import LevelService
from mudra.levels.target import Target
from mudra.shared.refusal import Refusal


@get("/operator/v1/levels/targets", "List targets", gate=operator(Scope.HEALTH))
async def targets(call: OperatorCall[NoParameters]) -> TargetsResponse:
    """List the targets in force, and all that were ever set."""
    service, now = call.tx.service(LevelService), await People(call.tx).now()
    return TargetsResponse(
        in_force=list(await service.targets_on(now)), all=list(await service.all_targets())
    )


@post(
    "/operator/v1/levels/targets",
    "Set a target",
    conflicts=conflicts.TARGET,
    gate=operator(Scope.HEALTH),
)
async def set_target(call: OperatorCall[TargetRequest]) -> TargetResponse | Refusal:
    """Set a target of a role from a day on, in place of the one of its kind."""
    now = await People(call.tx).now()
    return _response(
        await call.tx.service(LevelService).set_target(call.body.command, call.caller, now)
    )


@post(
    "/operator/v1/levels/targets/{target_id:uuid}/end",
    "End a target",
    conflicts=conflicts.END_TARGET,
    gate=operator(Scope.HEALTH),
)
async def end_target(
    call: OperatorCall[NoParameters], target_id: FromPath[UUID]
) -> TargetResponse | Refusal:
    """End a target that was set, today; the one that the network ships with holds again."""
    now = await People(call.tx).now()
    return _response(
        await call.tx.service(LevelService).end_target(str(target_id), call.caller, now)
    )


def _response(outcome: Target | Refusal) -> TargetResponse | Refusal:
    return outcome if isinstance(outcome, Refusal) else TargetResponse(target=outcome)


operator_handlers: Final[list[HTTPRouteHandler]] = [targets, set_target, end_target]
