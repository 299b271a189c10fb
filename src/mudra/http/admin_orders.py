"""Changes of an entity's admins as both sides ask for them: members for their own, operators."""

from mudra.audit.event import Caller
from mudra.http.envelope import Body
from mudra.http.people_requests import AdminOrder, AdminRemoval, ContactOrder, HandOver
from mudra.http.people_responses import admin_members, warnings_of
from mudra.identity.look_after import AdminsChanged
from mudra.identity.user import User
from mudra.runtime.work import Work
from mudra.tokens.manage_secret import NotYourEntity


async def locked_own(work: Work, user: User, entity_id: str) -> NotYourEntity | None:
    """Hold the lock of an entity that the user administers; others and unknown ones look alike."""
    if entity_id not in user.administers:
        return NotYourEntity()
    # The member's lock first: two admins who remove each other come one after the other.
    await work.people.member(entity_id)
    again = await work.people.by_id(user.user_id)
    return None if again and entity_id in again.administers else NotYourEntity()


async def add(work: Work, caller: Caller, order: AdminOrder) -> object:
    """Add an admin."""
    return await told(work, await work.admins.add(order.entity_id, order.email, order.name, caller))


async def remove(
    work: Work, caller: Caller, order: AdminRemoval, *, may_leave_none: bool
) -> object:
    """Remove an admin."""
    outcome = await work.admins.remove(
        order.entity_id, order.email, caller, may_leave_none=may_leave_none
    )
    return await told(work, outcome)


async def hand_over(work: Work, caller: Caller, order: HandOver, leaving: str) -> object:
    """Put one admin in the place of another."""
    outcome = await work.admins.hand_over(order.entity_id, leaving, order.email, order.name, caller)
    return await told(work, outcome)


async def set_contact(work: Work, caller: Caller, order: ContactOrder) -> object:
    """Set the backup contact."""
    outcome = await work.admins.set_contact(order.entity_id, order.email, caller)
    return await listed(work, order.entity_id) if isinstance(outcome, str) else outcome


async def told(work: Work, outcome: object) -> object:
    """Answer with the admins as they are now, or with the refusal."""
    if not isinstance(outcome, AdminsChanged):
        return outcome
    return await listed(work, outcome.entity_id) | {"warnings": warnings_of(outcome)}


async def listed(work: Work, entity_id: str) -> Body:
    """Write the admins of an entity and its backup contact."""
    return {
        "entityId": entity_id,
        "admins": [admin_members(admin) for admin in await work.roster.admins(entity_id)],
        "contact": await work.roster.contact(entity_id),
        "warnings": [],
    }
