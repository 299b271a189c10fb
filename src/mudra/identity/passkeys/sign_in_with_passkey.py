"""Sign in with a passkey alone: it is both factors, since it asks for a fingerprint, face or PIN.

Failures count by address as those of passwords do; an account signs in at most so often an hour.
"""

from msgspec.structs import replace

from mudra.audit.audit_log_store import AuditLog
from mudra.audit.event import AuditEntry, Caller, EventName, Outcome
from mudra.identity.accounts.people_store import People
from mudra.identity.accounts.user import User, UserState
from mudra.identity.passkeys.assertion_rule import PasskeyFault
from mudra.identity.passkeys.check_passkey import PASSKEY_REFUSED, signed_by
from mudra.identity.passkeys.passkey import Purpose
from mudra.identity.passkeys.passkey_verifier import PasskeyVerifier
from mudra.identity.sign_in.attempt_store import Attempts
from mudra.identity.sign_in.sign_in import TooManyAttempts, address_waits, too_often
from mudra.shared.refusal import PlainRefusal
from mudra.storage.database.transaction import Transaction


async def sign_in_with_passkey(  # its collaborators, each named
    tx: Transaction,
    response: str,
    holder: bytes,
    caller: Caller,
    *,
    origin: str,
    hourly: int,
    verifier: PasskeyVerifier,
) -> User | PlainRefusal | TooManyAttempts:
    """Return who signed in; `holder` is the hash of the cookie that came with the challenge."""
    await Attempts(tx).lock_address(origin)
    now = await People(tx).now()
    waits = await address_waits(Attempts(tx), origin, now)
    if waits is not None:
        await _record_refused(tx, caller, "too-many-attempts")
        return waits
    signed = await signed_by(tx, response, holder, Purpose.SIGN_IN, verifier, None)
    user = None if isinstance(signed, PasskeyFault) else await People(tx).by_id(signed)
    if user is None or user.state is not UserState.ACTIVE:
        await Attempts(tx).address_failed(origin, now)
        reason = signed.value if isinstance(signed, PasskeyFault) else "account-not-active"
        await _record_refused(tx, caller, reason, user)
        return PASSKEY_REFUSED
    often = await too_often(Attempts(tx), user.email, now, hourly)
    if often is not None:
        await _record_refused(tx, caller, "too-many-sign-ins", user)
        return often
    await Attempts(tx).succeeded(user.email, origin, now)
    await AuditLog(tx).append(
        AuditEntry(
            EventName.USER_SIGN_IN_SUCCEED,
            replace(caller, actor=f"user:{user.user_id}"),
            detail={"kind": "passkey"},
        )
    )
    return user


async def _record_refused(
    tx: Transaction, caller: Caller, reason: str, user: User | None = None
) -> None:
    await AuditLog(tx).append(
        AuditEntry(
            EventName.USER_SIGN_IN_REFUSE,
            caller,
            user_id=user.user_id if user else "",
            reason=reason,
            outcome=Outcome.REFUSED,
        )
    )
