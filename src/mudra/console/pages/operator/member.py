"""One member as operators see it: admins, secret, entry, tokens, emails; and actions."""

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
from mudra.console.pages.operator.labels import approval_link, member_link, tone
from mudra.http.dependencies import InjectedDependencies
from mudra.http.request.account_requests import (
    AdminChangeRequest,
    AdminRemovalRequest,
    AdminRequest,
    ContactRequest,
    StatusRequest,
)
from mudra.http.request.request_context import AnyRequest
from mudra.http.request.validation import decode_struct
from mudra.identity.accounts.manage_accounts import invite_admin
from mudra.identity.accounts.user import User
from mudra.identity.memberships.admins import EntityAdmins, NoSuchEntity, Requester
from mudra.identity.memberships.member import MemberStatus
from mudra.identity.memberships.member_search import MemberFilter, MemberRow, UserFilter, UserRow
from mudra.identity.memberships.member_status import set_member_status
from mudra.identity.operators.operator import Scope
from mudra.overview.mail_queue import QueuedMail
from mudra.shared.refusal import Refusal

DAYS: Final = 30
_DONE: Final = {
    "status": "status",
    "admins": "added",
    "removal": "removed",
    "contact": "contact",
    "invitation": "invited",
}
"""The notice of each action."""
_ADMIN_CHANGES: Final[Mapping[str, type[AdminChangeRequest]]] = {
    "admins": AdminRequest,
    "removal": AdminRemovalRequest,
    "contact": ContactRequest,
}
MAX_MAILS: Final = 100
NOTICES: Final = {
    "onboarded": "Member onboarded. Its admin was invited by email.",
    "known": "This member already exists with this type, name and admin; nothing was changed.",
    "status": "Status changed on every node.",
    "added": "Admin added. An admin without a password gets an email with a link.",
    "removed": "Admin removed. Their rights ended immediately.",
    "invited": "Link sent. Older links no longer work.",
    "contact": "Backup contact saved.",
}
MAILS: Final = Table[QueuedMail](
    "mails",
    "Email to its admins",
    (
        Column("at", "Written", lambda m: m.created_at, "time"),
        Column("to", "To", lambda m: m.recipient),
        Column("subject", "Subject", lambda m: m.subject),
        Column("state", "State", lambda m: m.state, "tag", tone=lambda m: tone(m.state)),
        Column("tries", "Attempts", lambda m: m.attempts, "number"),
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


@post("/operator/members/{entity_id:str}/{action:str}", include_in_schema=False)
async def change_member(
    entity_id: FromPath[str],
    action: FromPath[str],
    request: AnyRequest,
    service: InjectedDependencies,
) -> Response[str] | Response[bytes]:
    """Suspend or restore, add or remove an admin, invite again, set the contact."""

    async def do(page_context: PageContext, fields: Fields) -> Outcome:
        refused = await _change(page_context, entity_id, action, fields)
        if refused is not None:
            return await _page(page_context, entity_id, refused)
        return GoTo(f"{member_link(entity_id)}?told={_DONE[action]}")

    return await operator_act(request, service, Scope.MEMBERS, do)


async def _change(
    page_context: PageContext, entity_id: str, action: str, fields: Fields
) -> Refusal | None:
    """Carry out one action; returns the refusal, if any."""
    work, caller = page_context.work, page_context.caller
    given = {**fields, "entityId": entity_id}
    if action in _ADMIN_CHANGES:
        change = decode_struct(given, _ADMIN_CHANGES[action])
        if isinstance(change, Refusal):
            return change
        return _refusal(await change.run(work, Requester(caller)))
    match action:
        case "status":
            body = decode_struct(given, StatusRequest)
            if isinstance(body, Refusal):
                return body
            status = MemberStatus(body.status)
            return _refusal(await set_member_status(work, entity_id, status, body.reason, caller))
        case "invitation":
            return _refusal(await invite_admin(work, entity_id, fields.get("email", ""), caller))
        case _:
            return NoSuchEntity(entity_id)


def _refusal(outcome: EntityAdmins | MemberStatus | User | Refusal) -> Refusal | None:
    return outcome if isinstance(outcome, Refusal) else None


async def _page(
    page_context: PageContext, entity_id: str, refusal: Refusal | None = None
) -> Outcome:
    found = await page_context.work.member_search.members(MemberFilter(entity_id=entity_id), "", 1)
    if not found:
        return NoSuchEntity(entity_id)
    problem = None if refusal is None else page_problem(refusal)
    facts = {
        "member": found[0],
        "tone": tone,
        "notice": NOTICES.get(page_context.query.get("told", ""), "") if problem is None else "",
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


handlers: Final[list[ControllerRouterHandler]] = [show_member, change_member]
