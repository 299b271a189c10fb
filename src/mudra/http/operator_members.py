"""/operator/v1/members: list, onboard, suspend and restore, admins, contact (scope members)."""

from typing import Final

from litestar import Response, get, post
from litestar.types import ControllerRouterHandler

from mudra.audit.event import Act, Caller, EventName
from mudra.http import admin_orders
from mudra.http.exchange import AnyRequest, receive_json, receive_query
from mudra.http.openapi import described
from mudra.http.operator_call import operator_call, page
from mudra.http.people_requests import (
    AdminOrder,
    AdminRemoval,
    ContactOrder,
    HandOver,
    MemberQuery,
    OnboardOrder,
    StatusOrder,
)
from mudra.http.people_responses import (
    AdminsAnswer,
    ListAnswer,
    MemberAnswer,
    StatusAnswer,
    member_members,
)
from mudra.http.service import Injected
from mudra.identity.look_after import NoSuchEntity
from mudra.identity.onboard import MemberDiffers, NewMember, Onboarded
from mudra.identity.roster import EntityStatus, Scope
from mudra.runtime.onboarding import onboard
from mudra.runtime.work import Work
from mudra.storage.directory import MemberFilter


@get(
    "/members",
    operation_class=described("List members", None, ListAnswer, bearer=True, query=MemberQuery),
)
async def list_members(request: AnyRequest, service: Injected) -> Response[bytes]:
    """List members by entity ID, a page at a time."""
    exchange, order = receive_query(request, service, MemberQuery)

    async def act(work: Work, _: Caller) -> object:
        assert isinstance(order, MemberQuery)
        which = MemberFilter(
            entity_type=order.type,
            status=order.status,
            words=order.words,
            without_admin=order.without_admin == "true",
        )
        limit = int(order.limit)
        rows = await work.directory.members(which, order.after, limit + 1)
        return page("members", [member_members(row) for row in rows], limit, "entityId")

    return await operator_call(exchange, order, Scope.MEMBERS, act)


@post(
    "/members",
    status_code=200,
    operation_class=described("Onboard a member", OnboardOrder, MemberAnswer, bearer=True),
)
async def onboard_member(request: AnyRequest, service: Injected) -> Response[bytes]:
    """Onboard a member: makes its first secret and invites its admin; repeating changes nothing."""
    exchange, order = await receive_json(request, service, OnboardOrder)

    async def act(work: Work, caller: Caller) -> object:
        assert isinstance(order, OnboardOrder)
        new = NewMember(
            order.entity_id, order.type, order.name, order.admin_email, order.admin_name
        )
        outcome = await onboard(new, caller, work)
        if not isinstance(outcome, Onboarded):
            return outcome
        member = outcome.member
        return {
            "entityId": member.entity_id,
            "type": member.entity_type,
            "name": member.name,
            "status": member.status,
            "created": outcome.created,
            "invited": outcome.invited,
        }

    return await operator_call(exchange, order, Scope.MEMBERS, act)


@post(
    "/members/{entity_id:str}/status",
    status_code=200,
    operation_class=described("Suspend, restore, retire", StatusOrder, StatusAnswer, bearer=True),
)
async def set_status(request: AnyRequest, service: Injected, entity_id: str) -> Response[bytes]:
    """Change an entity's status; from the commit on no node gives a suspended one a token."""
    exchange, order = await receive_json(request, service, StatusOrder)

    async def act(work: Work, caller: Caller) -> object:
        assert isinstance(order, StatusOrder)
        member = await work.people.member(entity_id)
        if member is None:
            return NoSuchEntity(entity_id)
        if member.status == EntityStatus.RETIRED:
            return MemberDiffers(member, "status")
        await work.roster.set_status(entity_id, EntityStatus(order.status))
        await work.journal.note(
            Act(
                EventName.ENTITY_STATUS_CHANGE,
                caller,
                entity_id,
                reason=order.reason,
                detail={"from": member.status, "to": order.status},
            )
        )
        return {"status": order.status}

    return await operator_call(exchange, order, Scope.MEMBERS, act)


@post(
    "/members/admins/add",
    status_code=200,
    operation_class=described("Add an admin", AdminOrder, AdminsAnswer, bearer=True),
)
async def add_admin(request: AnyRequest, service: Injected) -> Response[bytes]:
    """Add an admin to any entity."""
    exchange, order = await receive_json(request, service, AdminOrder)

    async def act(work: Work, caller: Caller) -> object:
        assert isinstance(order, AdminOrder)
        return await admin_orders.add(work, caller, order)

    return await operator_call(exchange, order, Scope.MEMBERS, act)


@post(
    "/members/admins/remove",
    status_code=200,
    operation_class=described("Remove an admin", AdminRemoval, AdminsAnswer, bearer=True),
)
async def remove_admin(request: AnyRequest, service: Injected) -> Response[bytes]:
    """Remove an admin; `warnings` tells when nobody is left who can act."""
    exchange, order = await receive_json(request, service, AdminRemoval)

    async def act(work: Work, caller: Caller) -> object:
        assert isinstance(order, AdminRemoval)
        return await admin_orders.remove(work, caller, order, may_leave_none=True)

    return await operator_call(exchange, order, Scope.MEMBERS, act)


@post(
    "/members/admins/handover",
    status_code=200,
    operation_class=described("Replace an admin", HandOver, AdminsAnswer, bearer=True),
)
async def replace_admin(request: AnyRequest, service: Injected) -> Response[bytes]:
    """Put one admin in the place of another."""
    exchange, order = await receive_json(request, service, HandOver)

    async def act(work: Work, caller: Caller) -> object:
        assert isinstance(order, HandOver)
        return await admin_orders.hand_over(work, caller, order, order.leaving)

    return await operator_call(exchange, order, Scope.MEMBERS, act)


@post(
    "/members/contact",
    status_code=200,
    operation_class=described("Set the backup contact", ContactOrder, AdminsAnswer, bearer=True),
)
async def set_contact(request: AnyRequest, service: Injected) -> Response[bytes]:
    """Set the address that gets an entity's letters too."""
    exchange, order = await receive_json(request, service, ContactOrder)

    async def act(work: Work, caller: Caller) -> object:
        assert isinstance(order, ContactOrder)
        return await admin_orders.set_contact(work, caller, order)

    return await operator_call(exchange, order, Scope.MEMBERS, act)


handlers: Final[list[ControllerRouterHandler]] = [
    list_members,
    onboard_member,
    set_status,
    add_admin,
    remove_admin,
    replace_admin,
    set_contact,
]
