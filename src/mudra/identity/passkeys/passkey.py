"""Passkeys, and the challenges that they sign."""

import enum
from datetime import datetime

from msgspec import Struct


class Passkey(Struct, frozen=True):
    """A person's passkey as it is stored: its public half alone."""

    passkey_id: str
    user_id: str
    name: str
    credential_id: bytes
    public_key: bytes
    sign_count: int
    created_at: datetime
    last_used_at: datetime | None = None


class Purpose(enum.StrEnum):
    """The purpose of a challenge. it is accepted for nothing else."""

    ADD = "add"
    PROVE = "prove"
    SIGN_IN = "sign-in"


class Challenge(Struct, frozen=True):
    """Random bytes that a passkey must sign, once.

    `holder` is the key of the session, or the hash of a cookie of a browser that is not signed in;
    `address` is kept for the latter alone, to limit how many wait.
    """

    holder: bytes
    purpose: Purpose
    value: bytes
    expires_at: datetime
    address: str = ""


class NewCredential(Struct, frozen=True):
    """The contents of a verified registration."""

    credential_id: bytes
    public_key: bytes
    sign_count: int


class Assertion(Struct, frozen=True):
    """The contents of a verified signature: the new counter, and for whom the passkey was made."""

    sign_count: int
    user_handle: bytes | None
