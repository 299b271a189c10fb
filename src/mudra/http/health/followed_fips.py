"""The FIPs that a FIU follows: its programs choose them, as its admins do (decision 0041)."""

from typing import Final

from litestar.handlers import HTTPRouteHandler
from litestar.params import FromPath

from mudra.http.auth.gates import EntityCall, entity
from mudra.http.request.fields import NoParameters
from mudra.http.response import conflicts
from mudra.http.response.response_body import ResponseBody
from mudra.http.route import delete, get, put
from mudra.metrics.notifications.preference_service import FollowService
from mudra.shared.entity_type import EntityType
from mudra.shared.refusal import Refusal

_PATH: Final = "/followed-fips"
_ONE: Final = _PATH + "/{fip_id:str}"


class FollowedFipsResponse(ResponseBody, kw_only=True):
    """The FIPs that the caller follows, by ID; none for all of them on its page."""

    fips: list[str]


@get(_PATH, "List the FIPs that you follow", gate=entity(EntityType.FIU))
async def followed(call: EntityCall[NoParameters]) -> FollowedFipsResponse:
    """List the FIPs of which the calling FIU gets alarms."""
    return await _response(call)


@put(_ONE, "Follow a FIP", conflicts=conflicts.FOLLOW, gate=entity(EntityType.FIU))
async def follow(
    call: EntityCall[NoParameters], fip_id: FromPath[str]
) -> FollowedFipsResponse | Refusal:
    """Follow a FIP, 500 at most; again changes nothing."""
    return await _changed(call, fip_id, follow=True)


@delete(_ONE, "Stop following a FIP", gate=entity(EntityType.FIU))
async def unfollow(
    call: EntityCall[NoParameters], fip_id: FromPath[str]
) -> FollowedFipsResponse | Refusal:
    """Stop following a FIP; one that is not followed changes nothing."""
    return await _changed(call, fip_id, follow=False)


async def _changed(
    call: EntityCall[NoParameters], fip_id: str, *, follow: bool
) -> FollowedFipsResponse | Refusal:
    entity_id = call.entity.entity_id
    refused = await call.tx.service(FollowService).change(
        entity_id, fip_id, call.caller, follow=follow
    )
    return refused or await _response(call)


async def _response(call: EntityCall[NoParameters]) -> FollowedFipsResponse:
    return FollowedFipsResponse(
        fips=sorted(await call.tx.service(FollowService).of(call.entity.entity_id))
    )


member_handlers: Final[list[HTTPRouteHandler]] = [followed, follow, unfollow]
