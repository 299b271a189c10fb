"""POST /user/password/set and /user/password/forgot (spec 1.3; decisions 3)."""

import asyncio
from typing import Final

from litestar import Response, post

from mudra.http.dependencies import InjectedDependencies
from mudra.http.openapi.operation import described
from mudra.http.request.account_requests import PasswordForgotRequest, PasswordSetRequest
from mudra.http.request.request_context import AnyRequest, receive_json
from mudra.http.response.json_response import refusal, success
from mudra.http.response.response_body import StatusResponse
from mudra.identity.accounts.send_link import forgot_password
from mudra.identity.accounts.set_password import set_password
from mudra.shared.refusal import Refusal

_FORGOT_S: Final = 0.25
"""Seconds after its arrival at which "forgot password" is answered; the work takes a tenth."""


@post(
    "/user/password/set",
    status_code=200,
    operation_class=described(
        "Set a password by the link in an email", PasswordSetRequest, StatusResponse
    ),
)
async def set_by_link(request: AnyRequest, service: InjectedDependencies) -> Response[bytes]:
    """Consume a one-use link and set the password; the user's tokens end."""
    context, received = await receive_json(request, service, PasswordSetRequest)
    if not isinstance(received, PasswordSetRequest):
        return refusal(context.envelope, received).response()
    outcome = await set_password(
        received.token,
        received.password,
        context.caller("nobody"),
        network_name=service.settings.network_name,
        hasher=service.hasher,
        open_work=service.unit_of_work,
    )
    if isinstance(outcome, Refusal):
        return refusal(context.envelope, outcome).response()
    return success(context.envelope, StatusResponse(status="password set")).response()


@post(
    "/user/password/forgot",
    status_code=202,
    operation_class=described(
        "Ask for a link to set a password", PasswordForgotRequest, StatusResponse, status="202"
    ),
)
async def forgot(request: AnyRequest, service: InjectedDependencies) -> Response[bytes]:
    """Send a link when the name is known; the response is the same for every name."""
    context, received = await receive_json(request, service, PasswordForgotRequest)
    if not isinstance(received, PasswordForgotRequest):
        return refusal(context.envelope, received).response()
    answer_at = asyncio.get_running_loop().time() + _FORGOT_S
    async with service.unit_of_work() as work:
        await forgot_password(work, received.username, context.caller("nobody"))
    # Sending an email takes longer: only the same moment hides which it was (quality A7).
    await asyncio.sleep(answer_at - asyncio.get_running_loop().time())
    return success(
        context.envelope,
        StatusResponse(status="if the name is known, a link is on its way"),
        status=202,
    ).response()
