"""Members: search, filter, onboard with an invitation."""

from collections.abc import Mapping, Sequence
from typing import Final
from urllib.parse import urlencode

from litestar.types import ControllerRouterHandler

from mudra.console.framework import page
from mudra.console.framework.console_errors import page_problem, refusal_text
from mudra.console.framework.navigation import Link, operator_path
from mudra.console.framework.page import Fields
from mudra.console.framework.page_context import PageContext
from mudra.console.framework.page_results import Download, GoTo, Outcome, RenderedPage
from mudra.console.framework.session.identity_proof import RECENT
from mudra.console.framework.table import Column, Table
from mudra.console.pages.operator.labels import member_link, tone
from mudra.http.auth.gates import operator
from mudra.http.request.account_requests import OnboardRequest
from mudra.http.request.validation import decode_struct
from mudra.identity.memberships.in_bulk.bulk_act import MAX_MEMBERS
from mudra.identity.memberships.in_bulk.import_members import export_members
from mudra.identity.memberships.member_search import NO_ADMIN_CAN_ACT, MemberFilter, MemberRow
from mudra.identity.memberships.member_search_store import MemberSearch
from mudra.identity.memberships.onboard import onboard_member
from mudra.identity.operators.operator import Scope
from mudra.localization.language import gettext, translatable
from mudra.overview.onboarding import unfinished_members
from mudra.shared.refusal import Refusal
from mudra.storage.database.transaction import Transaction

MAX_COUNT: Final = 5000
FILE: Final = "file"
"""The export that an import reads; the one of the table has what its reader sees."""
TYPES: Final = ("AA", "FIP", "FIU")
STATES: Final = ("active", "suspended", "retired")


TABLE: Final = Table[MemberRow](
    "members",
    translatable("Members"),
    (
        Column(
            "name", translatable("Name"), lambda r: r.name, link=lambda r: member_link(r.entity_id)
        ),
        Column("entity", translatable("Entity"), lambda r: r.entity_id, "code", phone="figure"),
        Column("type", translatable("Type"), lambda r: r.entity_type, "type", phone="figure"),
        Column(
            "status",
            translatable("Status"),
            lambda r: r.state,
            "tag",
            tone=lambda r: "bad" if r.is_stuck else tone(r.status),
            order=lambda r: f"{0 if r.is_stuck else 1} {r.entity_id}",
            phone="state",
        ),
        Column("admins", translatable("Admins"), lambda r: ", ".join(r.admins), "file"),
        Column("secret", translatable("Secret expires"), lambda r: r.secret_expires_at, "time"),
        Column("since", translatable("Onboarded"), lambda r: r.created_at, "file"),
    ),
    first_sort="status",
    choose=lambda r: r.entity_id,
    rows=20,
)


async def shown_filter(tx: Transaction, query: Mapping[str, str]) -> MemberFilter:
    """Return what the filters above the list select; a value in error selects all."""
    kind, status = query.get("type", ""), query.get("status", "")
    is_new = query.get("onboarding") == "open"
    return MemberFilter(
        entity_type=kind if kind in TYPES else "",
        status=status if status in STATES else "",
        without_admin=query.get("alone") == "true",
        among=await unfinished_members(tx) if is_new else None,
    )


_SHOWN: Final = {
    translatable("Any status"): {},
    translatable("active"): {"status": "active"},
    translatable("suspended"): {"status": "suspended"},
    translatable("retired"): {"status": "retired"},
    NO_ADMIN_CAN_ACT: {"status": "active", "alone": "true"},
    translatable("onboarding"): {"onboarding": "open"},
}
"""What the list may show, by title, as its address names it."""


def _pickers(query: Mapping[str, str]) -> Sequence[tuple[str, Sequence[Link]]]:
    """Return the choices above the list; each keeps what the other one chose."""
    of_type = {name: query[name] for name in ("type",) if query.get(name)}
    shown = {name: query[name] for name in ("status", "alone", "onboarding") if query.get(name)}
    types: dict[str, dict[str, str]] = {translatable("All types"): {}} | {
        one: {"type": one} for one in TYPES
    }
    return [
        (translatable("Type"), [_choice(t, q, q == of_type, shown) for t, q in types.items()]),
        (translatable("Status"), [_choice(t, q, q == shown, of_type) for t, q in _SHOWN.items()]),
    ]


def _choice(title: str, query: Mapping[str, str], current: bool, kept: Mapping[str, str]) -> Link:
    path = "?" + urlencode({**query, **kept}) if query or kept else operator_path("members")
    return Link(gettext(title), path, current)


@page.get("/operator/members", gate=operator(Scope.MEMBERS))
async def members(page_context: PageContext) -> Outcome:
    """List members."""
    which = await shown_filter(page_context.tx, page_context.query)
    if page_context.query.get("export") == FILE:
        text = await export_members(page_context.tx, which)
        return Download("members-for-import.csv", "text/csv", text.encode())
    rows = await MemberSearch(page_context.tx).members(which, "", MAX_COUNT)
    return TABLE.export(rows, page_context.query) or RenderedPage(
        "operator_members.html",
        {
            "view": TABLE.view(rows, page_context.query),
            "pickers": _pickers(page_context.query),
            "sent": {
                name: page_context.query[name]
                for name in ("type", "status", "alone", "onboarding", "members.q")
                if name in page_context.query
            },
            "most": MAX_MEMBERS,
            "file_link": "?" + urlencode({**page_context.query, "export": FILE}),
            "notice": page_context.query.get("told", ""),
        },
    )


@page.get("/operator/onboard", gate=operator(Scope.MEMBERS))
async def show_onboard(_: PageContext) -> Outcome:
    """Show the form of a new member."""
    return _form({})


@page.post("/operator/onboard", gate=operator(Scope.MEMBERS), proof=RECENT)
async def onboard(page_context: PageContext, fields: Fields) -> Outcome:
    """Onboard a member and invite its admin."""
    body = decode_struct(dict(fields), OnboardRequest)
    if isinstance(body, Refusal):
        return _form(fields, body)
    by = page_context.acting_operator
    outcome = await onboard_member(page_context.tx, body.new_member(), by)
    if isinstance(outcome, Refusal):
        return _form(fields, outcome)
    notice = "known"
    if outcome.created:
        notice = "onboarded" if outcome.invited else "uninvited"
    return GoTo(operator_path(f"members/{body.entity_id}?told={notice}"))


def _form(fields: Fields, refusal: Refusal | None = None) -> RenderedPage:
    problem = None if refusal is None else page_problem(refusal)
    return RenderedPage(
        "operator_onboard.html",
        {
            "types": TYPES,
            "fields": fields,
            "problem": refusal_text(refusal) if refusal else "",
        },
        status=problem.status if problem else 200,
    )


handlers: Final[list[ControllerRouterHandler]] = [members, show_onboard, onboard]
