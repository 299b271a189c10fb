"""Who looks after an entity: add, remove, hand over, backup contact."""

from collections.abc import Awaitable, Callable
from typing import Final

from litestar import Response, get, post
from litestar.params import FromPath
from litestar.types import ControllerRouterHandler

from mudra.console.framework.navigation import CONSOLE, member_path
from mudra.console.framework.page_context import Visit
from mudra.console.framework.page_guards import Fields, member_act, member_page
from mudra.console.framework.page_results import GoTo, Outcome, Shown
from mudra.console.framework.render import sentence
from mudra.http.account import admin_calls as admin_orders
from mudra.http.account.admin_calls import Asker
from mudra.http.account.people_requests import AdminOrder, AdminRemoval, ContactOrder, HandOver
from mudra.http.dependencies import Injected, Service
from mudra.http.request.request_context import AnyRequest
from mudra.http.request.validation import read_members
from mudra.http.response.errors import is_refusal, problem_of
from mudra.identity.accounts.user import UserState
from mudra.identity.memberships.admins import LastAdmin, NotAnAdmin

_PATH: Final = "/entity/{entity_id:str}/people"
_PAGES = Response[str] | Response[bytes]
_FIELDS: Final = {"email": "the e-mail address", "name": "the name"}
_Change = Callable[[Visit, Fields], Awaitable[object]]


@get(_PATH, include_in_schema=False)
async def people(entity_id: FromPath[str], request: AnyRequest, service: Injected) -> _PAGES:
    """List the admins and the backup contact."""
    return await member_page(request, service, entity_id, _page)


@post(f"{_PATH}/add", include_in_schema=False)
async def add(entity_id: FromPath[str], request: AnyRequest, service: Injected) -> _PAGES:
    """Add an admin, who is invited by mail when new."""

    async def change(visit: Visit, fields: Fields) -> object:
        order = read_members({**fields, "entityId": entity_id}, AdminOrder)
        if not isinstance(order, AdminOrder):
            return order
        return await admin_orders.add(visit.work, _asker(visit), order)

    return await _changed(request, service, entity_id, change, "added")


@post(f"{_PATH}/remove", include_in_schema=False)
async def remove(entity_id: FromPath[str], request: AnyRequest, service: Injected) -> _PAGES:
    """End an admin's rights; the last one who can act stays."""

    async def change(visit: Visit, fields: Fields) -> object:
        order = read_members({**fields, "entityId": entity_id}, AdminRemoval)
        if not isinstance(order, AdminRemoval):
            return order
        return await admin_orders.remove(visit.work, _asker(visit), order)

    return await _changed(request, service, entity_id, change, "removed")


@post(f"{_PATH}/hand-over", include_in_schema=False)
async def hand_over(entity_id: FromPath[str], request: AnyRequest, service: Injected) -> _PAGES:
    """Put somebody else in one's own place."""

    async def change(visit: Visit, fields: Fields) -> object:
        order = read_members({**fields, "entityId": entity_id}, HandOver)
        if not isinstance(order, HandOver):
            return order
        return await admin_orders.hand_over(visit.work, _asker(visit), order)

    return await _changed(request, service, entity_id, change, "handed-over")


@post(f"{_PATH}/contact", include_in_schema=False)
async def contact(entity_id: FromPath[str], request: AnyRequest, service: Injected) -> _PAGES:
    """Set the backup contact, who gets the letters too."""

    async def change(visit: Visit, fields: Fields) -> object:
        order = read_members({**fields, "entityId": entity_id}, ContactOrder)
        if not isinstance(order, ContactOrder):
            return order
        return await admin_orders.set_contact(visit.work, _asker(visit), order)

    return await _changed(request, service, entity_id, change, "contact")


async def _changed(
    request: AnyRequest, service: Service, entity_id: str, change: _Change, told: str
) -> _PAGES:
    async def do(visit: Visit, fields: Fields) -> Outcome:
        refused = await admin_orders.locked_own(visit.work, visit.user, entity_id)
        if refused is not None:
            return refused
        before = await visit.work.roster.admins(entity_id)
        outcome = await change(visit, fields)
        if is_refusal(outcome):
            return await _page(visit, outcome, fields, told)
        user = await visit.work.people.by_id(visit.user.user_id)
        if user is None or entity_id not in user.administers:
            return GoTo(f"{CONSOLE}?told=left")
        known = told == "added" and await visit.work.roster.admins(entity_id) == before
        return GoTo(f"{member_path(entity_id, 'people')}?told={'known' if known else told}")

    return await member_act(request, service, entity_id, do)


async def _page(
    visit: Visit, refusal: object | None = None, fields: Fields | None = None, refused: str = ""
) -> Shown:
    """Show the page; a refusal stands at the form that it is about, with what was typed there."""
    roster, entity_id = visit.work.roster, visit.member.entity_id
    problem = problem_of(refusal) if refusal is not None else None
    admins = await roster.admins(entity_id)
    return Shown(
        "people.html",
        {
            "admins": admins,
            "able": sum(1 for admin in admins if admin.state is UserState.ACTIVE),
            "contact": await roster.contact(entity_id),
            "problem": sentence(_words(refusal, problem.sentence)) if problem else "",
            "refused": refused,
            "typed": {name: (fields or {}).get(name, "")[:254] for name in ("email", "name")},
            "told": visit.query.get("told", ""),
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


def _asker(visit: Visit) -> Asker:
    return Asker(visit.caller, visit.user.email)


handlers: Final[list[ControllerRouterHandler]] = [people, add, remove, hand_over, contact]
