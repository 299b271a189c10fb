"""The choices of a person for pages and emails: language and time zone."""

from collections.abc import Collection

from mudra.audit.audit_log_store import AuditLog
from mudra.audit.event import AuditEntry, Caller, EventName
from mudra.identity.accounts.people_store import People
from mudra.identity.accounts.user import User
from mudra.localization.display_zone import ZoneChoice
from mudra.shared.refusal import ValueRefused
from mudra.storage.database.transaction import Transaction


async def choose_language(
    tx: Transaction, user: User, caller: Caller, tag: str, known: Collection[str]
) -> str | ValueRefused:
    """Store the tag of a language; empty for that of the network. Returns it."""
    if tag and tag not in known:
        return ValueRefused("language", f"must be one of {', '.join(sorted(known))}, or empty")
    await People(tx).set_language(user.user_id, tag)
    await AuditLog(tx).append(
        AuditEntry(
            EventName.USER_ACCOUNT_CHANGE,
            caller,
            user_id=user.user_id,
            detail={"change": "language", "language": tag},
        )
    )
    return tag


async def choose_display_zone(
    tx: Transaction, user: User, caller: Caller, choice: str
) -> ZoneChoice | ValueRefused:
    """Store the zone in which a person's pages write times, and read the times of forms."""
    if choice not in {*ZoneChoice}:
        return ValueRefused("zone", f"must be one of {', '.join(ZoneChoice)}")
    await People(tx).set_display_zone(user.user_id, choice)
    await AuditLog(tx).append(
        AuditEntry(
            EventName.USER_ACCOUNT_CHANGE,
            caller,
            user_id=user.user_id,
            detail={"change": "display zone", "zone": choice},
        )
    )
    return ZoneChoice(choice)
