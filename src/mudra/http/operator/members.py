"""/operator/v1/members: list, onboard, suspend and restore, admins, contact (scope members)."""

from typing import Annotated, Final, Literal

from litestar import Response, get, post
from litestar.handlers import HTTPRouteHandler
from litestar.params import FromPath
from litestar.types import ControllerRouterHandler
from msgspec import Meta, Struct, field

from mudra.audit.event import Caller
from mudra.http.auth.as_operator import as_operator
from mudra.http.dependencies import InjectedDependencies
from mudra.http.openapi.operation import described
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
from mudra.http.request.request_context import AnyRequest, receive_json, receive_query
from mudra.http.response.account_responses import AdminsResponse, admins_response
from mudra.http.response.json_response import HandlerResult
from mudra.http.response.response_body import (
    DateTime,
    Page,
    ResponseBody,
    StatusResponse,
    cut_page,
)
from mudra.identity.memberships.admins import Requester
from mudra.identity.memberships.member import MemberStatus
from mudra.identity.memberships.member_search import MemberFilter, MemberRow
from mudra.identity.memberships.member_status import set_member_status
from mudra.identity.memberships.onboard import onboard_member
from mudra.identity.operators.operator import Scope
from mudra.shared.refusal import Refusal
from mudra.shared.time_text import iso_ms
from mudra.unit_of_work import UnitOfWork


class MemberQuery(Struct, frozen=True):
    """Filters members and selects a page."""

    type: Annotated[Literal["", "FIP", "FIU", "AA"], Meta(description="FIP, FIU or AA")] = ""
    status: Annotated[
        Literal["", "active", "suspended", "retired"],
        Meta(description="active, suspended or retired"),
    ] = ""
    words: SearchText = ""
    without_admin: Flag = field(name="withoutAdmin", default="false")
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


@get(
    "/members",
    operation_class=described("List members", None, MembersPage, bearer=True, query=MemberQuery),
)
async def list_members(request: AnyRequest, service: InjectedDependencies) -> Response[bytes]:
    """List members by entity ID, a page at a time."""
    context, received = receive_query(request, service, MemberQuery)

    async def handler(work: UnitOfWork, _: Caller, query: MemberQuery) -> HandlerResult:
        which = MemberFilter(
            entity_type=query.type,
            status=query.status,
            text=query.words,
            without_admin=query.without_admin == "true",
        )
        limit = int(query.limit)
        rows = await work.member_search.members(which, query.after, limit + 1)
        shown, following = cut_page(rows, limit, lambda row: row.entity_id)
        return MembersPage(members=[_details(row) for row in shown], next=following)

    return await as_operator(context, received, Scope.MEMBERS, handler)


@post(
    "/members",
    status_code=200,
    operation_class=described(
        "Onboard a member", OnboardRequest, MemberResponse, bearer=True, conflict=True
    ),
)
async def onboard(request: AnyRequest, service: InjectedDependencies) -> Response[bytes]:
    """Onboard a member: create its first secret and invite its admin; idempotent."""
    context, received = await receive_json(request, service, OnboardRequest)

    async def handler(work: UnitOfWork, caller: Caller, body: OnboardRequest) -> HandlerResult:
        outcome = await onboard_member(work, body.new_member(), caller)
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

    return await as_operator(context, received, Scope.MEMBERS, handler)


@post(
    "/members/{entity_id:str}/status",
    status_code=200,
    operation_class=described(
        "Suspend, restore, retire", StatusRequest, StatusResponse, bearer=True, conflict=True
    ),
)
async def set_status(
    request: AnyRequest, service: InjectedDependencies, entity_id: FromPath[str]
) -> Response[bytes]:
    """Change an entity's status; from the commit on no node gives a suspended one a token."""
    context, received = await receive_json(request, service, StatusRequest)

    async def handler(work: UnitOfWork, caller: Caller, body: StatusRequest) -> HandlerResult:
        outcome = await set_member_status(
            work, entity_id, MemberStatus(body.status), body.reason, caller
        )
        if isinstance(outcome, Refusal):
            return outcome
        return StatusResponse(status=outcome.value)

    return await as_operator(context, received, Scope.MEMBERS, handler)


def _admin_route(path: str, summary: str, request_type: type[R]) -> HTTPRouteHandler:
    """Return the route by which an operator changes the admins of any entity."""

    @post(
        path,
        status_code=200,
        operation_class=described(
            summary, request_type, AdminsResponse, bearer=True, conflict=True
        ),
    )
    async def change(request: AnyRequest, service: InjectedDependencies) -> Response[bytes]:
        context, received = await receive_json(request, service, request_type)

        async def handler(work: UnitOfWork, caller: Caller, body: R) -> HandlerResult:
            return admins_response(await body.run(work, Requester(caller)))

        return await as_operator(context, received, Scope.MEMBERS, handler)

    return change


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
        without_admin=row.able == 0,
    )


handlers: Final[list[ControllerRouterHandler]] = [
    list_members,
    onboard,
    set_status,
    _admin_route("/members/admins/add", "Add an admin", AdminRequest),
    _admin_route("/members/admins/remove", "Remove an admin", AdminRemovalRequest),
    _admin_route("/members/admins/handover", "Replace an admin", HandOverRequest),
    _admin_route("/members/contact", "Set the backup contact", ContactRequest),
]
