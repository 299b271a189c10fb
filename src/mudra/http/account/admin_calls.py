"""Changes of an entity's admins as both sides ask for them: members for their own, operators."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Final, Generic, TypeVar

from msgspec import Struct

from mudra.audit.event import Caller
from mudra.http.account.people_requests import (
    AdminRemovalRequest,
    AdminRequest,
    ContactRequest,
    EntityRequest,
    HandOverRequest,
)
from mudra.http.account.people_responses import AdminsResponse, warnings_of
from mudra.http.account.people_shapes import admin_details
from mudra.identity.accounts.user import User
from mudra.identity.memberships.admins import AdminsResult
from mudra.identity.memberships.member import NotYourEntity
from mudra.shared.refusal import Refusal
from mudra.unit_of_work import UnitOfWork


async def locked_own(work: UnitOfWork, user: User, entity_id: str) -> NotYourEntity | None:
    """Hold the lock of an entity that the user administers; others and unknown ones look alike."""
    if entity_id not in user.administers:
        return NotYourEntity()
    # The member's lock first: two admins who remove each other come one after the other.
    await work.people.member(entity_id)
    again = await work.people.by_id(user.user_id)
    return None if again and entity_id in again.administers else NotYourEntity()


class AdminCaller(Struct, frozen=True):
    """Who asks: an admin of the entity by its own address, an operator by none."""

    caller: Caller
    own_address: str = ""

    @property
    def is_operator(self) -> bool:
        """Tell whether the one who asks stands above the entity."""
        return not self.own_address


R = TypeVar("R", bound=EntityRequest)


class AdminOperation(Struct, Generic[R], frozen=True):
    """One change of an entity's admins: its request, its use case, its path on each side."""

    request_type: type[R]
    run: Callable[[UnitOfWork, AdminCaller, R], Awaitable[AdminsResponse | Refusal]]
    member_path: str
    member_summary: str
    operator_path: str
    operator_summary: str


async def add(
    work: UnitOfWork, asker: AdminCaller, request: AdminRequest
) -> AdminsResponse | Refusal:
    """Add an admin."""
    outcome = await work.admins.add(request.entity_id, request.email, request.name, asker.caller)
    return await _response(work, outcome)


async def remove(
    work: UnitOfWork, asker: AdminCaller, request: AdminRemovalRequest
) -> AdminsResponse | Refusal:
    """Remove an admin."""
    outcome = await work.admins.remove(
        request.entity_id, request.email, asker.caller, may_leave_none=asker.is_operator
    )
    return await _response(work, outcome)


async def hand_over(
    work: UnitOfWork, asker: AdminCaller, request: HandOverRequest
) -> AdminsResponse | Refusal:
    """Replace one admin by another."""
    leaving = request.leaving if asker.is_operator else asker.own_address
    outcome = await work.admins.hand_over(
        request.entity_id, leaving, request.email, request.name, asker.caller
    )
    return await _response(work, outcome)


async def set_contact(
    work: UnitOfWork, asker: AdminCaller, request: ContactRequest
) -> AdminsResponse | Refusal:
    """Set the backup contact."""
    outcome = await work.admins.set_contact(request.entity_id, request.email, asker.caller)
    if isinstance(outcome, Refusal):
        return outcome
    return await admins_response(work, request.entity_id)


async def _response(work: UnitOfWork, outcome: AdminsResult) -> AdminsResponse | Refusal:
    if isinstance(outcome, Refusal):
        return outcome
    return await admins_response(work, outcome.entity_id, warnings_of(outcome))


async def admins_response(
    work: UnitOfWork, entity_id: str, warnings: Sequence[str] = ()
) -> AdminsResponse:
    """Return the admins of an entity and its backup contact."""
    return AdminsResponse(
        entity_id=entity_id,
        admins=[admin_details(admin) for admin in await work.memberships.admins(entity_id)],
        contact=await work.memberships.contact(entity_id),
        warnings=list(warnings),
    )


ADD_ADMIN: Final = AdminOperation(
    AdminRequest,
    add,
    "/entity/admin/add",
    "Add an admin to the entity",
    "/members/admins/add",
    "Add an admin",
)
REMOVE_ADMIN: Final = AdminOperation(
    AdminRemovalRequest,
    remove,
    "/entity/admin/remove",
    "Remove an admin of the entity",
    "/members/admins/remove",
    "Remove an admin",
)
HAND_OVER: Final = AdminOperation(
    HandOverRequest,
    hand_over,
    "/entity/admin/handover",
    "Hand over your own admin role",
    "/members/admins/handover",
    "Replace an admin",
)
SET_CONTACT: Final = AdminOperation(
    ContactRequest,
    set_contact,
    "/entity/contact/set",
    "Set the entity's backup contact",
    "/members/contact",
    "Set the backup contact",
)
