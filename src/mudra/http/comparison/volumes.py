"""GET /operator/v1/volume for operators, {prefix}/volume for AAs and FIPs."""

from typing import Final

from litestar.types import ControllerRouterHandler

from mudra.comparison.roles import KEYS
from mudra.comparison.volume_service import VolumeService
from mudra.http.auth.gates import EntityCall, OperatorCall, entity, operator
from mudra.http.comparison.volume_responses import VolumeResponse, volume_response
from mudra.http.request.comparison_requests import SubjectParameters
from mudra.http.request.fields import NoParameters
from mudra.http.route import get
from mudra.identity.operators.operator import Scope
from mudra.shared.entity_type import EntityType
from mudra.storage.database.deadline import PAGE_S


@get(
    "/operator/v1/volume",
    "Show the volume of calls and its forecast",
    gate=operator(Scope.HEALTH),
    within_s=PAGE_S,
    reads=True,
)
async def volume(call: OperatorCall[SubjectParameters]) -> VolumeResponse:
    """Show calls for customers by hour and day, growth, and what is expected of four weeks.

    The forecast has its error, measured on the last four weeks as if they had not come yet.
    `notice` says on which day more calls may come than were ever handled well on one day.
    """
    found = await call.tx.service(VolumeService).of_subject(
        call.dependencies.clock(),
        aa_id=call.body.aa_id or None,
        fip_id=call.body.fip_id or None,
    )
    return volume_response(found)


@get(
    "/volume", "Show the own volume of calls and its forecast", gate=entity(*KEYS), within_s=PAGE_S
)
async def own_volume(call: EntityCall[NoParameters]) -> VolumeResponse:
    """Show the volume of the calls that the AA made, or that all AAs made to the FIP."""
    mine, is_aa = call.entity.entity_id, call.entity.entity_type is EntityType.AA
    found = await call.tx.service(VolumeService).of_subject(
        call.dependencies.clock(),
        aa_id=mine if is_aa else None,
        fip_id=None if is_aa else mine,
    )
    return volume_response(found)


operator_handlers: Final[list[ControllerRouterHandler]] = [volume]
member_handlers: Final[list[ControllerRouterHandler]] = [own_volume]
