"""Who looks after an entity: add, remove, hand over, backup contact."""

from collections.abc import Awaitable, Callable
from typing import Final

from litestar import Response, get, post
from litestar.params import FromPath
from litestar.types import ControllerRouterHandler

from mudra.console.framework.console_errors import page_problem
from mudra.console.framework.navigation import CONSOLE, member_path
from mudra.console.framework.page_context import PageContext
from mudra.console.framework.page_guards import Fields, member_act, member_page
from mudra.console.framework.page_results import GoTo, Outcome, RenderedPage
from mudra.console.framework.render import sentence
from mudra.http.account import admin_calls as admin_orders
from mudra.http.account.admin_calls import AdminCaller
from mudra.http.account.people_requests import (
    AdminRemovalRequest,
    AdminRequest,
    ContactRequest,
    HandOverRequest,
)
from mudra.http.dependencies import HttpDependencies, InjectedDependencies
from mudra.http.request.request_context import AnyRequest
from mudra.http.request.validation import decode_struct
from mudra.identity.accounts.user import UserState
from mudra.identity.memberships.admins import LastAdmin, NotAnAdmin
from mudra.shared.refusal import Refusal

_PATH: Final = "/entity/{entity_id:str}/people"
_PAGES = Response[str] | Response[bytes]
_FIELDS: Final = {"email": "the e-mail address", "name": "the name"}
_Change = Callable[[PageContext, Fields], Awaitable[object]]


@get(_PATH, include_in_schema=False)
async def people(
    entity_id: FromPath[str], request: AnyRequest, service: InjectedDependencies
) -> _PAGES:
    """List the admins and the backup contact."""
    return await member_page(request, service, entity_id, _page)


@post(f"{_PATH}/add", include_in_schema=False)
async def add(
    entity_id: FromPath[str], request: AnyRequest, service: InjectedDependencies
) -> _PAGES:
    """Add an admin, who is invited by mail when new."""

    async def change(page_context: PageContext, fields: Fields) -> object:
        order = decode_struct({**fields, "entityId": entity_id}, AdminRequest)
        if not isinstance(order, AdminRequest):
            return order
        return await admin_orders.add(page_context.work, _asker(page_context), order)

    return await _changed(request, service, entity_id, change, "added")


@post(f"{_PATH}/remove", include_in_schema=False)
async def remove(
    entity_id: FromPath[str], request: AnyRequest, service: InjectedDependencies
) -> _PAGES:
    """End an admin's rights; the last one who can act stays."""

    async def change(page_context: PageContext, fields: Fields) -> object:
        order = decode_struct({**fields, "entityId": entity_id}, AdminRemovalRequest)
        if not isinstance(order, AdminRemovalRequest):
            return order
        return await admin_orders.remove(page_context.work, _asker(page_context), order)

    return await _changed(request, service, entity_id, change, "removed")


@post(f"{_PATH}/hand-over", include_in_schema=False)
async def hand_over(
    entity_id: FromPath[str], request: AnyRequest, service: InjectedDependencies
) -> _PAGES:
    """Put somebody else in one's own place."""

    async def change(page_context: PageContext, fields: Fields) -> object:
        order = decode_struct({**fields, "entityId": entity_id}, HandOverRequest)
        if not isinstance(order, HandOverRequest):
            return order
        return await admin_orders.hand_over(page_context.work, _asker(page_context), order)

    return await _changed(request, service, entity_id, change, "handed-over")


@post(f"{_PATH}/contact", include_in_schema=False)
async def contact(
    entity_id: FromPath[str], request: AnyRequest, service: InjectedDependencies
) -> _PAGES:
    """Set the backup contact, who gets the letters too."""

    async def change(page_context: PageContext, fields: Fields) -> object:
        order = decode_struct({**fields, "entityId": entity_id}, ContactRequest)
        if not isinstance(order, ContactRequest):
            return order
        return await admin_orders.set_contact(page_context.work, _asker(page_context), order)

    return await _changed(request, service, entity_id, change, "contact")


async def _changed(
    request: AnyRequest, service: HttpDependencies, entity_id: str, change: _Change, told: str
) -> _PAGES:
    async def do(page_context: PageContext, fields: Fields) -> Outcome:
        refused = await admin_orders.locked_own(page_context.work, page_context.user, entity_id)
        if refused is not None:
            return refused
        before = await page_context.work.memberships.admins(entity_id)
        outcome = await change(page_context, fields)
        if isinstance(outcome, Refusal):
            return await _page(page_context, outcome, fields, told)
        user = await page_context.work.people.by_id(page_context.user.user_id)
        if user is None or entity_id not in user.administers:
            return GoTo(f"{CONSOLE}?told=left")
        known = told == "added" and await page_context.work.memberships.admins(entity_id) == before
        return GoTo(f"{member_path(entity_id, 'people')}?told={'known' if known else told}")

    return await member_act(request, service, entity_id, do)


async def _page(
    page_context: PageContext,
    refusal: object | None = None,
    fields: Fields | None = None,
    refused: str = "",
) -> RenderedPage:
    """Show the page; a refusal stands at the form that it is about, with what was typed there."""
    memberships, entity_id = page_context.work.memberships, page_context.member.entity_id
    problem = page_problem(refusal) if refusal is not None else None
    admins = await memberships.admins(entity_id)
    return RenderedPage(
        "people.html",
        {
            "admins": admins,
            "able": sum(1 for admin in admins if admin.state is UserState.ACTIVE),
            "contact": await memberships.contact(entity_id),
            "problem": sentence(_words(refusal, problem.sentence)) if problem else "",
            "refused": refused,
            "typed": {name: (fields or {}).get(name, "")[:254] for name in ("email", "name")},
            "told": page_context.query.get("told", ""),
        },
        problem.status if problem else 200,
    )


def _words(refusal: object, told: str) -> str:
    """Say what the API says of its fields about those of the page."""
    match refusal:
        case LastAdmin():
            return "that is the last admin who can act for this entity: add another one first"
        case NotAnAdmin():
            return "that person is no admin of this entity any more"
    field, _, rest = told.partition(" ")
    return f"{_FIELDS[field]} {rest}" if field in _FIELDS else told


def _asker(page_context: PageContext) -> AdminCaller:
    return AdminCaller(page_context.caller, page_context.user.email)


handlers: Final[list[ControllerRouterHandler]] = [people, add, remove, hand_over, contact]
