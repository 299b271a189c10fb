"""Check what a form shows of a second factor: a passkey's signature, else a typed code."""

from collections.abc import Mapping

from mudra.audit.event import Caller
from mudra.identity.accounts.user import User
from mudra.identity.passkeys.check_passkey import check_passkey
from mudra.identity.passkeys.passkey_verifier import PasskeyVerifier
from mudra.identity.second_factor.check_code import FactorKind, check_code
from mudra.identity.sign_in.sign_in import TooManyAttempts
from mudra.shared.refusal import PlainRefusal
from mudra.shared.secret_text import SecretText
from mudra.storage.database.transaction import Transaction


async def second_factor_shown(  # its collaborators, each named
    tx: Transaction,
    user: User,
    session_key: bytes,
    fields: Mapping[str, str],
    caller: Caller,
    verifier: PasskeyVerifier,
) -> FactorKind | PlainRefusal | TooManyAttempts | None:
    """Return which factor was accepted, or why none was; None when the form shows none.

    `passkey` is the answer of the browser under the challenge of the session, `code` what was
    typed.
    """
    passkey, code = fields.get("passkey", ""), fields.get("code", "")
    if passkey:
        return await check_passkey(tx, user, passkey, session_key, caller, verifier)
    return await check_code(tx, user, SecretText(code), caller) if code else None
