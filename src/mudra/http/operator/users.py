"""/operator/v1/users: list, disable, enable, invite again, new address, tokens (scope members)."""

from typing import Final
from uuid import UUID

from litestar import Response, get, post
from litestar.params import FromPath
from litestar.types import ControllerRouterHandler

from mudra.audit.event import Caller
from mudra.bootstrap.unit_of_work import Work
from mudra.http.account.people_requests import AddressOrder, NothingOrder, RevokeOrder, UserQuery
from mudra.http.account.people_responses import (
    AccountAnswer,
    StatusAnswer,
    TokensAnswer,
    UsersPage,
    account_members,
)
from mudra.http.account.people_shapes import token_members, user_members
from mudra.http.auth.as_operator import operator_call, page
from mudra.http.dependencies import Injected
from mudra.http.openapi.operation import described
from mudra.http.request.request_context import AnyRequest, receive_json, receive_query
from mudra.identity.accounts.account_service import AccountChanged, NoSuchUser
from mudra.identity.accounts.user import User
from mudra.identity.memberships.memberships import Scope
from mudra.storage.identity.member_search import UserFilter


@get(
    "/users",
    operation_class=described("List people", None, UsersPage, bearer=True, query=UserQuery),
)
async def list_users(request: AnyRequest, service: Injected) -> Response[bytes]:
    """List people by address, a page at a time."""
    exchange, order = receive_query(request, service, UserQuery)

    async def act(work: Work, _: Caller) -> object:
        assert isinstance(order, UserQuery)
        which = UserFilter(
            state=order.state,
            entity_id=order.entity_id,
            words=order.words,
            operators_only=order.operators == "true",
        )
        limit = int(order.limit)
        rows = await work.directory.users(which, order.after, limit + 1)
        return page("users", [user_members(row) for row in rows], limit, "email")

    return await operator_call(exchange, order, Scope.MEMBERS, act)


@post(
    "/users/{user_id:uuid}/disable",
    status_code=200,
    operation_class=described("Switch an account off", NothingOrder, AccountAnswer, bearer=True),
)
async def disable(
    request: AnyRequest, service: Injected, user_id: FromPath[UUID]
) -> Response[bytes]:
    """Switch an account off and end its tokens; `warnings` names entities left alone."""
    exchange, order = await receive_json(request, service, NothingOrder)

    async def act(work: Work, caller: Caller) -> object:
        return _told(await work.accounts.disable(str(user_id), caller))

    return await operator_call(exchange, order, Scope.MEMBERS, act)


@post(
    "/users/{user_id:uuid}/enable",
    status_code=200,
    operation_class=described("Switch an account on", NothingOrder, AccountAnswer, bearer=True),
)
async def enable(
    request: AnyRequest, service: Injected, user_id: FromPath[UUID]
) -> Response[bytes]:
    """Switch an account on again; its former tokens stay ended."""
    exchange, order = await receive_json(request, service, NothingOrder)

    async def act(work: Work, caller: Caller) -> object:
        return _told(await work.accounts.enable(str(user_id), caller))

    return await operator_call(exchange, order, Scope.MEMBERS, act)


@post(
    "/users/{user_id:uuid}/invite",
    status_code=200,
    operation_class=described("Send a link again", NothingOrder, StatusAnswer, bearer=True),
)
async def invite(
    request: AnyRequest, service: Injected, user_id: FromPath[UUID]
) -> Response[bytes]:
    """Send a new link: invitation, or for an active user one to set a new password."""
    exchange, order = await receive_json(request, service, NothingOrder)

    async def act(work: Work, caller: Caller) -> object:
        outcome = await work.accounts.invite_again(str(user_id), caller)
        return {"status": "link sent"} if isinstance(outcome, User) else outcome

    return await operator_call(exchange, order, Scope.MEMBERS, act)


@post(
    "/users/{user_id:uuid}/email",
    status_code=200,
    operation_class=described(
        "Change an address", AddressOrder, AccountAnswer, bearer=True, conflict=True
    ),
)
async def change_address(
    request: AnyRequest, service: Injected, user_id: FromPath[UUID]
) -> Response[bytes]:
    """Move an account to a new address; both addresses are told, the new one must be verified."""
    exchange, order = await receive_json(request, service, AddressOrder)

    async def act(work: Work, caller: Caller) -> object:
        assert isinstance(order, AddressOrder)
        return _told(await work.accounts.change_address(str(user_id), order.email, caller))

    return await operator_call(exchange, order, Scope.MEMBERS, act)


@get(
    "/users/{user_id:uuid}/tokens",
    operation_class=described("List a user's tokens", None, TokensAnswer, bearer=True),
)
async def list_tokens(
    request: AnyRequest, service: Injected, user_id: FromPath[UUID]
) -> Response[bytes]:
    """List a user's tokens with the last use of each; never their text."""
    exchange, order = receive_query(request, service, NothingOrder)

    async def act(work: Work, _: Caller) -> object:
        if await work.people.by_id(str(user_id)) is None:
            return NoSuchUser()
        tokens = await work.roster.tokens(str(user_id))
        return {"tokens": [token_members(token) for token in tokens]}

    return await operator_call(exchange, order, Scope.MEMBERS, act)


@post(
    "/users/{user_id:uuid}/tokens/revoke",
    status_code=200,
    operation_class=described("End a user's tokens", RevokeOrder, StatusAnswer, bearer=True),
)
async def revoke(
    request: AnyRequest, service: Injected, user_id: FromPath[UUID]
) -> Response[bytes]:
    """End one token of a user, or all of them."""
    exchange, order = await receive_json(request, service, RevokeOrder)

    async def act(work: Work, caller: Caller) -> object:
        assert isinstance(order, RevokeOrder)
        outcome = await work.accounts.end_tokens(str(user_id), order.jti, caller)
        return {"status": f"{outcome} revoked"} if isinstance(outcome, int) else outcome

    return await operator_call(exchange, order, Scope.MEMBERS, act)


def _told(outcome: object) -> object:
    return account_members(outcome) if isinstance(outcome, AccountChanged) else outcome


handlers: Final[list[ControllerRouterHandler]] = [
    list_users,
    disable,
    enable,
    invite,
    change_address,
    list_tokens,
    revoke,
]
