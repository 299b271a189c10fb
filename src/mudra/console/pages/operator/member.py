"""One member as operators see it: admins, secret dates, entry, tokens by day, mails; and acts."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Final

from litestar import Response, get, post
from litestar.params import FromPath
from litestar.types import ControllerRouterHandler

from mudra.console.framework.console_errors import page_problem
from mudra.console.framework.page_context import PageContext
from mudra.console.framework.page_guards import Fields, operator_act, operator_page
from mudra.console.framework.page_results import Download, GoTo, Outcome, RenderedPage, StreamedPage
from mudra.console.framework.table import Column, Table
from mudra.console.pages.operator.bars import Bar, bars_of_days
from mudra.console.pages.operator.labels import approval_link, mail_state, member_link, tone
from mudra.http.account.people_requests import (
    AdminRemovalRequest,
    AdminRequest,
    ContactRequest,
    StatusRequest,
)
from mudra.http.dependencies import InjectedDependencies
from mudra.http.request.request_context import AnyRequest
from mudra.http.request.validation import decode_struct
from mudra.identity.accounts.account_service import NoSuchUser
from mudra.identity.accounts.user import User
from mudra.identity.memberships.admins import AdminsChanged, NoSuchEntity
from mudra.identity.memberships.member import MemberStatus
from mudra.identity.memberships.member_search import MemberFilter, MemberRow, UserFilter, UserRow
from mudra.identity.operators.operator import Scope
from mudra.overview.mail_queue import QueuedMail

DAYS: Final = 30
MAX_MAILS: Final = 100
TOLD: Final = {
    "onboarded": "The member is onboarded, and its admin is invited by mail.",
    "known": "This member was there already, with these particulars: nothing was changed.",
    "status": "The status is changed, on every node.",
    "added": "The admin is added; one without a password gets a mail with a link.",
    "removed": "The admin is removed: its rights ended at once.",
    "invited": "A link is on its way. Older links no longer work.",
    "contact": "The backup contact is changed.",
}
MAILS: Final = Table[QueuedMail](
    "mails",
    "Mails to its admins",
    (
        Column("at", "Written", lambda m: m.created_at, "time"),
        Column("to", "To", lambda m: m.recipient),
        Column("subject", "Subject", lambda m: m.subject),
        Column("state", "State", mail_state, "tag", tone=lambda m: tone(mail_state(m))),
        Column("tries", "Tries", lambda m: m.attempts, "number"),
    ),
    first_sort="-at",
)
_BY_DAY: Final = Table[Bar](
    "days",
    "Tokens by day, UTC",
    (
        Column("day", "Day", lambda bar: bar.day.isoformat()),
        Column("tokens", "Tokens", lambda bar: bar.count, "number"),
    ),
    first_sort="-day",
)


@get("/operator/members/{entity_id:str}", include_in_schema=False)
async def show_member(
    entity_id: FromPath[str], request: AnyRequest, service: InjectedDependencies
) -> Response[str] | Response[bytes]:
    """Show a member."""

    async def look(page_context: PageContext) -> Outcome:
        return await _page(page_context, entity_id)

    return await operator_page(request, service, Scope.MEMBERS, look)


@post("/operator/members/{entity_id:str}/{act:str}", include_in_schema=False)
async def act_on_member(
    entity_id: FromPath[str], act: FromPath[str], request: AnyRequest, service: InjectedDependencies
) -> Response[str] | Response[bytes]:
    """Suspend or restore, add or remove an admin, invite again, set the contact."""

    async def do(page_context: PageContext, fields: Fields) -> Outcome:
        outcome = await _done(page_context, entity_id, act, fields)
        if isinstance(outcome, str):
            return GoTo(f"{member_link(entity_id)}?told={outcome}")
        return await _page(page_context, entity_id, outcome)

    return await operator_act(request, service, Scope.MEMBERS, do)


async def _done(page_context: PageContext, entity_id: str, act: str, fields: Fields) -> object:
    """Carry out one act; gives the word for what was done, or the refusal."""
    work, given = page_context.work, {**fields, "entityId": entity_id}
    match act:
        case "status":
            order: object = decode_struct(given, StatusRequest)
            if isinstance(order, StatusRequest):
                status = MemberStatus(order.status)
                order = await work.members.set_status(
                    entity_id, status, order.reason, page_context.caller
                )
            return "status" if isinstance(order, MemberStatus) else order
        case "admins":
            order = decode_struct(given, AdminRequest)
            if isinstance(order, AdminRequest):
                order = await work.admins.add(
                    entity_id, order.email, order.name, page_context.caller
                )
            return "added" if isinstance(order, AdminsChanged) else order
        case "removal":
            order = decode_struct(given, AdminRemovalRequest)
            if isinstance(order, AdminRemovalRequest):
                order = await work.admins.remove(
                    entity_id, order.email, page_context.caller, may_leave_none=True
                )
            return "removed" if isinstance(order, AdminsChanged) else order
        case "contact":
            order = decode_struct(given, ContactRequest)
            if isinstance(order, ContactRequest):
                order = await work.admins.set_contact(entity_id, order.email, page_context.caller)
            return "contact" if isinstance(order, str) else order
        case "invitation":
            return await _invited(page_context, entity_id, fields.get("email", ""))
        case _:
            return NoSuchEntity(entity_id)


async def _invited(page_context: PageContext, entity_id: str, email: str) -> object:
    """Send a new link to an admin of this member."""
    admins = await page_context.work.memberships.admins(entity_id)
    admin = next((one for one in admins if one.email == email), None)
    if admin is None:
        return NoSuchUser()
    outcome = await page_context.work.accounts.invite_again(admin.user_id, page_context.caller)
    return "invited" if isinstance(outcome, User) else outcome


async def _page(
    page_context: PageContext, entity_id: str, refusal: object | None = None
) -> Outcome:
    found = await page_context.work.member_search.members(MemberFilter(entity_id=entity_id), "", 1)
    if not found:
        return NoSuchEntity(entity_id)
    problem = None if refusal is None else page_problem(refusal)
    facts = {
        "member": found[0],
        "tone": tone,
        "told": TOLD.get(page_context.query.get("told", ""), "") if problem is None else "",
        "problem": problem.sentence if problem else "",
    }
    if problem is None:
        return StreamedPage("operator_member.html", facts, lambda then: _figures(then, found[0]))
    figures = await _figures(page_context, found[0])
    if isinstance(figures, Download):
        return figures
    return RenderedPage("operator_member.html", {**facts, **figures}, problem.status)


async def _figures(page_context: PageContext, member: MemberRow) -> Mapping[str, object] | Download:
    work, entity_id = page_context.work, member.entity_id
    admins = await work.member_search.users(UserFilter(entity_id=entity_id), "", 1000)
    mails = await _mails(page_context, admins, member.contact)
    today = page_context.now.date()
    since = today - timedelta(days=DAYS - 1)
    tokens = bars_of_days(await work.token_counts.by_day(entity_id, since), since, today)
    export = MAILS.export(mails, page_context.query) or _BY_DAY.export(
        tokens.bars, page_context.query
    )
    if export is not None:
        return export
    holding = await work.secrets.held(entity_id)
    return {
        "admins": admins,
        "holding": holding,
        "use": await work.uses.of(entity_id, holding.current.version) if holding else None,
        "record": await work.registry.record(entity_id),
        "approval": approval_link(entity_id) if Scope.REGISTRY in page_context.scopes else "",
        "tokens": tokens,
        "days": _BY_DAY.view(tokens.bars, page_context.query),
        "mails": MAILS.view(mails, page_context.query),
    }


async def _mails(
    page_context: PageContext, admins: Sequence[UserRow], contact: str
) -> Sequence[QueuedMail]:
    addresses = [admin.email for admin in admins] + ([contact] if contact else [])
    return await page_context.work.mail_queue.to(addresses, MAX_MAILS)


handlers: Final[list[ControllerRouterHandler]] = [show_member, act_on_member]
