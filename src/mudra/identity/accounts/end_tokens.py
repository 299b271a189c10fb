"""End what a user has open, and record it."""

from mudra.audit.event import AuditEntry, Caller, EventName
from mudra.identity.ports import IdentityUnitOfWork


async def end_all_tokens(
    work: IdentityUnitOfWork, user_id: str, caller: Caller, reason: str = ""
) -> int:
    """End all tokens and sessions of a user and record it; returns how many tokens ended."""
    ended = await work.tokens.revoke_user_tokens(user_id, await work.people.now())
    await record_ended_tokens(work, user_id, ended, caller, reason=reason)
    return ended


async def record_ended_tokens(  # what ended, and why
    work: IdentityUnitOfWork,
    user_id: str,
    ended: int,
    caller: Caller,
    jti: str = "",
    reason: str = "",
) -> None:
    """Record how many tokens of a user ended; `jti` names the one that ended alone."""
    detail: dict[str, str | int] = {"tokens_ended": ended}
    if jti:
        detail["jti"] = jti
    await work.audit_log.append(
        AuditEntry(
            EventName.USER_TOKEN_REVOKE, caller, user_id=user_id, reason=reason, detail=detail
        )
    )
