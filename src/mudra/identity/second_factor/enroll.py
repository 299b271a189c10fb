"""Set up, replace and remove a person's own authenticator app, and their recovery codes.

The edge asks for a proof first: the password of who has no second factor, a code of who has one.
"""

from collections.abc import Callable, Sequence

from msgspec import Struct

from mudra.audit.event import AuditEntry, Caller, EventName
from mudra.identity.accounts.user import User
from mudra.identity.ports import IdentityUnitOfWork
from mudra.identity.second_factor.check_code import (
    CodeRefused,
    FactorChange,
    forget_wrong_codes,
    notify,
)
from mudra.identity.second_factor.policy import FactorRoles, is_required
from mudra.identity.second_factor.recovery_codes import new_recovery_codes
from mudra.identity.second_factor.totp import matching_step, new_totp_secret, provisioning_uri
from mudra.shared.refusal import Refusal
from mudra.shared.secret_text import SecretText

_NO_STEP = -1


class NoSecondFactor(Refusal, frozen=True):
    """The person has no such second factor, or is not setting one up."""


class FactorRequired(Refusal, frozen=True):
    """People of this role need a second factor: it can be replaced, not removed."""


class Enrollment(Struct, frozen=True):
    """What an authenticator app needs: the secret as text, and the URI of the QR code."""

    secret: SecretText
    uri: SecretText


async def begin_enrollment(
    work: IdentityUnitOfWork, user: User, network: str, random_bytes: Callable[[int], bytes]
) -> Enrollment:
    """Make the secret of a new app. An app in use stays so until the new one is confirmed."""
    secret = new_totp_secret(random_bytes)
    await work.second_factors.begin_totp(user.user_id, secret)
    return Enrollment(secret, provisioning_uri(secret, user.email, network))


async def pending_enrollment(
    work: IdentityUnitOfWork, user: User, network: str
) -> Enrollment | NoSecondFactor:
    """Return what `begin_enrollment` did, while it waits for its first code."""
    factor = await work.second_factors.totp(user.user_id, confirmed=False)
    if factor is None:
        return NoSecondFactor()
    return Enrollment(factor.secret, provisioning_uri(factor.secret, user.email, network))


async def confirm_enrollment(
    work: IdentityUnitOfWork,
    user: User,
    code: SecretText,
    caller: Caller,
    random_bytes: Callable[[int], bytes],
) -> Sequence[SecretText] | CodeRefused | NoSecondFactor:
    """Put the new app into use once it has shown a right code; returns new recovery codes.

    The code is used up by it. Wrong ones are not counted: the page that asks shows the secret.
    """
    factor = await work.second_factors.totp(user.user_id, confirmed=False)
    if factor is None:
        return NoSecondFactor()
    typed = SecretText(code.reveal().replace(" ", ""))
    step = matching_step(factor.secret, typed, await work.people.now(), _NO_STEP)
    if step is None:
        return CodeRefused()
    await work.second_factors.confirm_totp(user.user_id, step)
    await forget_wrong_codes(work, user.user_id)
    await _record(work, user, caller, EventName.USER_FACTOR_ADD, FactorChange.ADDED)
    return await new_codes(work, user, random_bytes)


async def renew_recovery_codes(
    work: IdentityUnitOfWork, user: User, caller: Caller, random_bytes: Callable[[int], bytes]
) -> Sequence[SecretText] | NoSecondFactor:
    """Make new recovery codes; the earlier ones end."""
    if not (await work.second_factors.enrolled(user.user_id)).any:
        return NoSecondFactor()
    await _record(work, user, caller, EventName.USER_RECOVERY_RENEW, FactorChange.CODES)
    return await new_codes(work, user, random_bytes)


async def app_kept(
    work: IdentityUnitOfWork, user: User, roles: FactorRoles
) -> NoSecondFactor | FactorRequired | None:
    """Return why a person's app is not removed: where their role needs a factor, only this one."""
    enrolled = await work.second_factors.enrolled(user.user_id)
    if not enrolled.app:
        return NoSecondFactor()
    if not enrolled.passkeys and await factor_is_required(work, user, roles):
        return FactorRequired()
    return None


async def remove_app(
    work: IdentityUnitOfWork, user: User, roles: FactorRoles, caller: Caller
) -> NoSecondFactor | FactorRequired | None:
    """Remove a person's app; where their role needs a factor, only next to a passkey."""
    refused = await app_kept(work, user, roles)
    if refused is not None:
        return refused
    if (await work.second_factors.enrolled(user.user_id)).passkeys:
        await work.second_factors.remove_totp(user.user_id)
    else:
        await work.second_factors.remove(user.user_id)
    await _record(work, user, caller, EventName.USER_FACTOR_REMOVE, FactorChange.REMOVED)
    return None


async def factor_is_required(work: IdentityUnitOfWork, user: User, roles: FactorRoles) -> bool:
    """Return whether the person's roles need a second factor."""
    scopes = await work.memberships.scopes(user.user_id)
    return is_required(roles, operator=bool(scopes), admin=user.is_of_a_member)


async def new_codes(
    work: IdentityUnitOfWork, user: User, random_bytes: Callable[[int], bytes]
) -> Sequence[SecretText]:
    """Make recovery codes in place of those that a person has."""
    codes = new_recovery_codes(random_bytes)
    await work.second_factors.replace_recovery_codes(user.user_id, codes)
    return codes


async def _record(
    work: IdentityUnitOfWork, user: User, caller: Caller, event: EventName, change: FactorChange
) -> None:
    await work.audit_log.append(AuditEntry(event, caller, user_id=user.user_id))
    await notify(work, user, change)
