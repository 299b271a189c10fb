"""/operator/v1/members: list, onboard, suspend and restore, admins, contact (scope members)."""

from typing import Annotated, Final, Literal

from litestar.params import FromPath
from litestar.types import ControllerRouterHandler
from msgspec import Meta, Struct, field

from mudra.http.auth.gates import OperatorCall, operator
from mudra.http.request.account_requests import (
    AdminRemovalRequest,
    AdminRequest,
    ContactRequest,
    HandOverRequest,
    OnboardRequest,
    R,
    StatusRequest,
)
from mudra.http.request.fields import Flag, PageLimit, SearchText
from mudra.http.response import conflicts
from mudra.http.response.account_responses import AdminsResponse, admins_response
from mudra.http.response.response_body import DateTime, Page, ResponseBody, cut_page
from mudra.http.route import get, post
from mudra.identity.memberships.admins import requested_by
from mudra.identity.memberships.member import MemberStatus
from mudra.identity.memberships.member_search import MemberFilter, MemberRow
from mudra.identity.memberships.member_search_store import MemberSearch
from mudra.identity.memberships.member_status import set_member_status
from mudra.identity.memberships.onboard import onboard_member
from mudra.identity.operators.operator import Scope
from mudra.shared.refusal import Refusal
from mudra.shared.time_text import iso_ms


class MemberChoice(Struct, frozen=True):
    """Filters members."""

    type: Annotated[Literal["", "FIP", "FIU", "AA"], Meta(description="FIP, FIU or AA")] = ""
    status: Annotated[
        Literal["", "active", "suspended", "retired"],
        Meta(description="active, suspended or retired"),
    ] = ""
    words: SearchText = ""
    without_admin: Flag = field(name="withoutAdmin", default="false")


class MemberQuery(MemberChoice, frozen=True):
    """Filters members and selects a page."""

    after: SearchText = ""
    limit: PageLimit = "100"


class MemberDetails(Struct, kw_only=True):
    """A member; of its secret only the time of its expiry."""

    entity_id: str = field(name="entityId")
    type: str
    name: str
    status: str
    onboarded_at: DateTime = field(name="onboardedAt")
    secret_expires_at: DateTime = field(name="secretExpiresAt")
    admins: list[str]
    contact: str
    phone: str
    without_admin: bool = field(name="withoutAdmin")


class MembersPage(Page, kw_only=True):
    """A page of members."""

    members: list[MemberDetails]


class MemberResponse(ResponseBody, kw_only=True):
    """A member; `created` and `invited` say what this call did."""

    entity_id: str = field(name="entityId")
    type: str
    name: str
    status: str
    created: bool
    invited: bool


class MemberStatusResponse(ResponseBody, kw_only=True):
    """The status of a member after the call."""

    status: MemberStatus


def member_filter(query: MemberChoice) -> MemberFilter:
    """Return what a query selects."""
    return MemberFilter(
        entity_type=query.type,
        status=query.status,
        text=query.words,
        without_admin=query.without_admin == "true",
    )


@get("/members", "List members", gate=operator(Scope.MEMBERS))
async def list_members(call: OperatorCall[MemberQuery]) -> MembersPage:
    """List members by entity ID, a page at a time."""
    which = member_filter(call.body)
    limit = int(call.body.limit)
    rows = await MemberSearch(call.tx).members(which, call.body.after, limit + 1)
    shown, following = cut_page(rows, limit, lambda row: row.entity_id)
    return MembersPage(members=[_details(row) for row in shown], next=following)


@post("/members", "Onboard a member", conflicts=conflicts.ONBOARD, gate=operator(Scope.MEMBERS))
async def onboard(call: OperatorCall[OnboardRequest]) -> MemberResponse | Refusal:
    """Onboard a member: create its first secret and invite its admin; idempotent."""
    outcome = await onboard_member(call.tx, call.body.new_member(), call.by)
    if isinstance(outcome, Refusal):
        return outcome
    member = outcome.member
    return MemberResponse(
        entity_id=member.entity_id,
        type=member.entity_type,
        name=member.name,
        status=member.status,
        created=outcome.created,
        invited=outcome.invited,
    )


@post(
    "/members/{entity_id:str}/status",
    "Suspend, restore, retire",
    conflicts=conflicts.MEMBER_STATUS,
    gate=operator(Scope.MEMBERS),
)
async def set_status(
    call: OperatorCall[StatusRequest], entity_id: FromPath[str]
) -> MemberStatusResponse | Refusal:
    """Change an entity's status; from the commit on no node gives a suspended one a token."""
    outcome = await set_member_status(
        call.tx, entity_id, MemberStatus(call.body.status), call.body.reason, call.by
    )
    if isinstance(outcome, Refusal):
        return outcome
    return MemberStatusResponse(status=outcome)


@post(
    "/members/admins/add",
    "Add an admin",
    conflicts=conflicts.ADD_ADMIN,
    gate=operator(Scope.MEMBERS),
)
async def add_admin(call: OperatorCall[AdminRequest]) -> AdminsResponse | Refusal:
    """Add an admin to any entity; a new user gets an invitation."""
    return await _changed(call)


@post(
    "/members/admins/remove",
    "Remove an admin",
    conflicts=conflicts.REMOVE_ADMIN,
    gate=operator(Scope.MEMBERS),
)
async def remove_admin(call: OperatorCall[AdminRemovalRequest]) -> AdminsResponse | Refusal:
    """Remove an admin of any entity; the last one stays."""
    return await _changed(call)


@post(
    "/members/admins/handover",
    "Replace an admin",
    conflicts=conflicts.HAND_OVER,
    gate=operator(Scope.MEMBERS),
)
async def replace_admin(call: OperatorCall[HandOverRequest]) -> AdminsResponse | Refusal:
    """Replace the admin `leaving` of any entity by another one."""
    return await _changed(call)


@post("/members/contact", "Set the backup contact", gate=operator(Scope.MEMBERS))
async def set_contact(call: OperatorCall[ContactRequest]) -> AdminsResponse | Refusal:
    """Set the backup contact of any entity; an empty address removes it."""
    return await _changed(call)


async def _changed(call: OperatorCall[R]) -> AdminsResponse | Refusal:
    return admins_response(await call.body.run(call.tx, requested_by(call.by)))


def _details(row: MemberRow) -> MemberDetails:
    return MemberDetails(
        entity_id=row.entity_id,
        type=row.entity_type,
        name=row.name,
        status=row.status,
        onboarded_at=iso_ms(row.created_at),
        secret_expires_at=iso_ms(row.secret_expires_at),
        admins=list(row.admins),
        contact=row.contact,
        phone=row.phone,
        without_admin=row.able == 0,
    )


handlers: Final[list[ControllerRouterHandler]] = [
    list_members,
    onboard,
    set_status,
    add_admin,
    remove_admin,
    replace_admin,
    set_contact,
]
