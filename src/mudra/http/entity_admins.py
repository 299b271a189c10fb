"""Who looks after an entity, for its own admins; and a user's own tokens."""

from collections.abc import Awaitable, Callable
from typing import Final

from litestar import Response, get, post
from litestar.types import ControllerRouterHandler

from mudra.audit.event import Act, Caller, EventName
from mudra.http import admin_orders
from mudra.http.answer import refusal, success
from mudra.http.bearer import SignedInUser, signed_in_user
from mudra.http.errors import is_refusal
from mudra.http.exchange import AnyRequest, Exchange, address_of, receive_json, receive_query
from mudra.http.openapi import described
from mudra.http.people_requests import (
    AdminOrder,
    AdminRemoval,
    ContactOrder,
    EntityOrder,
    HandOver,
    NothingOrder,
    TokenOrder,
)
from mudra.http.people_responses import AdminsAnswer, StatusAnswer, TokensAnswer, token_members
from mudra.http.service import Injected
from mudra.identity.user import User
from mudra.runtime.work import Work

_Own = Callable[[Work, Caller, User], Awaitable[object]]


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
        return await admin_orders.listed(work, order.entity_id)

    return await _for_own(exchange, order, act)


@post(
    "/entity/admin/add",
    status_code=200,
    operation_class=described("Add an admin to the entity", AdminOrder, AdminsAnswer, bearer=True),
)
async def add(request: AnyRequest, service: Injected) -> Response[bytes]:
    """Add an admin; who has no account yet is invited by mail."""
    exchange, order = await receive_json(request, service, AdminOrder)

    async def act(work: Work, caller: Caller, _: User) -> object:
        assert isinstance(order, AdminOrder)
        return await admin_orders.add(work, caller, order)

    return await _for_own(exchange, order, act)


@post(
    "/entity/admin/remove",
    status_code=200,
    operation_class=described(
        "Remove an admin of the entity", AdminRemoval, AdminsAnswer, bearer=True
    ),
)
async def remove(request: AnyRequest, service: Injected) -> Response[bytes]:
    """End an admin's rights at once; the last one who can act stays."""
    exchange, order = await receive_json(request, service, AdminRemoval)

    async def act(work: Work, caller: Caller, _: User) -> object:
        assert isinstance(order, AdminRemoval)
        return await admin_orders.remove(work, caller, order, may_leave_none=False)

    return await _for_own(exchange, order, act)


@post(
    "/entity/admin/handover",
    status_code=200,
    operation_class=described(
        "Hand one's own place to somebody else", HandOver, AdminsAnswer, bearer=True
    ),
)
async def hand_over(request: AnyRequest, service: Injected) -> Response[bytes]:
    """Put somebody else in the caller's place; the caller's rights end at once."""
    exchange, order = await receive_json(request, service, HandOver)

    async def act(work: Work, caller: Caller, user: User) -> object:
        assert isinstance(order, HandOver)
        return await admin_orders.hand_over(work, caller, order, user.email)

    return await _for_own(exchange, order, act)


@post(
    "/entity/contact/set",
    status_code=200,
    operation_class=described(
        "Set the entity's backup contact", ContactOrder, AdminsAnswer, bearer=True
    ),
)
async def set_contact(request: AnyRequest, service: Injected) -> Response[bytes]:
    """Set the address that gets the letters too; empty ends it."""
    exchange, order = await receive_json(request, service, ContactOrder)

    async def act(work: Work, caller: Caller, _: User) -> object:
        assert isinstance(order, ContactOrder)
        return await admin_orders.set_contact(work, caller, order)

    return await _for_own(exchange, order, act)


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

    return await _answered(exchange, order, act)


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
        record = await work.tokens.user_token(order.jti) if order.jti else None
        ended = False
        if record is not None and record.user_id == user.user_id:
            ended = await work.tokens.revoke_user_token(order.jti, await work.people.now())
        if ended:
            detail: dict[str, str | int] = {"jti": order.jti}
            await work.journal.note(Act(EventName.USER_TOKEN_REVOKE, caller, detail=detail))
        return {"status": "revoked" if ended else "nothing to revoke"}

    return await _answered(exchange, order, act)


async def _for_own(exchange: Exchange, order: object, act: _Own) -> Response[bytes]:
    """Act on an entity that the caller administers; others and unknown ones look alike."""

    async def own(work: Work, caller: Caller, user: User) -> object:
        entity_id = getattr(order, "entity_id", "")
        refused = await admin_orders.locked_own(work, user, entity_id)
        return refused or await act(work, caller, user)

    return await _answered(exchange, order, own)


async def _answered(exchange: Exchange, order: object, act: _Own) -> Response[bytes]:
    if is_refusal(order):
        return refusal(exchange.envelope, order).response()
    service = exchange.service
    header = exchange.request.headers.get("authorization")
    address = address_of(exchange.request, service)
    async with service.open_work() as work:
        who = await signed_in_user(header, service, work, scheme_needed=True, address=address)
        outcome: object = who
        if isinstance(who, SignedInUser):
            caller = exchange.caller(f"user:{who.user.user_id}")
            outcome = await act(work, caller, who.user)
    if is_refusal(outcome):
        return refusal(exchange.envelope, outcome).response()
    assert isinstance(outcome, dict)
    return success(exchange.envelope, outcome).response()


handlers: Final[list[ControllerRouterHandler]] = [
    list_admins,
    add,
    remove,
    hand_over,
    set_contact,
    list_tokens,
    revoke_token,
]
