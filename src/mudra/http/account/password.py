"""POST /user/password/set and /user/password/forgot (spec 1.3)."""

import asyncio
from typing import Final

from mudra.http.endpoint import ANYONE, Call
from mudra.http.request.account_requests import PasswordForgotRequest, PasswordSetRequest
from mudra.http.response import conflicts
from mudra.http.response.response_body import StatusResponse
from mudra.http.route import post
from mudra.identity.accounts.acts.send_link import request_link, too_many_link_requests
from mudra.identity.accounts.acts.set_password import set_password
from mudra.shared.network_address import address_key
from mudra.shared.refusal import Refusal

_FORGOT_S: Final = 0.25
"""Seconds after its arrival at which "forgot password" is answered; storing it takes a tenth."""


@post(
    "/user/password/set",
    "Set a password by the link in an email",
    gate=ANYONE,
    conflicts=conflicts.SET_PASSWORD,
)
async def set_by_link(call: Call[PasswordSetRequest]) -> StatusResponse | Refusal:
    """Consume a one-use link and set the password; the user's tokens end."""
    outcome = await set_password(
        call.body.token,
        call.body.password,
        call.context.caller("nobody"),
        network_name=call.dependencies.settings.network_name,
        hasher=call.dependencies.hasher,
        open_transaction=call.dependencies.transaction,
    )
    return outcome if isinstance(outcome, Refusal) else StatusResponse(status="password set")


@post("/user/password/forgot", "Ask for a link to set a password", status=202, gate=ANYONE)
async def forgot(call: Call[PasswordForgotRequest]) -> StatusResponse | Refusal:
    """Send a link when the name is known; the response is the same for every name."""
    answer_at = asyncio.get_running_loop().time() + _FORGOT_S
    caller = call.context.caller("nobody")
    # By the sender alone, so it reveals nothing of names; and no sender fills the queue of all.
    wait_s = call.dependencies.link_rate.wait_s(address_key(caller.address))
    if wait_s:
        return too_many_link_requests(wait_s)
    async with call.dependencies.transaction() as tx:
        await request_link(tx, call.body.username, caller)
    # A job looks at the name. The same moment for all keeps users from asking twice:
    # by then the email is on its way.
    await asyncio.sleep(answer_at - asyncio.get_running_loop().time())
    return StatusResponse(status="if the name is known, a link is on its way")
