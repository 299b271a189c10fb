"""Register, name and remove a person's own passkeys. The edge asks for a proof first."""

import unicodedata
from collections.abc import Callable, Sequence
from typing import Final

from mudra.audit.audit_log_store import AuditLog
from mudra.audit.event import AuditEntry, Caller, EventName
from mudra.identity.accounts.people_store import People
from mudra.identity.accounts.user import User
from mudra.identity.passkeys.check_passkey import MAX_RESPONSE, PASSKEY_REFUSED
from mudra.identity.passkeys.passkey import Passkey, Purpose
from mudra.identity.passkeys.passkey_verifier import PasskeyVerifier
from mudra.identity.second_factor.check_code import FactorChange, forget_wrong_codes, notify
from mudra.identity.second_factor.enroll import (
    FACTOR_REQUIRED,
    NO_SECOND_FACTOR,
    factor_is_required,
    new_codes,
)
from mudra.identity.second_factor.policy import FactorRoles
from mudra.identity.second_factor.second_factor_store import SecondFactors
from mudra.localization.language import translatable
from mudra.shared.refusal import PlainRefusal, RefusalKind, ValueRefused
from mudra.shared.secret_text import SecretText
from mudra.shared.text.visible_text import first_unseen
from mudra.storage.database.transaction import Transaction

MAX_PASSKEYS: Final = 10
MAX_NAME: Final = 40
MAX_CREDENTIAL_ID: Final = 1023
"""Bytes (WebAuthn 5.8.3)."""
MAX_PUBLIC_KEY: Final = 1024
"""Bytes: an RSA key of 4096 bits takes 540."""


TOO_MANY_PASSKEYS: Final = PlainRefusal(
    RefusalKind.CONFLICT, f"you have {MAX_PASSKEYS} passkeys: remove one first"
)


PASSKEYS_OFF: Final = PlainRefusal(
    RefusalKind.CONFLICT,
    translatable("passkeys are off: the service's address is no host name with https"),
)


def passkey_name(typed: str) -> str | ValueRefused:
    """Return the name that the list of passkeys shows."""
    name = " ".join(unicodedata.normalize("NFC", typed[: 4 * MAX_NAME]).split())
    if not 1 <= len(name) <= MAX_NAME or first_unseen(name):
        return ValueRefused("name", f"must be 1 to {MAX_NAME} printable characters")
    return name


async def may_add(tx: Transaction, user: User) -> PlainRefusal | None:
    """Return why a person can have no more passkeys."""
    own = await SecondFactors(tx).passkeys.of_user(user.user_id)
    return TOO_MANY_PASSKEYS if len(own) >= MAX_PASSKEYS else None


async def add_passkey(  # noqa: PLR0913  # its collaborators, each named
    tx: Transaction,
    user: User,
    typed_name: str,
    response: str,
    holder: bytes,
    caller: Caller,
    *,
    passkey_id: str,
    verifier: PasskeyVerifier,
    random_bytes: Callable[[int], bytes],
) -> Sequence[SecretText] | PlainRefusal | ValueRefused:
    """Store a new passkey under the challenge that its session was given.

    Returns recovery codes with the first factor of a person, else none.
    """
    passkeys, now = SecondFactors(tx).passkeys, await People(tx).now()
    challenge = await passkeys.take_challenge(holder, Purpose.ADD, now)
    name = passkey_name(typed_name)
    if isinstance(name, ValueRefused):
        return name
    full = await may_add(tx, user)
    if full is not None:
        return full
    new = None
    if challenge is not None and len(response) <= MAX_RESPONSE:
        new = verifier.registration(response, challenge)
    if new is None or len(new.credential_id) > MAX_CREDENTIAL_ID:
        return PASSKEY_REFUSED
    if len(new.public_key) > MAX_PUBLIC_KEY:
        return PASSKEY_REFUSED
    enrolled = await SecondFactors(tx).enrolled(user.user_id)
    if not await passkeys.add(
        Passkey(
            passkey_id, user.user_id, name, new.credential_id, new.public_key, new.sign_count, now
        )
    ):
        return PASSKEY_REFUSED
    await forget_wrong_codes(tx, user.user_id)
    await _record(tx, user, caller, EventName.USER_FACTOR_ADD, FactorChange.PASSKEY_ADDED)
    return () if enrolled.any else await new_codes(tx, user, random_bytes)


async def passkey_kept(
    tx: Transaction, user: User, passkey_id: str, roles: FactorRoles
) -> PlainRefusal | None:
    """Return why a passkey is not removed: it is the last factor, and the role needs one."""
    own = await SecondFactors(tx).passkeys.of_user(user.user_id)
    if await _is_last(tx, user) and await factor_is_required(tx, user, roles):
        return FACTOR_REQUIRED
    return None if any(one.passkey_id == passkey_id for one in own) else NO_SECOND_FACTOR


async def remove_passkey(
    tx: Transaction, user: User, passkey_id: str, roles: FactorRoles, caller: Caller
) -> PlainRefusal | None:
    """Remove one of a person's passkeys; the last factor only where the role needs none."""
    is_last = await _is_last(tx, user)
    refused = await passkey_kept(tx, user, passkey_id, roles)
    if refused is not None:
        return refused
    if not await SecondFactors(tx).passkeys.remove(user.user_id, passkey_id):
        return NO_SECOND_FACTOR
    if is_last:
        await SecondFactors(tx).remove(user.user_id)  # its recovery codes
    await _record(tx, user, caller, EventName.USER_FACTOR_REMOVE, FactorChange.PASSKEY_REMOVED)
    return None


async def end_passkeys(tx: Transaction, user: User, caller: Caller) -> None:
    """Remove all passkeys of an account that becomes another person's: each signs in alone.

    An app and its recovery codes stay: they are of no use without the password.
    """
    enrolled = await SecondFactors(tx).enrolled(user.user_id)
    if not enrolled.passkeys:
        return
    if not enrolled.app:
        await SecondFactors(tx).remove(user.user_id)  # with the recovery codes
    for one in await SecondFactors(tx).passkeys.of_user(user.user_id):
        await SecondFactors(tx).passkeys.remove(user.user_id, one.passkey_id)
    await _record(tx, user, caller, EventName.USER_FACTOR_REMOVE, FactorChange.PASSKEYS_ENDED)


async def _is_last(tx: Transaction, user: User) -> bool:
    enrolled = await SecondFactors(tx).enrolled(user.user_id)
    return not enrolled.app and enrolled.passkeys == 1


async def _record(
    tx: Transaction, user: User, caller: Caller, event: EventName, change: FactorChange
) -> None:
    await AuditLog(tx).append(
        AuditEntry(event, caller, user_id=user.user_id, detail={"kind": "passkey"})
    )
    await notify(tx, user, change)
