"""Choose the language of one's own pages and emails."""

from collections.abc import Collection

from mudra.audit.event import AuditEntry, Caller, EventName
from mudra.identity.accounts.user import User
from mudra.identity.ports import IdentityUnitOfWork
from mudra.shared.refusal import ValueRefused


async def choose_language(
    work: IdentityUnitOfWork, user: User, caller: Caller, tag: str, known: Collection[str]
) -> str | ValueRefused:
    """Store the tag of a language; empty for that of the network. Returns it."""
    if tag and tag not in known:
        return ValueRefused("language", f"must be one of {', '.join(sorted(known))}, or empty")
    await work.people.set_language(user.user_id, tag)
    await work.audit_log.append(
        AuditEntry(
            EventName.USER_ACCOUNT_CHANGE,
            caller,
            user_id=user.user_id,
            detail={"change": "language", "language": tag},
        )
    )
    return tag
