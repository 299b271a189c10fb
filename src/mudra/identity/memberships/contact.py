"""Set the backup contact of an entity: an admin its own entity's, an operator any.

Its address gets the emails about the entity, and no one asks whose it is. So that an admin cannot
have many strangers written to, admins give it another address three times in 24 hours (0072).
"""

import re
from datetime import timedelta
from typing import Final, TypeAlias

from mudra.audit.audit_log_store import AuditLog
from mudra.audit.event import AuditEntry, Caller, EventName, Outcome
from mudra.identity.accounts.email_address import AddressRefused, normalize_email
from mudra.identity.accounts.people_store import People
from mudra.identity.memberships.admins import (
    EntityAdmins,
    Forbidden,
    Requester,
    all_people,
    authorized_member,
)
from mudra.identity.memberships.member import NEW_ADDRESS, Contact, Recipient
from mudra.identity.memberships.membership_store import Memberships
from mudra.identity.memberships.notices import NoticeService
from mudra.shared.mail.notice import NoticeKind
from mudra.shared.refusal import WAIT_TEXT, LimitedUntil, Refusal, ValueRefused
from mudra.shared.time_text import iso_ms
from mudra.storage.database.transaction import Transaction

MAX_CONTACTS: Final = 3
PERIOD: Final = timedelta(hours=24)
_PHONE: Final = re.compile(r"\+?[0-9][0-9 ()./-]{3,30}")


class TooManyContacts(LimitedUntil, frozen=True):
    """The entity's admins gave its contact as many addresses as 24 hours permit."""

    sentence = (
        f"the contact's email is changed at most {MAX_CONTACTS} times in 24 hours: "
        f"leave it empty, or ask the operator of the network; {WAIT_TEXT}"
    )


ContactResult: TypeAlias = EntityAdmins | Forbidden | ValueRefused | TooManyContacts


async def set_contact(
    tx: Transaction, requester: Requester, entity_id: str, email: str, phone: str | None
) -> ContactResult:
    """Set the backup contact: its address gets the same emails; an empty one removes it.

    Without `phone` the telephone stays. About another address the admins and both contacts get
    an email.
    """
    member = await authorized_member(tx, requester, entity_id)
    if isinstance(member, Refusal):
        return member
    known = await Memberships(tx).contact(entity_id)
    checked = checked_contact(Contact(email, known.phone if phone is None else phone))
    if isinstance(checked, ValueRefused):
        return checked
    former = known.email
    if requester.user is not None and checked.email not in {"", former}:
        refused = await _too_many(tx, requester.caller, entity_id)
        if refused is not None:
            return refused
    await keep_contact(tx, requester.caller, entity_id, checked, former)
    if checked.email != former:
        facts = {
            "old_contact": former,
            "new_contact": checked.email,
            "changed_by": requester.user.email if requester.user else "",
            "changed_at": iso_ms(await People(tx).now()),
        }
        notices = tx.service(NoticeService)
        also = [Recipient(former, former)] if former else []
        await notices.notify(entity_id, NoticeKind.CONTACT_CHANGED, facts, also)
    return await all_people(tx, entity_id)


async def keep_contact(
    tx: Transaction, caller: Caller, entity_id: str, checked: Contact, former: str = ""
) -> None:
    """Store and record a contact that was checked; `former` is the address before."""
    await Memberships(tx).set_contact(entity_id, checked)
    detail: dict[str, str | int] = {"change": "set" if checked != Contact() else "ended"}
    if checked.email not in {"", former}:
        detail["address"] = NEW_ADDRESS
    await AuditLog(tx).append(
        AuditEntry(EventName.ENTITY_CONTACT_CHANGE, caller, entity_id, detail=detail)
    )


def checked_contact(contact: Contact) -> Contact | ValueRefused:
    """Return a contact with its values in their one form, or why one is not accepted."""
    address = normalize_email(contact.email) if contact.email else ""
    if isinstance(address, AddressRefused):
        return ValueRefused("email", address.problem)
    phone = contact.phone.strip()
    if phone and not _PHONE.fullmatch(phone):
        return ValueRefused("phone", "must be a telephone number, such as +91 80 4000 1234")
    return Contact(address, phone)


async def _too_many(tx: Transaction, caller: Caller, entity_id: str) -> TooManyContacts | None:
    """Refuse one more address than 24 hours permit, and record it; under the member's lock."""
    now = await People(tx).now()
    times = sorted(await Memberships(tx).new_contacts(entity_id, now - PERIOD))
    if len(times) < MAX_CONTACTS:
        return None
    await AuditLog(tx).append(
        AuditEntry(
            EventName.ENTITY_CONTACT_CHANGE,
            caller,
            entity_id,
            reason="too-many-contacts",
            outcome=Outcome.REFUSED,
        )
    )
    return TooManyContacts(times[-MAX_CONTACTS] + PERIOD, now)
