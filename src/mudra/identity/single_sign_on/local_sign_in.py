"""Whether an operator may sign in without the provider: by setting, or for a while by command."""

from datetime import timedelta
from typing import Final

from mudra.audit.event import AuditEntry, Caller, EventName, Outcome
from mudra.identity.accounts.refusals import NoSuchUser
from mudra.identity.accounts.user import User
from mudra.identity.single_sign_on.ports import SignOnUnitOfWork
from mudra.localization.language import translatable
from mudra.shared.refusal import PlainRefusal, RefusalKind

LOCAL_SIGN_IN_OFF: Final = PlainRefusal(
    RefusalKind.UNAUTHORIZED, translatable("operators sign in by single sign-on here")
)


async def refuse_local(
    work: SignOnUnitOfWork, user: User, caller: Caller, *, allowed: bool
) -> PlainRefusal | None:
    """Refuse an operator's password or passkey, where the setting says so."""
    if allowed or not await work.memberships.scopes(user.user_id):
        return None
    until = await work.single_sign_on.allowed_until(user.user_id)
    if until is not None and await work.people.now() < until:
        return None
    await work.audit_log.append(
        AuditEntry(
            EventName.USER_SIGN_IN_REFUSE,
            caller,
            user_id=user.user_id,
            reason="single-sign-on-only",
            outcome=Outcome.REFUSED,
        )
    )
    return LOCAL_SIGN_IN_OFF


async def allow_password(
    work: SignOnUnitOfWork, email: str, minutes: int, caller: Caller
) -> User | NoSuchUser:
    """Let an operator sign in without the provider for some minutes."""
    user = await work.people.by_username(email)
    if user is None or not await work.memberships.scopes(user.user_id):
        return NoSuchUser()
    until = await work.people.now() + timedelta(minutes=minutes)
    await work.single_sign_on.allow_password(user.user_id, until)
    await work.audit_log.append(
        AuditEntry(
            EventName.OPERATOR_ACCOUNT_CHANGE,
            caller,
            user_id=user.user_id,
            detail={"local_sign_in_minutes": minutes},
        )
    )
    return user
