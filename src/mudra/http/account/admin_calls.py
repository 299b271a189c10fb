"""Changes of an entity's admins as both sides ask for them: members for their own, operators."""

from collections.abc import Awaitable, Callable
from typing import Final

from msgspec import Struct

from mudra.audit.event import Caller
from mudra.http.account.people_requests import (
    AdminRemovalRequest,
    AdminRequest,
    ContactRequest,
    HandOverRequest,
)
from mudra.http.account.people_responses import warnings_of
from mudra.http.account.people_shapes import admin_fields
from mudra.http.request.envelope import Body
from mudra.identity.accounts.user import User
from mudra.identity.memberships.admins import AdminsChanged
from mudra.tokens.secrets.manage_secret import NotYourEntity
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


class AdminCall(Struct, frozen=True):
    """One change: what it reads, what it does, its path and summary for each side."""

    reads: type[Struct]
    do: Callable[[UnitOfWork, AdminCaller, object], Awaitable[object]]
    own_path: str
    own_summary: str
    operator_path: str
    operator_summary: str


async def add(work: UnitOfWork, asker: AdminCaller, order: object) -> object:
    """Add an admin."""
    assert isinstance(order, AdminRequest)
    outcome = await work.admins.add(order.entity_id, order.email, order.name, asker.caller)
    return await _told(work, outcome)


async def remove(work: UnitOfWork, asker: AdminCaller, order: object) -> object:
    """Remove an admin."""
    assert isinstance(order, AdminRemovalRequest)
    outcome = await work.admins.remove(
        order.entity_id, order.email, asker.caller, may_leave_none=asker.is_operator
    )
    return await _told(work, outcome)


async def hand_over(work: UnitOfWork, asker: AdminCaller, order: object) -> object:
    """Put one admin in the place of another."""
    assert isinstance(order, HandOverRequest)
    leaving = order.leaving if asker.is_operator else asker.own_address
    outcome = await work.admins.hand_over(
        order.entity_id, leaving, order.email, order.name, asker.caller
    )
    return await _told(work, outcome)


async def set_contact(work: UnitOfWork, asker: AdminCaller, order: object) -> object:
    """Set the backup contact."""
    assert isinstance(order, ContactRequest)
    outcome = await work.admins.set_contact(order.entity_id, order.email, asker.caller)
    return await listed(work, order.entity_id) if isinstance(outcome, str) else outcome


async def _told(work: UnitOfWork, outcome: object) -> object:
    """Answer with the admins as they are now, or with the refusal."""
    if not isinstance(outcome, AdminsChanged):
        return outcome
    return await listed(work, outcome.entity_id) | {"warnings": warnings_of(outcome)}


async def listed(work: UnitOfWork, entity_id: str) -> Body:
    """Write the admins of an entity and its backup contact."""
    return {
        "entityId": entity_id,
        "admins": [admin_fields(admin) for admin in await work.memberships.admins(entity_id)],
        "contact": await work.memberships.contact(entity_id),
        "warnings": [],
    }


ADMIN_CALLS: Final = (
    AdminCall(
        AdminRequest,
        add,
        "/entity/admin/add",
        "Add an admin to the entity",
        "/members/admins/add",
        "Add an admin",
    ),
    AdminCall(
        AdminRemovalRequest,
        remove,
        "/entity/admin/remove",
        "Remove an admin of the entity",
        "/members/admins/remove",
        "Remove an admin",
    ),
    AdminCall(
        HandOverRequest,
        hand_over,
        "/entity/admin/handover",
        "Hand one's own place to somebody else",
        "/members/admins/handover",
        "Replace an admin",
    ),
    AdminCall(
        ContactRequest,
        set_contact,
        "/entity/contact/set",
        "Set the entity's backup contact",
        "/members/contact",
        "Set the backup contact",
    ),
)
