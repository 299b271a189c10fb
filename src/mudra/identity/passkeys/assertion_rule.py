"""The rule for a verified signature of a passkey (WebAuthn 7.2, steps 6 and 22). Pure."""

import enum
from uuid import UUID

from mudra.identity.passkeys.passkey import Assertion, Passkey


class PasskeyFault(enum.StrEnum):
    """The reason for which a passkey was refused; the value is the reason in the audit log."""

    NO_CHALLENGE = "no-challenge"
    UNKNOWN = "unknown-passkey"
    INVALID = "invalid-signature"
    OTHER_PERSON = "passkey-of-another"
    COUNTER = "counter-not-higher"


def judge(passkey: Passkey, assertion: Assertion, user_id: str | None) -> PasskeyFault | None:
    """Return what is wrong with a signature of `passkey`, None when it counts.

    `user_id` is who is asked; None at a sign-in, where the passkey itself says who it is, and then
    must say it.
    """
    handle = assertion.user_handle
    if user_id is None and handle is None:
        return PasskeyFault.OTHER_PERSON
    if passkey.user_id != (user_id or passkey.user_id):
        return PasskeyFault.OTHER_PERSON
    if handle is not None and handle != user_handle(passkey.user_id):
        return PasskeyFault.OTHER_PERSON
    if not counter_is_higher(passkey.sign_count, assertion.sign_count):
        return PasskeyFault.COUNTER
    return None


def counter_is_higher(stored: int, sent: int) -> bool:
    """Return whether a counter went on; one that stays 0 is of a passkey that does not count.

    A counter that does not go on is a sign of a copy.
    """
    return sent > stored or (sent == 0 and stored == 0)


def user_handle(user_id: str) -> bytes:
    """Return what a passkey stores of its person: the user ID, no address (WebAuthn 14.6.1)."""
    return UUID(user_id).bytes
