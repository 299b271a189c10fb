"""Whether an entity may get tokens: an operator suspends, restores and retires it (spec 1.2)."""

from msgspec import Struct

from mudra.audit.event import Act, Caller, EventName
from mudra.audit.ports import Journal
from mudra.identity.memberships.admins import NoSuchEntity
from mudra.identity.memberships.memberships import EntityStatus, Roster
from mudra.identity.ports import People


class RetiredForGood(Struct, frozen=True):
    """A retired entity does not come back: it is onboarded under another ID."""

    entity_id: str


class EntryNotLive(Struct, frozen=True):
    """A member whose registry entry is suspended comes back with its entry, not before it."""

    entity_id: str
    entry: EntityStatus


class MemberDesk(Struct, frozen=True):
    """Changes the status of members, in the caller's transaction."""

    people: People
    roster: Roster
    journal: Journal

    async def set_status(
        self, entity_id: str, status: EntityStatus, reason: str, caller: Caller
    ) -> EntityStatus | NoSuchEntity | RetiredForGood | EntryNotLive:
        """Change it; from the commit on no node gives a suspended one a token.

        A suspended registry entry counts as well: both words must allow tokens (0031).
        """
        # Before the member's row: the registry's writers take the two in this order.
        entry = await self.roster.entry_status(entity_id)
        member = await self.people.member(entity_id)
        if member is None:
            return NoSuchEntity(entity_id)
        if member.status == EntityStatus.RETIRED:
            return RetiredForGood(entity_id)
        if status is EntityStatus.ACTIVE and entry is not EntityStatus.ACTIVE:
            return EntryNotLive(entity_id, entry)
        comes_of_it = await self.roster.set_membership(entity_id, status)
        await self.journal.note(
            Act(
                EventName.ENTITY_STATUS_CHANGE,
                caller,
                entity_id,
                reason=reason,
                detail={"from": member.status, "to": comes_of_it.value},
            )
        )
        return comes_of_it
