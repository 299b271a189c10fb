"""Who looks after an entity, for its own admins; and a user's own tokens."""

from typing import Final

from litestar import Response, get, post
from litestar.handlers import HTTPRouteHandler
from litestar.types import ControllerRouterHandler

from mudra.audit.event import Caller
from mudra.bootstrap.unit_of_work import Work
from mudra.http.account.admin_calls import ADMIN_CALLS, AdminCall, Asker, listed, locked_own
from mudra.http.account.people_requests import (
    EntityOrder,
    NothingOrder,
    TokenOrder,
)
from mudra.http.account.people_responses import AdminsAnswer, StatusAnswer, TokensAnswer
from mudra.http.account.people_shapes import token_members
from mudra.http.auth.as_user import Act as ActOfUser
from mudra.http.auth.as_user import user_call
from mudra.http.dependencies import Injected
from mudra.http.openapi.operation import described
from mudra.http.request.request_context import AnyRequest, Exchange, receive_json, receive_query
from mudra.identity.accounts.user import User


@post(
    "/entity/admin/list",
    status_code=200,
    operation_class=described("List the entity's admins", EntityOrder, AdminsAnswer, bearer=True),
)
async def list_admins(request: AnyRequest, service: Injected) -> Response[bytes]:
    """List the admins and the backup contact of an entity of one's own."""
    exchange, order = await receive_json(request, service, EntityOrder)

    async def act(work: Work, _: Caller, __: User) -> object:
        assert isinstance(order, EntityOrder)
        return await listed(work, order.entity_id)

    return await _for_own(exchange, order, act)


def _own_route(call: AdminCall) -> HTTPRouteHandler:
    """Make the route by which an admin changes who looks after an entity of its own."""

    @post(
        call.own_path,
        status_code=200,
        operation_class=described(
            call.own_summary, call.reads, AdminsAnswer, bearer=True, conflict=True
        ),
    )
    async def change(request: AnyRequest, service: Injected) -> Response[bytes]:
        exchange, order = await receive_json(request, service, call.reads)

        async def act(work: Work, caller: Caller, user: User) -> object:
            return await call.do(work, Asker(caller, user.email), order)

        return await _for_own(exchange, order, act)

    return change


@get(
    "/user/token/list",
    operation_class=described("List one's own tokens", None, TokensAnswer, bearer=True),
)
async def list_tokens(request: AnyRequest, service: Injected) -> Response[bytes]:
    """List the caller's tokens with the last use of each."""
    exchange, order = receive_query(request, service, NothingOrder)

    async def act(work: Work, _: Caller, user: User) -> object:
        tokens = await work.roster.tokens(user.user_id)
        return {"tokens": [token_members(token) for token in tokens]}

    return await user_call(exchange, order, act)


@post(
    "/user/token/revoke",
    status_code=200,
    operation_class=described("End one of one's own tokens", TokenOrder, StatusAnswer, bearer=True),
)
async def revoke_token(request: AnyRequest, service: Injected) -> Response[bytes]:
    """End one of the caller's tokens; one that is not the caller's is not found."""
    exchange, order = await receive_json(request, service, TokenOrder)

    async def act(work: Work, caller: Caller, user: User) -> object:
        assert isinstance(order, TokenOrder)
        ended = await work.accounts.end_token(user.user_id, order.jti, caller)
        return {"status": "revoked" if ended else "nothing to revoke"}

    return await user_call(exchange, order, act)


async def _for_own(exchange: Exchange, order: object, act: ActOfUser) -> Response[bytes]:
    """Act on an entity that the caller administers; others and unknown ones look alike."""

    async def own(work: Work, caller: Caller, user: User) -> object:
        entity_id = getattr(order, "entity_id", "")
        refused = await locked_own(work, user, entity_id)
        return refused or await act(work, caller, user)

    return await user_call(exchange, order, own)


handlers: Final[list[ControllerRouterHandler]] = [
    list_admins,
    *map(_own_route, ADMIN_CALLS),
    list_tokens,
    revoke_token,
]
