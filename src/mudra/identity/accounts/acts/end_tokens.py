"""End what a user has open, and record it; also where it gets its first role."""

from mudra.audit.audit_log_store import AuditLog
from mudra.audit.event import AuditEntry, Caller, EventName
from mudra.identity.accounts.people_store import People
from mudra.identity.accounts.user import User
from mudra.identity.accounts.user_token_store import UserTokens
from mudra.identity.sign_in.attempt_store import Attempts
from mudra.identity.sign_in.throttle import Counted
from mudra.storage.database.transaction import Transaction


async def end_all_tokens(tx: Transaction, user_id: str, caller: Caller, reason: str = "") -> int:
    """End all tokens and sessions of a user and record it; returns how many tokens ended."""
    ended = await UserTokens(tx).revoke_user_tokens(user_id, await People(tx).now())
    await record_ended_tokens(tx, user_id, ended, caller, reason=reason)
    return ended


async def record_ended_tokens(  # what ended, and why
    tx: Transaction,
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
    await AuditLog(tx).append(
        AuditEntry(
            EventName.USER_TOKEN_REVOKE, caller, user_id=user_id, reason=reason, detail=detail
        )
    )


async def end_earlier_sign_ins(tx: Transaction, user: User, caller: Caller) -> int:
    """End the tokens and sessions of a person who had no role; returns how many tokens ended.

    The caller holds the lock of acts on people.
    """
    # A sign-in that is under way holds it until its token or session is stored, which ends below.
    await Attempts(tx).history(Counted.PASSWORD, user.email, lock=True)
    return await end_all_tokens(tx, user.user_id, caller, "first-role")
