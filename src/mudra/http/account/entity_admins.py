"""Who looks after an entity, for its own admins; and a user's own tokens."""

from typing import Final

from litestar import Response, get, post
from litestar.handlers import HTTPRouteHandler
from litestar.types import ControllerRouterHandler

from mudra.audit.event import Caller
from mudra.http.account.admin_calls import (
    ADD_ADMIN,
    HAND_OVER,
    REMOVE_ADMIN,
    SET_CONTACT,
    AdminCaller,
    AdminOperation,
    R,
    admins_response,
    locked_own,
)
from mudra.http.account.people_requests import (
    EntityRequest,
    NoParameters,
    TokenRequest,
)
from mudra.http.account.people_responses import AdminsResponse, StatusResponse, TokensResponse
from mudra.http.account.people_shapes import token_details
from mudra.http.auth.as_user import UserHandler, as_user
from mudra.http.dependencies import InjectedDependencies
from mudra.http.openapi.operation import described
from mudra.http.request.request_context import (
    AnyRequest,
    RequestContext,
    receive_json,
    receive_query,
)
from mudra.http.response.json_response import HandlerResult
from mudra.identity.accounts.user import User
from mudra.shared.refusal import Refusal
from mudra.unit_of_work import UnitOfWork


@post(
    "/entity/admin/list",
    status_code=200,
    operation_class=described(
        "List the entity's admins", EntityRequest, AdminsResponse, bearer=True
    ),
)
async def list_admins(request: AnyRequest, service: InjectedDependencies) -> Response[bytes]:
    """List the admins and the backup contact of an entity of one's own."""
    context, order = await receive_json(request, service, EntityRequest)

    async def act(work: UnitOfWork, _: Caller, __: User, order: EntityRequest) -> HandlerResult:
        return await admins_response(work, order.entity_id)

    return await _for_own(context, order, act)


def _own_route(operation: AdminOperation[R]) -> HTTPRouteHandler:
    """Return the route by which an admin changes the admins of an entity of its own."""

    @post(
        operation.member_path,
        status_code=200,
        operation_class=described(
            operation.member_summary,
            operation.request_type,
            AdminsResponse,
            bearer=True,
            conflict=True,
        ),
    )
    async def change(request: AnyRequest, service: InjectedDependencies) -> Response[bytes]:
        context, order = await receive_json(request, service, operation.request_type)

        async def act(work: UnitOfWork, caller: Caller, user: User, received: R) -> HandlerResult:
            return await operation.run(work, AdminCaller(caller, user.email), received)

        return await _for_own(context, order, act)

    return change


@get(
    "/user/token/list",
    operation_class=described("List one's own tokens", None, TokensResponse, bearer=True),
)
async def list_tokens(request: AnyRequest, service: InjectedDependencies) -> Response[bytes]:
    """List the caller's tokens with the last use of each."""
    context, order = receive_query(request, service, NoParameters)

    async def act(work: UnitOfWork, _: Caller, user: User, _request: NoParameters) -> HandlerResult:
        tokens = await work.memberships.tokens(user.user_id)
        return TokensResponse(tokens=[token_details(token) for token in tokens])

    return await as_user(context, order, act)


@post(
    "/user/token/revoke",
    status_code=200,
    operation_class=described(
        "End one of one's own tokens", TokenRequest, StatusResponse, bearer=True
    ),
)
async def revoke_token(request: AnyRequest, service: InjectedDependencies) -> Response[bytes]:
    """End one of the caller's tokens; one that is not the caller's is not found."""
    context, order = await receive_json(request, service, TokenRequest)

    async def act(
        work: UnitOfWork, caller: Caller, user: User, order: TokenRequest
    ) -> HandlerResult:
        ended = await work.accounts.end_token(user.user_id, order.jti, caller)
        return StatusResponse(status="revoked" if ended else "nothing to revoke")

    return await as_user(context, order, act)


async def _for_own(
    context: RequestContext, received: R | Refusal, handler: UserHandler[R]
) -> Response[bytes]:
    """Answer for an entity that the caller administers; others and unknown ones look alike."""

    async def own(work: UnitOfWork, caller: Caller, user: User, request: R) -> HandlerResult:
        refused = await locked_own(work, user, request.entity_id)
        return refused or await handler(work, caller, user, request)

    return await as_user(context, received, own)


handlers: Final[list[ControllerRouterHandler]] = [
    list_admins,
    *(_own_route(ADD_ADMIN), _own_route(REMOVE_ADMIN)),
    *(_own_route(HAND_OVER), _own_route(SET_CONTACT)),
    list_tokens,
    revoke_token,
]
