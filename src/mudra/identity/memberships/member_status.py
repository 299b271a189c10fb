"""Whether an entity may get tokens: an operator suspends, restores and retires it (spec 1.2)."""

from msgspec import Struct

from mudra.audit.event import AuditEntry, Caller, EventName
from mudra.audit.ports import AuditLog
from mudra.identity.memberships.admins import NoSuchEntity
from mudra.identity.memberships.member import MemberStatus
from mudra.identity.ports import Memberships, People
from mudra.shared.refusal import Refusal


class RetiredForGood(Refusal, frozen=True):
    """A retired entity does not come back: it is onboarded under another ID."""

    entity_id: str


class EntryNotLive(Refusal, frozen=True):
    """A member whose registry entry is suspended comes back with its entry, not before it."""

    entity_id: str
    entry: MemberStatus


class MemberStatusService(Struct, frozen=True):
    """Changes the status of members, in the caller's transaction."""

    people: People
    memberships: Memberships
    journal: AuditLog

    async def set_status(
        self, entity_id: str, status: MemberStatus, reason: str, caller: Caller
    ) -> MemberStatus | NoSuchEntity | RetiredForGood | EntryNotLive:
        """Change it; from the commit on no node gives a suspended one a token.

        A suspended registry entry counts as well: both words must allow tokens (0031).
        """
        # Before the member's row: the registry's writers take the two in this order.
        entry = await self.memberships.entry_status(entity_id)
        member = await self.people.member(entity_id)
        if member is None:
            return NoSuchEntity(entity_id)
        if member.status == MemberStatus.RETIRED:
            return RetiredForGood(entity_id)
        if status is MemberStatus.ACTIVE and entry is not MemberStatus.ACTIVE:
            return EntryNotLive(entity_id, entry)
        comes_of_it = await self.memberships.set_membership(entity_id, status)
        await self.journal.note(
            AuditEntry(
                EventName.ENTITY_STATUS_CHANGE,
                caller,
                entity_id,
                reason=reason,
                detail={"from": member.status, "to": comes_of_it.value},
            )
        )
        return comes_of_it
