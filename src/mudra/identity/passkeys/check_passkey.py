"""Check the signature of a passkey: as a second factor, and in place of a code or password.

Each challenge counts once, whatever its answer was. Refused answers are counted with wrong codes
(second_factor/check_code.py), so that their audit rows stay few; a right one is accepted however
many codes were guessed, since a signature cannot be.
"""

import base64
from typing import Final

import msgspec
from msgspec import Struct

from mudra.audit.event import Caller
from mudra.identity.accounts.people_store import People
from mudra.identity.accounts.user import User
from mudra.identity.passkeys.assertion_rule import PasskeyFault, judge
from mudra.identity.passkeys.passkey import Purpose
from mudra.identity.passkeys.passkey_verifier import PasskeyVerifier
from mudra.identity.second_factor.check_code import FactorChange, FactorKind, counted, notify
from mudra.identity.second_factor.second_factor_store import SecondFactors
from mudra.identity.sign_in.sign_in import TooManyAttempts
from mudra.localization.language import translatable
from mudra.shared.refusal import PlainRefusal, RefusalKind
from mudra.shared.text.undecodable import UNDECODABLE
from mudra.storage.database.transaction import Transaction

MAX_RESPONSE: Final = 6000
"""Characters of what a browser sends for a passkey: RSA keys take 1,500."""


PASSKEY_REFUSED: Final = PlainRefusal(
    RefusalKind.UNAUTHORIZED,
    translatable("the passkey was not accepted: try again, or use another one or a code"),
)
"""Another person's passkey, an old challenge, a wrong signature: not distinguished."""


class _Named(Struct, frozen=True):
    id: str


async def check_passkey(
    tx: Transaction,
    user: User,
    response: str,
    holder: bytes,
    caller: Caller,
    verifier: PasskeyVerifier,
) -> FactorKind | PlainRefusal | TooManyAttempts:
    """Accept the signature of one of the person's passkeys under their session's challenge."""

    async def attempt() -> FactorKind | str:
        signed = await signed_by(tx, response, holder, Purpose.PROVE, verifier, user.user_id)
        return signed.value if isinstance(signed, PasskeyFault) else FactorKind.PASSKEY

    done = await counted(tx, user, caller, attempt, guessable=False)
    return PASSKEY_REFUSED if done is None else done


async def signed_by(
    tx: Transaction,
    response: str,
    holder: bytes,
    purpose: Purpose,
    verifier: PasskeyVerifier,
    user_id: str | None,
) -> str | PasskeyFault:
    """Return the user ID behind a signature under the holder's challenge, and record its use.

    `user_id` is who is asked, None for anyone. A copy that is recognized is reported to its person.
    """
    passkeys, now = SecondFactors(tx).passkeys, await People(tx).now()
    challenge = await passkeys.take_challenge(holder, purpose, now)
    if challenge is None:
        return PasskeyFault.NO_CHALLENGE
    credential_id = _credential_id(response)
    passkey = await passkeys.by_credential(credential_id) if credential_id else None
    if passkey is None:
        return PasskeyFault.UNKNOWN
    assertion = verifier.assertion(response, challenge, passkey.public_key)
    if assertion is None:
        return PasskeyFault.INVALID
    fault = judge(passkey, assertion, user_id)
    if fault is PasskeyFault.COUNTER:
        owner = await People(tx).by_id(passkey.user_id)
        if owner is not None:
            await notify(tx, owner, FactorChange.PASSKEY_COPIED)
    if fault is None:
        await passkeys.used(passkey.passkey_id, assertion.sign_count, now)
    return fault or passkey.user_id


def _credential_id(response: str) -> bytes | None:
    """Return the ID that a response names (WebAuthn 5.1); None when it cannot be one."""
    if len(response) > MAX_RESPONSE:
        return None
    try:
        named = msgspec.json.decode(response, type=_Named).id
        return base64.urlsafe_b64decode(named + "=" * (-len(named) % 4))
    except (*UNDECODABLE, ValueError):
        return None
