"""POST /user/password/set and /user/password/forgot (spec 1.3; decisions 3)."""

import asyncio
from typing import Final

from litestar import Response, post

from mudra.http.dependencies import InjectedDependencies
from mudra.http.openapi.operation import described
from mudra.http.request.request_context import AnyRequest, RequestContext, receive_json
from mudra.http.response.json_response import refusal, success
from mudra.http.token.requests import PasswordForgotRequest, PasswordSetRequest
from mudra.http.token.responses import PasswordResponse
from mudra.identity.accounts.set_password import (
    LinkHolder,
    refuse_password,
    set_password,
    who_holds,
)
from mudra.identity.accounts.user import User
from mudra.identity.ports import HashingBusy
from mudra.identity.sign_in.sign_in import username_of
from mudra.shared.refusal import Refusal
from mudra.shared.secret_text import SecretText

_FORGOT_S: Final = 0.25
"""When "forgot password" is answered, from its arrival; the work takes a tenth of it."""


@post(
    "/user/password/set",
    status_code=200,
    operation_class=described(
        "Set a password by the link of a mail", PasswordSetRequest, PasswordResponse
    ),
)
async def set_by_link(request: AnyRequest, service: InjectedDependencies) -> Response[bytes]:
    """Consume a one-use link and set the password; the user's tokens end."""
    context, order = await receive_json(request, service, PasswordSetRequest)
    if not isinstance(order, PasswordSetRequest):
        return refusal(context.envelope, order).response()
    outcome = await _set(context, order.token, order.password)
    if not isinstance(outcome, User):
        return refusal(context.envelope, outcome).response()
    return success(context.envelope, PasswordResponse(status="password set")).response()


async def _set(context: RequestContext, token: SecretText, password: SecretText) -> User | Refusal:
    service = context.service
    async with service.unit_of_work() as work:
        holder = await who_holds(token, work.people, work.links)
    if not isinstance(holder, LinkHolder):
        return holder
    refused = refuse_password(password, holder.user, service.settings.network_name)
    if refused is not None:
        return refused
    hashed = await service.hasher.hash(password)
    if isinstance(hashed, HashingBusy):
        return hashed
    async with service.unit_of_work() as work:
        return await set_password(
            token,
            hashed,
            context.caller(f"user:{holder.user.user_id}"),
            people=work.people,
            links=work.links,
            attempts=work.attempts,
            tokens=work.tokens,
            outbox=work.outbox,
            journal=work.journal,
        )


@post(
    "/user/password/forgot",
    status_code=202,
    operation_class=described(
        "Ask for a link to set a password", PasswordForgotRequest, PasswordResponse, status="202"
    ),
)
async def forgot(request: AnyRequest, service: InjectedDependencies) -> Response[bytes]:
    """Send a link when the name is known; the answer is the same for every name."""
    context, order = await receive_json(request, service, PasswordForgotRequest)
    if not isinstance(order, PasswordForgotRequest):
        return refusal(context.envelope, order).response()
    answer_at = asyncio.get_running_loop().time() + _FORGOT_S
    async with service.unit_of_work() as work:
        user = await work.people.by_username(username_of(order.username))
        await work.link_service.forgot_password(user, context.caller("nobody"))
    # A letter takes longer than none: only the same moment hides which it was (quality A7).
    await asyncio.sleep(answer_at - asyncio.get_running_loop().time())
    return success(
        context.envelope,
        PasswordResponse(status="if the name is known, a link is on its way"),
        status=202,
    ).response()
