"""Sign in with a passkey alone: it is both factors, since it asks for a fingerprint, face or PIN.

Failures count by address as those of passwords do; an account signs in at most so often an hour.
"""

from msgspec.structs import replace

from mudra.audit.event import AuditEntry, Caller, EventName, Outcome
from mudra.identity.accounts.user import User, UserState
from mudra.identity.passkeys.assertion_rule import PasskeyFault
from mudra.identity.passkeys.check_passkey import PASSKEY_REFUSED, signed_by
from mudra.identity.passkeys.passkey_verifier import PasskeyVerifier
from mudra.identity.passkeys.ports import Purpose
from mudra.identity.ports import IdentityUnitOfWork
from mudra.identity.sign_in.sign_in import TooManyAttempts, address_waits, too_often
from mudra.shared.refusal import PlainRefusal


async def sign_in_with_passkey(  # its collaborators, each named
    work: IdentityUnitOfWork,
    response: str,
    holder: bytes,
    caller: Caller,
    *,
    origin: str,
    hourly: int,
    verifier: PasskeyVerifier,
) -> User | PlainRefusal | TooManyAttempts:
    """Return who signed in; `holder` is the hash of the cookie that came with the challenge."""
    await work.attempts.lock_address(origin)
    now = await work.people.now()
    waits = await address_waits(work.attempts, origin, now)
    if waits is not None:
        await _record_refused(work, caller, "too-many-attempts")
        return waits
    signed = await signed_by(work, response, holder, Purpose.SIGN_IN, verifier, None)
    user = None if isinstance(signed, PasskeyFault) else await work.people.by_id(signed)
    if user is None or user.state is not UserState.ACTIVE:
        await work.attempts.address_failed(origin, now)
        reason = signed.value if isinstance(signed, PasskeyFault) else "account-not-active"
        await _record_refused(work, caller, reason, user)
        return PASSKEY_REFUSED
    often = await too_often(work.attempts, user.email, now, hourly)
    if often is not None:
        await _record_refused(work, caller, "too-many-sign-ins", user)
        return often
    await work.attempts.succeeded(user.email, origin, now)
    await work.audit_log.append(
        AuditEntry(
            EventName.USER_SIGN_IN_SUCCEED,
            replace(caller, actor=f"user:{user.user_id}"),
            detail={"kind": "passkey"},
        )
    )
    return user


async def _record_refused(
    work: IdentityUnitOfWork, caller: Caller, reason: str, user: User | None = None
) -> None:
    await work.audit_log.append(
        AuditEntry(
            EventName.USER_SIGN_IN_REFUSE,
            caller,
            user_id=user.user_id if user else "",
            reason=reason,
            outcome=Outcome.REFUSED,
        )
    )
