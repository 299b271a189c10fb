"""/operator/v1/users: list, disable, enable, invite again, new address, tokens (scope members)."""

from typing import Final
from uuid import UUID

from litestar import Response, get, post
from litestar.params import FromPath
from litestar.types import ControllerRouterHandler

from mudra.audit.event import Caller
from mudra.http.account.people_requests import (
    AddressRequest,
    NoParameters,
    RevokeRequest,
    UserQuery,
)
from mudra.http.account.people_responses import (
    AccountResponse,
    StatusResponse,
    TokensResponse,
    UsersPage,
    account_response,
)
from mudra.http.account.people_shapes import token_details, user_details
from mudra.http.auth.as_operator import as_operator
from mudra.http.dependencies import InjectedDependencies
from mudra.http.openapi.operation import described
from mudra.http.request.request_context import AnyRequest, receive_json, receive_query
from mudra.http.response.json_response import HandlerResult
from mudra.http.response.response_body import cut_page
from mudra.identity.accounts.account_service import AccountChanged, NoSuchUser
from mudra.identity.accounts.user import User
from mudra.identity.memberships.member_search import UserFilter
from mudra.identity.operators.operator import Scope
from mudra.shared.refusal import Refusal
from mudra.unit_of_work import UnitOfWork


@get(
    "/users",
    operation_class=described("List people", None, UsersPage, bearer=True, query=UserQuery),
)
async def list_users(request: AnyRequest, service: InjectedDependencies) -> Response[bytes]:
    """List people by address, a page at a time."""
    context, order = receive_query(request, service, UserQuery)

    async def act(work: UnitOfWork, _: Caller, order: UserQuery) -> HandlerResult:
        which = UserFilter(
            state=order.state,
            entity_id=order.entity_id,
            text=order.words,
            operators_only=order.operators == "true",
        )
        limit = int(order.limit)
        rows = await work.member_search.users(which, order.after, limit + 1)
        shown, following = cut_page(rows, limit, lambda row: row.email)
        return UsersPage(users=[user_details(row) for row in shown], next=following)

    return await as_operator(context, order, Scope.MEMBERS, act)


@post(
    "/users/{user_id:uuid}/disable",
    status_code=200,
    operation_class=described("Switch an account off", NoParameters, AccountResponse, bearer=True),
)
async def disable(
    request: AnyRequest, service: InjectedDependencies, user_id: FromPath[UUID]
) -> Response[bytes]:
    """Switch an account off and end its tokens; `warnings` names entities left alone."""
    context, order = await receive_json(request, service, NoParameters)

    async def act(work: UnitOfWork, caller: Caller, _request: NoParameters) -> HandlerResult:
        return _account(await work.accounts.disable(str(user_id), caller))

    return await as_operator(context, order, Scope.MEMBERS, act)


@post(
    "/users/{user_id:uuid}/enable",
    status_code=200,
    operation_class=described("Switch an account on", NoParameters, AccountResponse, bearer=True),
)
async def enable(
    request: AnyRequest, service: InjectedDependencies, user_id: FromPath[UUID]
) -> Response[bytes]:
    """Switch an account on again; its former tokens stay ended."""
    context, order = await receive_json(request, service, NoParameters)

    async def act(work: UnitOfWork, caller: Caller, _request: NoParameters) -> HandlerResult:
        return _account(await work.accounts.enable(str(user_id), caller))

    return await as_operator(context, order, Scope.MEMBERS, act)


@post(
    "/users/{user_id:uuid}/invite",
    status_code=200,
    operation_class=described("Send a link again", NoParameters, StatusResponse, bearer=True),
)
async def invite(
    request: AnyRequest, service: InjectedDependencies, user_id: FromPath[UUID]
) -> Response[bytes]:
    """Send a new link: invitation, or for an active user one to set a new password."""
    context, order = await receive_json(request, service, NoParameters)

    async def act(work: UnitOfWork, caller: Caller, _request: NoParameters) -> HandlerResult:
        outcome = await work.accounts.invite_again(str(user_id), caller)
        return StatusResponse(status="link sent") if isinstance(outcome, User) else outcome

    return await as_operator(context, order, Scope.MEMBERS, act)


@post(
    "/users/{user_id:uuid}/email",
    status_code=200,
    operation_class=described(
        "Change an address", AddressRequest, AccountResponse, bearer=True, conflict=True
    ),
)
async def change_address(
    request: AnyRequest, service: InjectedDependencies, user_id: FromPath[UUID]
) -> Response[bytes]:
    """Move an account to a new address; both addresses are told, the new one must be verified."""
    context, order = await receive_json(request, service, AddressRequest)

    async def act(work: UnitOfWork, caller: Caller, order: AddressRequest) -> HandlerResult:
        return _account(await work.accounts.change_address(str(user_id), order.email, caller))

    return await as_operator(context, order, Scope.MEMBERS, act)


@get(
    "/users/{user_id:uuid}/tokens",
    operation_class=described("List a user's tokens", None, TokensResponse, bearer=True),
)
async def list_tokens(
    request: AnyRequest, service: InjectedDependencies, user_id: FromPath[UUID]
) -> Response[bytes]:
    """List a user's tokens with the last use of each; never their text."""
    context, order = receive_query(request, service, NoParameters)

    async def act(work: UnitOfWork, _: Caller, _request: NoParameters) -> HandlerResult:
        if await work.people.by_id(str(user_id)) is None:
            return NoSuchUser()
        tokens = await work.memberships.tokens(str(user_id))
        return TokensResponse(tokens=[token_details(token) for token in tokens])

    return await as_operator(context, order, Scope.MEMBERS, act)


@post(
    "/users/{user_id:uuid}/tokens/revoke",
    status_code=200,
    operation_class=described("End a user's tokens", RevokeRequest, StatusResponse, bearer=True),
)
async def revoke(
    request: AnyRequest, service: InjectedDependencies, user_id: FromPath[UUID]
) -> Response[bytes]:
    """End one token of a user, or all of them."""
    context, order = await receive_json(request, service, RevokeRequest)

    async def act(work: UnitOfWork, caller: Caller, order: RevokeRequest) -> HandlerResult:
        outcome = await work.accounts.end_tokens(str(user_id), order.jti, caller)
        if isinstance(outcome, NoSuchUser):
            return outcome
        return StatusResponse(status=f"{outcome} revoked")

    return await as_operator(context, order, Scope.MEMBERS, act)


def _account(outcome: AccountChanged | Refusal) -> AccountResponse | Refusal:
    return outcome if isinstance(outcome, Refusal) else account_response(outcome)


handlers: Final[list[ControllerRouterHandler]] = [
    list_users,
    disable,
    enable,
    invite,
    change_address,
    list_tokens,
    revoke,
]
