"""/operator/v1/members: list, onboard, suspend and restore, admins, contact (scope members)."""

from typing import Final

from litestar import Response, get, post
from litestar.handlers import HTTPRouteHandler
from litestar.params import FromPath
from litestar.types import ControllerRouterHandler

from mudra.audit.event import Caller
from mudra.bootstrap.onboarding import onboard
from mudra.http.account.admin_calls import (
    ADD_ADMIN,
    HAND_OVER,
    REMOVE_ADMIN,
    SET_CONTACT,
    AdminCaller,
    AdminOperation,
    R,
)
from mudra.http.account.people_requests import (
    MemberQuery,
    OnboardRequest,
    StatusRequest,
)
from mudra.http.account.people_responses import (
    AdminsResponse,
    MemberResponse,
    MembersPage,
    StatusResponse,
)
from mudra.http.account.people_shapes import member_details
from mudra.http.auth.as_operator import as_operator
from mudra.http.dependencies import InjectedDependencies
from mudra.http.openapi.operation import described
from mudra.http.request.request_context import AnyRequest, receive_json, receive_query
from mudra.http.response.json_response import HandlerResult
from mudra.http.response.response_body import cut_page
from mudra.identity.memberships.admins import ValueRefused
from mudra.identity.memberships.member import MemberStatus
from mudra.identity.memberships.member_search import MemberFilter
from mudra.identity.memberships.onboard import MemberDiffers, NewMember, OnboardRefused
from mudra.identity.operators.operator import Scope
from mudra.shared.refusal import Refusal
from mudra.unit_of_work import UnitOfWork

_WIRE_NAMES: Final = {"ENTITY_ID": "entityId", "admin": "adminEmail", "admin-name": "adminName"}
"""Fields of a new member as this interface calls them; onboarding has those of the command."""


@get(
    "/members",
    operation_class=described("List members", None, MembersPage, bearer=True, query=MemberQuery),
)
async def list_members(request: AnyRequest, service: InjectedDependencies) -> Response[bytes]:
    """List members by entity ID, a page at a time."""
    context, order = receive_query(request, service, MemberQuery)

    async def act(work: UnitOfWork, _: Caller, order: MemberQuery) -> HandlerResult:
        which = MemberFilter(
            entity_type=order.type,
            status=order.status,
            text=order.words,
            without_admin=order.without_admin == "true",
        )
        limit = int(order.limit)
        rows = await work.member_search.members(which, order.after, limit + 1)
        shown, following = cut_page(rows, limit, lambda row: row.entity_id)
        return MembersPage(members=[member_details(row) for row in shown], next=following)

    return await as_operator(context, order, Scope.MEMBERS, act)


@post(
    "/members",
    status_code=200,
    operation_class=described(
        "Onboard a member", OnboardRequest, MemberResponse, bearer=True, conflict=True
    ),
)
async def onboard_member(request: AnyRequest, service: InjectedDependencies) -> Response[bytes]:
    """Onboard a member: makes its first secret and invites its admin; repeating changes nothing."""
    context, order = await receive_json(request, service, OnboardRequest)

    async def act(work: UnitOfWork, caller: Caller, order: OnboardRequest) -> HandlerResult:
        new = NewMember(
            order.entity_id, order.type, order.name, order.admin_email, order.admin_name
        )
        outcome = await onboard(new, caller, work)
        if isinstance(outcome, OnboardRefused):
            return ValueRefused(_WIRE_NAMES.get(outcome.field, outcome.field), outcome.problem)
        if isinstance(outcome, MemberDiffers):
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

    return await as_operator(context, order, Scope.MEMBERS, act)


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
    context, order = await receive_json(request, service, StatusRequest)

    async def act(work: UnitOfWork, caller: Caller, order: StatusRequest) -> HandlerResult:
        outcome = await work.members.set_status(
            entity_id, MemberStatus(order.status), order.reason, caller
        )
        if isinstance(outcome, Refusal):
            return outcome
        return StatusResponse(status=outcome.value)

    return await as_operator(context, order, Scope.MEMBERS, act)


def _admin_route(operation: AdminOperation[R]) -> HTTPRouteHandler:
    """Return the route by which an operator changes the admins of any entity."""

    @post(
        operation.operator_path,
        status_code=200,
        operation_class=described(
            operation.operator_summary,
            operation.request_type,
            AdminsResponse,
            bearer=True,
            conflict=True,
        ),
    )
    async def change(request: AnyRequest, service: InjectedDependencies) -> Response[bytes]:
        context, order = await receive_json(request, service, operation.request_type)

        async def act(work: UnitOfWork, caller: Caller, received: R) -> HandlerResult:
            return await operation.run(work, AdminCaller(caller), received)

        return await as_operator(context, order, Scope.MEMBERS, act)

    return change


handlers: Final[list[ControllerRouterHandler]] = [
    list_members,
    onboard_member,
    set_status,
    *(_admin_route(ADD_ADMIN), _admin_route(REMOVE_ADMIN)),
    *(_admin_route(HAND_OVER), _admin_route(SET_CONTACT)),
]
