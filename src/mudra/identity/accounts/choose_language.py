"""Choose the language of one's own pages and emails."""

from collections.abc import Collection

from mudra.audit.audit_log_store import AuditLog
from mudra.audit.event import AuditEntry, Caller, EventName
from mudra.identity.accounts.people_store import People
from mudra.identity.accounts.user import User
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
