"""POST /user/token/generate (spec 4.1, 5.1)."""

from litestar import Response, post

from mudra.http.auth.with_password import with_password
from mudra.http.dependencies import InjectedDependencies
from mudra.http.openapi.operation import FORM, described
from mudra.http.request.account_requests import UserTokenRequest
from mudra.http.request.request_context import AnyRequest, receive_form
from mudra.http.response.json_response import refusal, success
from mudra.http.token.responses import TokenResponse, token_response
from mudra.identity.accounts.user import User
from mudra.shared.refusal import Refusal
from mudra.tokens.issuing.claims import USER_TOKEN_LIFE_S, Claims
from mudra.unit_of_work import UnitOfWork


@post(
    "/user/token/generate",
    status_code=200,
    operation_class=described(
        "Generate a User Access Token", UserTokenRequest, TokenResponse, media=FORM
    ),
)
async def generate(request: AnyRequest, service: InjectedDependencies) -> Response[bytes]:
    """Exchange username and password for a token of 180 days."""
    context, received = await receive_form(request, service, UserTokenRequest)
    if isinstance(received, Refusal):
        return refusal(context.envelope, received).response()

    async def record(work: UnitOfWork, user: User) -> Claims:
        return await service.user_tokens.record(
            user,
            context.caller(f"user:{user.user_id}"),
            await work.people.now(),
            tokens=work.tokens,
            memberships=work.memberships,
            audit_log=work.audit_log,
        )

    claims = await with_password(context, received.username, received.password, record)
    if isinstance(claims, Refusal):
        return refusal(context.envelope, claims).response()
    token = await service.user_tokens.sign(claims)
    return success(context.envelope, token_response(token, USER_TOKEN_LIFE_S)).response()
