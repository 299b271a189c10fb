"""Set up, replace and remove a person's own authenticator app, and their recovery codes.

The edge asks for a proof first: the password of who has no second factor, a code of who has one.
What is set up belongs to the session that gave the proof, for ten minutes: no other session of
the person confirms it, or sees its secret (0075).
"""

from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Final

from msgspec import Struct

from mudra.audit.audit_log_store import AuditLog
from mudra.audit.event import AuditEntry, Caller, EventName
from mudra.identity.accounts.people_store import People
from mudra.identity.accounts.user import User
from mudra.identity.operators.operator_store import Operators
from mudra.identity.second_factor.check_code import (
    CODE_REFUSED,
    FactorChange,
    FactorKind,
    counted,
    notify,
)
from mudra.identity.second_factor.policy import FactorRoles, is_required
from mudra.identity.second_factor.recovery_codes import new_recovery_codes
from mudra.identity.second_factor.second_factor_store import SecondFactors
from mudra.identity.second_factor.totp import matching_step, provisioning_uri
from mudra.identity.sign_in.attempt_store import Attempts
from mudra.identity.sign_in.sign_in import TooManyAttempts
from mudra.identity.sign_in.throttle import Counted
from mudra.localization.language import translatable
from mudra.shared.refusal import PlainRefusal, RefusalKind
from mudra.shared.secret_text import SecretText
from mudra.storage.database.transaction import Transaction

SET_UP_WITHIN: Final = timedelta(minutes=10)
"""For so long the first code of a new app is accepted."""
_VALUE_BYTES: Final = 32
_NO_STEP: Final = -1


NO_SECOND_FACTOR: Final = PlainRefusal(
    RefusalKind.CONFLICT, translatable("there is no such second factor")
)


SET_UP_ENDED: Final = PlainRefusal(
    RefusalKind.CONFLICT,
    translatable("this set-up has ended: begin again on the page of the second factor"),
)


FACTOR_REQUIRED: Final = PlainRefusal(
    RefusalKind.CONFLICT,
    translatable("your role needs a second factor: replace it instead of removing it"),
)


class Enrollment(Struct, frozen=True):
    """The needs of an authenticator app: the secret as text, and the URI of the QR code."""

    secret: SecretText
    uri: SecretText


async def begin_enrollment(
    tx: Transaction,
    user: User,
    session_key: bytes,
    network: str,
    random_bytes: Callable[[int], bytes],
) -> Enrollment:
    """Make the secret of a new app. An app in use stays so until the new one is confirmed."""
    expires_at = await People(tx).now() + SET_UP_WITHIN
    value = random_bytes(_VALUE_BYTES)
    secret = await SecondFactors(tx).begin_totp(user.user_id, session_key, value, expires_at)
    return Enrollment(secret, provisioning_uri(secret, user.email, network))


async def pending_enrollment(
    tx: Transaction, user: User, session_key: bytes, network: str
) -> Enrollment | PlainRefusal:
    """Return what `begin_enrollment` did in this session, while it waits for its first code."""
    now = await People(tx).now()
    secret = await SecondFactors(tx).pending_totp(user.user_id, session_key, now)
    if secret is None:
        return SET_UP_ENDED
    return Enrollment(secret, provisioning_uri(secret, user.email, network))


async def confirm_enrollment(  # who confirms what, and its collaborators
    tx: Transaction,
    user: User,
    session_key: bytes,
    code: SecretText,
    caller: Caller,
    random_bytes: Callable[[int], bytes],
) -> Sequence[SecretText] | PlainRefusal | TooManyAttempts:
    """Put the app that this session sets up into use once it has shown a right code.

    Returns new recovery codes. The code is used up by it; a wrong one counts as at a sign-in.
    """
    # In the turn of the count from here on: of two equal confirmations at once one is accepted.
    await Attempts(tx).history(Counted.SECOND_FACTOR, user.user_id, lock=True)
    now, factors = await People(tx).now(), SecondFactors(tx)
    secret = await factors.pending_totp(user.user_id, session_key, now)
    if secret is None:
        return SET_UP_ENDED
    step = matching_step(secret, SecretText(code.reveal().replace(" ", "")), now, _NO_STEP)

    async def attempt() -> FactorKind | str:
        if step is None:
            return "wrong-code"
        await factors.confirm_totp(user.user_id, session_key, secret, step)
        return FactorKind.APP

    # The session has shown a factor or the password: a hundred wrong codes do not stop it.
    done = await counted(tx, user, caller, attempt, guessable=False)
    if not isinstance(done, FactorKind):
        return CODE_REFUSED if done is None else done
    await _record(tx, user, caller, EventName.USER_FACTOR_ADD, FactorChange.ADDED)
    return await new_codes(tx, user, random_bytes)


async def renew_recovery_codes(
    tx: Transaction, user: User, caller: Caller, random_bytes: Callable[[int], bytes]
) -> Sequence[SecretText] | PlainRefusal:
    """Make new recovery codes; the earlier ones end."""
    if not (await SecondFactors(tx).enrolled(user.user_id)).any:
        return NO_SECOND_FACTOR
    await _record(tx, user, caller, EventName.USER_RECOVERY_RENEW, FactorChange.CODES)
    return await new_codes(tx, user, random_bytes)


async def app_kept(tx: Transaction, user: User, roles: FactorRoles) -> PlainRefusal | None:
    """Return why a person's app is not removed: where their role needs a factor, only this one."""
    enrolled = await SecondFactors(tx).enrolled(user.user_id)
    if not enrolled.app:
        return NO_SECOND_FACTOR
    if not enrolled.passkeys and await factor_is_required(tx, user, roles):
        return FACTOR_REQUIRED
    return None


async def remove_app(
    tx: Transaction, user: User, roles: FactorRoles, caller: Caller
) -> PlainRefusal | None:
    """Remove a person's app; where their role needs a factor, only next to a passkey."""
    refused = await app_kept(tx, user, roles)
    if refused is not None:
        return refused
    if (await SecondFactors(tx).enrolled(user.user_id)).passkeys:
        await SecondFactors(tx).remove_totp(user.user_id)
    else:
        await SecondFactors(tx).remove(user.user_id)
    await _record(tx, user, caller, EventName.USER_FACTOR_REMOVE, FactorChange.REMOVED)
    return None


async def factor_is_required(tx: Transaction, user: User, roles: FactorRoles) -> bool:
    """Return whether the person's roles need a second factor."""
    scopes = await Operators(tx).scopes(user.user_id)
    return is_required(roles, operator=bool(scopes), admin=user.is_of_a_member)


async def new_codes(
    tx: Transaction, user: User, random_bytes: Callable[[int], bytes]
) -> Sequence[SecretText]:
    """Make recovery codes in place of those that a person has."""
    codes = new_recovery_codes(random_bytes)
    await SecondFactors(tx).replace_recovery_codes(user.user_id, codes)
    return codes


async def _record(
    tx: Transaction, user: User, caller: Caller, event: EventName, change: FactorChange
) -> None:
    await AuditLog(tx).append(AuditEntry(event, caller, user_id=user.user_id))
    await notify(tx, user, change)
