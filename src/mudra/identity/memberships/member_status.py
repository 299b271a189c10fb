"""Suspend, restore and retire members: whether an entity may get tokens (spec 1.2)."""

from mudra.audit.event import AuditEntry, EventName
from mudra.identity.memberships.admins import NoSuchEntity
from mudra.identity.memberships.member import MemberStatus, effective_status
from mudra.identity.memberships.notices import NoticeService
from mudra.identity.operators.operator import ScopeMissing
from mudra.identity.operators.person_rule import ActingOperator, lost_scope
from mudra.identity.ports import IdentityUnitOfWork, NoticeKind
from mudra.shared.mail_text import safe_in_mail
from mudra.shared.refusal import Refusal, RefusalKind
from mudra.shared.time_text import iso_ms


class AlreadyRetired(Refusal, frozen=True):
    """A retired entity cannot be restored: onboard it under another ID."""

    kind = RefusalKind.CONFLICT
    entity_id: str

    @property
    def sentence(self) -> str:
        """Returns the text for the caller."""
        return f"{self.entity_id} is retired for good: onboard it under another ID"


class EntryNotLive(Refusal, frozen=True):
    """A member whose registry entry is suspended is restored with its entry, not before it."""

    kind = RefusalKind.CONFLICT
    entity_id: str
    entry: MemberStatus

    @property
    def sentence(self) -> str:
        """Returns the text for the caller."""
        return (
            f"the registry entry of {self.entity_id} is {self.entry.value}: restore the entry "
            f"first, with mudra registry restore {self.entity_id}"
        )


async def set_member_status(
    work: IdentityUnitOfWork, entity_id: str, status: MemberStatus, reason: str, by: ActingOperator
) -> MemberStatus | NoSuchEntity | AlreadyRetired | EntryNotLive | ScopeMissing:
    """Change a member's status; from the commit on no node gives a suspended one a token.

    Both the operator's decision and the registry entry must allow tokens (0031).
    """
    # Before the member's row: the registry's writers lock the two in this order.
    entry = await work.memberships.entry_status(entity_id)
    member = await work.people.member(entity_id)
    lost = await lost_scope(work, by)
    if lost is not None:
        return lost
    if member is None:
        return NoSuchEntity(entity_id)
    if member.status == MemberStatus.RETIRED:
        return AlreadyRetired(entity_id)
    if status is MemberStatus.ACTIVE and entry is not MemberStatus.ACTIVE:
        return EntryNotLive(entity_id, entry)
    effective = effective_status(status, entry)
    await work.memberships.set_status(entity_id, status, effective)
    await work.audit_log.append(
        AuditEntry(
            EventName.ENTITY_STATUS_CHANGE,
            by.caller,
            entity_id,
            reason=reason,
            detail={"from": member.status, "to": effective.value},
        )
    )
    if effective.value != member.status:
        facts = {
            "status": effective.value,
            "reason": safe_in_mail(reason),
            "changed_at": iso_ms(await work.people.now()),
        }
        notices = NoticeService(work.memberships, work.outbox)
        await notices.notify(entity_id, NoticeKind.MEMBER_STATUS, facts)
    return effective
