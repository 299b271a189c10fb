"""/entity/admin and /entity/contact: an admin manages the admins of its own entity."""

from typing import Final

from litestar.types import ControllerRouterHandler

from mudra.http.auth.gates import SIGNED_IN, UserCall
from mudra.http.request.account_requests import (
    AdminRemovalRequest,
    AdminRequest,
    ContactRequest,
    EntityRequest,
    OwnHandOverRequest,
    R,
    SendAgainRequest,
)
from mudra.http.response import conflicts
from mudra.http.response.account_responses import AdminsResponse, admins_response
from mudra.http.route import post
from mudra.identity.memberships.admins import Requester, admins_of
from mudra.shared.refusal import Refusal


@post("/entity/admin/list", "List the entity's admins", gate=SIGNED_IN)
async def list_admins(call: UserCall[EntityRequest]) -> AdminsResponse | Refusal:
    """List the admins, readers and backup contact of an entity that you administer or read."""
    return admins_response(
        await admins_of(call.tx, Requester(call.caller, call.user), call.body.entity_id)
    )


@post(
    "/entity/admin/add", "Add an admin to the entity", conflicts=conflicts.ADD_ADMIN, gate=SIGNED_IN
)
async def add(call: UserCall[AdminRequest]) -> AdminsResponse | Refusal:
    """Invite someone to be an admin or a reader of your own entity."""
    return await _changed(call)


@post(
    "/entity/admin/remove",
    "Remove an admin of the entity",
    conflicts=conflicts.REMOVE_ADMIN,
    gate=SIGNED_IN,
)
async def remove(call: UserCall[AdminRemovalRequest]) -> AdminsResponse | Refusal:
    """Remove an admin or a reader of your own entity; the last admin stays."""
    return await _changed(call)


@post(
    "/entity/admin/handover",
    "Hand over your own admin role",
    conflicts=conflicts.HAND_OVER,
    gate=SIGNED_IN,
)
async def hand_over(call: UserCall[OwnHandOverRequest]) -> AdminsResponse | Refusal:
    """Invite someone to be admin in your place.

    You stay an admin until the invitation is accepted, and can withdraw it with
    `/entity/admin/remove` until then. Another hand-over of yours takes its place.
    """
    return await _changed(call)


@post(
    "/entity/admin/invite-again",
    "Send an invitation again",
    conflicts=conflicts.INVITE_AGAIN,
    gate=SIGNED_IN,
)
async def invite_again(call: UserCall[SendAgainRequest]) -> AdminsResponse | Refusal:
    """Send a pending invitation of your own entity again, with a new link for 24 hours."""
    return await _changed(call)


@post("/entity/contact/set", "Set the entity's backup contact", gate=SIGNED_IN)
async def contact(call: UserCall[ContactRequest]) -> AdminsResponse | Refusal:
    """Set the backup contact of your own entity; an empty address removes it."""
    return await _changed(call)


async def _changed(call: UserCall[R]) -> AdminsResponse | Refusal:
    return admins_response(await call.body.run(call.tx, Requester(call.caller, call.user)))


handlers: Final[list[ControllerRouterHandler]] = [
    list_admins,
    add,
    remove,
    hand_over,
    invite_again,
    contact,
]
