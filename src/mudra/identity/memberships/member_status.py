"""Suspend, restore and retire members: whether an entity may get tokens (spec 1.2)."""

from mudra.audit.audit_log_store import AuditLog
from mudra.audit.event import AuditEntry, EventName
from mudra.identity.accounts.people_store import People
from mudra.identity.memberships.admins import no_such_entity
from mudra.identity.memberships.member import MemberStatus, effective_status
from mudra.identity.memberships.membership_store import Memberships
from mudra.identity.memberships.notices import NoticeService
from mudra.identity.operators.act_on_person import lost_scope
from mudra.identity.operators.operator import ScopeMissing
from mudra.identity.operators.person_rule import ActingOperator
from mudra.shared.mail.mail_text import safe_in_mail
from mudra.shared.mail.notice import NoticeKind
from mudra.shared.refusal import PlainRefusal, RefusalKind
from mudra.shared.time_text import iso_ms
from mudra.storage.database.transaction import Transaction


def already_retired(entity_id: str) -> PlainRefusal:
    """Refuse: a retired entity cannot be restored: onboard it under another ID."""
    return PlainRefusal(
        RefusalKind.CONFLICT, f"{entity_id} is retired for good: onboard it under another ID"
    )


def entry_not_live(entity_id: str, entry: MemberStatus) -> PlainRefusal:
    """Refuse: a member whose registry entry is suspended is restored with its entry."""
    return PlainRefusal(
        RefusalKind.CONFLICT,
        f"the registry entry of {entity_id} is {entry.value}: restore the entry "
        f"first, with mudra registry restore {entity_id}",
    )


async def set_member_status(
    tx: Transaction, entity_id: str, status: MemberStatus, reason: str, by: ActingOperator
) -> MemberStatus | PlainRefusal | ScopeMissing:
    """Change a member's status; from the commit on no node gives a suspended one a token.

    Both the operator's decision and the registry entry must allow tokens (0009).
    """
    # Before the member's row: the registry's writers lock the two in this order.
    entry = await Memberships(tx).entry_status(entity_id)
    member = await People(tx).member(entity_id)
    lost = await lost_scope(tx, by)
    if lost is not None:
        return lost
    if member is None:
        return no_such_entity(entity_id)
    if member.status == MemberStatus.RETIRED:
        return already_retired(entity_id)
    if status is MemberStatus.ACTIVE and entry is not MemberStatus.ACTIVE:
        return entry_not_live(entity_id, entry)
    effective = effective_status(status, entry)
    await Memberships(tx).set_status(entity_id, status, effective)
    await AuditLog(tx).append(
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
            "changed_at": iso_ms(await People(tx).now()),
        }
        notices = tx.service(NoticeService)
        await notices.notify(entity_id, NoticeKind.MEMBER_STATUS, facts)
    return effective
