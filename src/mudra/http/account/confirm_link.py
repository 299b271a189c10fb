"""POST /user/link/confirm and decline: agree to what an email asks for, or decline, by its link."""

from typing import Final

from litestar.types import ControllerRouterHandler

from mudra.http.endpoint import ANYONE, Call
from mudra.http.request.account_requests import LinkConfirmRequest
from mudra.http.response import conflicts
from mudra.http.response.response_body import StatusResponse
from mudra.http.route import post
from mudra.identity.accounts.acts.confirm_link import confirm_link, decline_by_link
from mudra.shared.refusal import Refusal


@post(
    "/user/link/confirm",
    "Confirm a change by the link in an email",
    conflicts=conflicts.CONFIRM_LINK,
    gate=ANYONE,
)
async def confirm(call: Call[LinkConfirmRequest]) -> StatusResponse | Refusal:
    """Consume a one-use link: an operator's new address is confirmed, an invitation accepted."""
    async with call.dependencies.transaction() as tx:
        outcome = await confirm_link(tx, call.body.token, call.context.caller("nobody"))
    return outcome if isinstance(outcome, Refusal) else StatusResponse(status="confirmed")


@post("/user/link/decline", "Decline an invitation by the link in its email", gate=ANYONE)
async def decline(call: Call[LinkConfirmRequest]) -> StatusResponse | Refusal:
    """End an invitation and its link; the admin who sent it gets an email."""
    async with call.dependencies.transaction() as tx:
        outcome = await decline_by_link(tx, call.body.token, call.context.caller("nobody"))
    return outcome if isinstance(outcome, Refusal) else StatusResponse(status="declined")


handlers: Final[list[ControllerRouterHandler]] = [confirm, decline]
