"""The right of an operator to sign in locally: by setting, or for a while by command."""

from datetime import timedelta
from typing import Final

from mudra.audit.audit_log_store import AuditLog
from mudra.audit.event import AuditEntry, Caller, EventName, Outcome
from mudra.identity.accounts.people_store import People
from mudra.identity.accounts.refusals import NoSuchUser
from mudra.identity.accounts.user import User
from mudra.identity.operators.operator_store import Operators
from mudra.identity.single_sign_on.sign_on_store import SingleSignOn
from mudra.localization.language import translatable
from mudra.shared.refusal import PlainRefusal, RefusalKind
from mudra.storage.database.transaction import Transaction

LOCAL_SIGN_IN_OFF: Final = PlainRefusal(
    RefusalKind.UNAUTHORIZED, translatable("operators sign in by single sign-on here")
)


async def refuse_local(
    tx: Transaction, user: User, caller: Caller, *, allowed: bool
) -> PlainRefusal | None:
    """Refuse an operator's password or passkey, where the setting says so."""
    if allowed or not await Operators(tx).scopes(user.user_id):
        return None
    until = await SingleSignOn(tx).allowed_until(user.user_id)
    if until is not None and await People(tx).now() < until:
        return None
    await AuditLog(tx).append(
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
    tx: Transaction, email: str, minutes: int, caller: Caller
) -> User | NoSuchUser:
    """Let an operator sign in without the provider for some minutes."""
    user = await People(tx).by_username(email)
    if user is None or not await Operators(tx).scopes(user.user_id):
        return NoSuchUser()
    until = await People(tx).now() + timedelta(minutes=minutes)
    await SingleSignOn(tx).allow_password(user.user_id, until)
    await AuditLog(tx).append(
        AuditEntry(
            EventName.OPERATOR_ACCOUNT_CHANGE,
            caller,
            user_id=user.user_id,
            detail={"local_sign_in_minutes": minutes},
        )
    )
    return user
