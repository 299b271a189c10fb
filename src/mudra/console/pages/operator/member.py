"""One member as operators see it: admins, secret, entry, tokens, emails; and actions."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Final
from urllib.parse import quote

from litestar.params import FromPath
from litestar.types import ControllerRouterHandler
from msgspec.structs import replace

from mudra.console.framework import page
from mudra.console.framework.console_errors import page_problem, refusal_text
from mudra.console.framework.navigation import Link, operator_path
from mudra.console.framework.page import Fields
from mudra.console.framework.page_context import PageContext
from mudra.console.framework.page_results import Download, GoTo, Outcome, RenderedPage, StreamedPage
from mudra.console.framework.session.identity_proof import RECENT
from mudra.console.framework.table import Column, Table
from mudra.console.health.labels import CauseLine, cause_lines, named_headline
from mudra.console.pages.email_text import without_severity
from mudra.console.pages.operator.bars import Bar, bars_of_days
from mudra.console.pages.operator.labels import approval_link, member_link, pages_of_member, tone
from mudra.console.pages.operator.mails import SEVERITY, STATE
from mudra.http.auth.gates import operator
from mudra.http.request.account_requests import (
    AdminChangeRequest,
    AdminRemovalRequest,
    AdminRequest,
    ContactRequest,
    StatusRequest,
)
from mudra.http.request.validation import decode_struct
from mudra.http.response.http_refusals import InvalidField
from mudra.identity.accounts.acts.manage_accounts import AccountChanged, invite_admin
from mudra.identity.accounts.user import User
from mudra.identity.memberships.admins import EntityAdmins, no_such_entity, requested_by
from mudra.identity.memberships.member import MemberStatus
from mudra.identity.memberships.member_search import MemberRow
from mudra.identity.memberships.member_status import set_member_status
from mudra.identity.operators.operator import Scope
from mudra.identity.second_factor.reset_factor import reset_admins_factor
from mudra.localization.language import gettext, translatable
from mudra.metrics.health.health_service import HealthService
from mudra.metrics.incidents.incident_service import IncidentService
from mudra.metrics.incidents.subject import aa_concerned, fip_concerned
from mudra.overview.mail_queue_store import QueuedMail
from mudra.overview.member_overview import find_member, member_overview
from mudra.overview.onboarding import onboarding_of
from mudra.overview.suspension import suspension_of
from mudra.shared.entity_type import EntityType
from mudra.shared.refusal import Refusal
from mudra.tokens.secrets.address_binding import AddressBinding
from mudra.tokens.secrets.binding_service import BindingService

DAYS: Final = 30
_MAX_OPEN: Final = 500
_DONE: Final = {
    "status": "status",
    "admins": "added",
    "removal": "removed",
    "contact": "contact",
    "binding": "binding",
    "invitation": "invited",
    "second-factor": "factor",
}
"""The notice of each action."""
_ADMIN_CHANGES: Final[Mapping[str, type[AdminChangeRequest]]] = {
    "admins": AdminRequest,
    "removal": AdminRemovalRequest,
    "contact": ContactRequest,
}
NOTICES: Final = {
    "onboarded": translatable("Member onboarded. Its admin was invited by email."),
    "uninvited": translatable(
        "Member onboarded. Its admin has a password or a valid link: no email was sent."
    ),
    "known": translatable(
        "This member already exists with this type, name and admin; nothing was changed."
    ),
    "status": translatable("Status changed on every node."),
    "added": translatable("Admin added. An admin without a password has an email with a link."),
    "removed": translatable("Removed. The address has no rights and no invitation here any more."),
    "invited": translatable("Link sent. Older links no longer work."),
    "contact": translatable("Backup contact saved."),
    "binding": translatable("Binding to listed addresses changed on every node."),
    "factor": translatable("Second factor reset. The person was signed out and gets an email."),
}
MAILS: Final = Table[QueuedMail](
    "mails",
    translatable("Email to its admins"),
    (
        Column(
            "subject",
            translatable("Subject"),
            lambda m: without_severity(m.subject),
            link=lambda m: operator_path(f"mails/{m.mail_id}"),
        ),
        SEVERITY,
        Column("at", translatable("Written"), lambda m: m.created_at, "time", phone="figure"),
        Column("to", translatable("Recipient"), lambda m: m.recipient, phone="figure"),
        replace(STATE, usual="kept here"),
        Column("tries", translatable("Attempts"), lambda m: m.attempts or None, "below"),
    ),
    first_sort="-at",
)
_BY_DAY: Final = Table[Bar](
    "days",
    translatable("Tokens by day, UTC"),
    (
        Column("day", translatable("Day"), lambda bar: bar.day.isoformat()),
        Column("tokens", translatable("Tokens"), lambda bar: bar.count, "number"),
    ),
    first_sort="-day",
)


@page.get("/operator/members/{entity_id:str}", gate=operator(Scope.MEMBERS))
async def show_member(page_context: PageContext, entity_id: FromPath[str]) -> Outcome:
    """Show a member."""
    return await _page(page_context, entity_id)


@page.post(
    "/operator/members/{entity_id:str}/{action:str}", gate=operator(Scope.MEMBERS), proof=RECENT
)
async def change_member(
    page_context: PageContext, fields: Fields, entity_id: FromPath[str], action: FromPath[str]
) -> Outcome:
    """Change its status, an admin, an admin's link or second factor, or the contact."""
    refused = await _change(page_context, entity_id, action, fields)
    if refused is not None:
        return await _page(page_context, entity_id, refused)
    return GoTo(f"{member_link(entity_id)}?told={_DONE[action]}")


async def _change(
    page_context: PageContext, entity_id: str, action: str, fields: Fields
) -> Refusal | None:
    """Carry out one action; returns the refusal, if any."""
    tx, by = page_context.tx, page_context.acting_operator
    given = {**fields, "entityId": entity_id}
    if action in _ADMIN_CHANGES:
        change = decode_struct(given, _ADMIN_CHANGES[action])
        if isinstance(change, Refusal):
            return change
        return _refusal(await change.run(tx, requested_by(by)))
    match action:
        case "status":
            body = decode_struct(given, StatusRequest)
            if isinstance(body, Refusal):
                return body
            status = MemberStatus(body.status)
            return _refusal(await set_member_status(tx, entity_id, status, body.reason, by))
        case "binding":
            return await _bind(page_context, entity_id, fields)
        case "invitation":
            return _refusal(await invite_admin(tx, by, entity_id, fields.get("email", "")))
        case "second-factor":
            return _refusal(await reset_admins_factor(tx, by, entity_id, fields.get("email", "")))
        case _:
            return no_such_entity(entity_id)


async def _bind(page_context: PageContext, entity_id: str, fields: Fields) -> Refusal | None:
    chosen = fields.get("binding", "")
    if chosen not in set(AddressBinding):
        return InvalidField(f"binding must be one of {', '.join(AddressBinding)}")
    outcome = await page_context.tx.service(BindingService).bind(
        entity_id,
        AddressBinding(chosen),
        requested_by(page_context.acting_operator),
        even_so=fields.get("evenSo") == "yes",
    )
    return outcome if isinstance(outcome, Refusal) else None


def _refusal(
    outcome: EntityAdmins | MemberStatus | User | AccountChanged | Refusal,
) -> Refusal | None:
    return outcome if isinstance(outcome, Refusal) else None


async def _page(
    page_context: PageContext, entity_id: str, refusal: Refusal | None = None
) -> Outcome:
    member = await find_member(page_context.tx, entity_id)
    if member is None:
        return no_such_entity(entity_id)
    problem = None if refusal is None else page_problem(refusal)
    facts = {
        "member": member,
        "elsewhere": [
            *pages_of_member(
                member.entity_id,
                member.entity_type,
                page_context.scopes,
                here=member_link(member.entity_id),
            ),
            *_delivered(member, page_context.scopes),
        ],
        "tone": tone,
        "notice": gettext(NOTICES.get(page_context.query.get("told", ""), ""))
        if problem is None
        else "",
        "problem": refusal_text(refusal) if refusal else "",
    }
    if problem is None:
        return StreamedPage("operator_member.html", facts, lambda then: _figures(then, member))
    figures = await _figures(page_context, member)
    if isinstance(figures, Download):
        return figures
    return RenderedPage("operator_member.html", {**facts, **figures}, problem.status)


def _delivered(member: MemberRow, scopes: frozenset[Scope]) -> Sequence[Link]:
    """Returns the pages of a member's service levels and of its disputes."""
    if Scope.HEALTH not in scopes:
        return ()
    quoted = quote(member.entity_id, safe="")
    levels = Link(
        gettext("Service levels"), operator_path(f"levels?entity={quoted}"), current=False
    )
    disputes = Link(gettext("Disputes"), operator_path(f"disputes?of={quoted}"), current=False)
    return [disputes] if member.entity_type == EntityType.FIU.value else [levels, disputes]


async def _figures(page_context: PageContext, member: MemberRow) -> Mapping[str, object] | Download:
    today = page_context.now.date()
    since = today - timedelta(days=DAYS - 1)
    found = await member_overview(page_context.tx, member, since)
    tokens = bars_of_days(found.tokens, since, today)
    export = MAILS.export(found.mails, page_context.query) or _BY_DAY.export(
        tokens.bars, page_context.query
    )
    if export is not None:
        return export
    binding = await page_context.tx.service(BindingService).view(
        member.entity_id, requested_by(page_context.acting_operator)
    )
    may_approve = Scope.REGISTRY in page_context.scopes
    return {
        "steps": await onboarding_of(page_context.tx, member.entity_id),
        "admins": found.admins,
        "invitations": found.invitations,
        "binding": None if isinstance(binding, Refusal) else binding,
        "holding": found.holding,
        "use": found.use,
        "record": found.record,
        "ended": await suspension_of(
            page_context.tx, member.entity_id, MemberStatus(member.status)
        ),
        "approval": approval_link(member.entity_id) if may_approve else "",
        "tokens": tokens,
        "days": _BY_DAY.view(tokens.bars, page_context.query),
        "causes": await _causes(page_context, member.entity_id),
        "kept_here": page_context.dependencies.settings.smtp_url is None,
        "mails": _mails(found.mails).view(found.mails, page_context.query),
    }


async def _causes(page_context: PageContext, entity_id: str) -> Sequence[CauseLine]:
    """Returns the open incidents at the member, for those who may see them."""
    if Scope.HEALTH not in page_context.scopes:
        return ()
    tx = page_context.tx
    found = await tx.service(IncidentService).latest(only_open=True, limit=_MAX_OPEN)
    own = [
        one
        for one in found
        if entity_id in {aa_concerned(one.incident.subject), fip_concerned(one.incident.subject)}
    ]
    if not own:
        return ()
    lines = cause_lines(own, heading=named_headline(await tx.service(HealthService).names()))
    # The page has its own ID in its head.
    return [replace(one, ids="") if one.ids == entity_id else one for one in lines]


def _mails(found: Sequence[QueuedMail]) -> Table[QueuedMail]:
    """Returns the table of emails; without their recipient where it is the same one."""
    if len({one.recipient for one in found}) > 1:
        return MAILS
    return replace(MAILS, columns=[one for one in MAILS.columns if one.key != "to"])


handlers: Final[list[ControllerRouterHandler]] = [show_member, change_member]
