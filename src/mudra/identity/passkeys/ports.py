"""What passkeys ask of storage, in the caller's transaction, and of the check of signatures."""

import enum
from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from msgspec import Struct

from mudra.identity.passkeys.relying_party import RelyingParty


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
    """What a challenge was given for; it is accepted for nothing else."""

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
    """What a verified registration holds."""

    credential_id: bytes
    public_key: bytes
    sign_count: int


class Assertion(Struct, frozen=True):
    """What a verified signature says: the new counter, and for whom the passkey was made."""

    sign_count: int
    user_handle: bytes | None


class PasskeyVerifier(Protocol):
    """Checks what browsers send: type, challenge, origin, RP ID, user verification, signature."""

    @property
    def relying_party(self) -> RelyingParty | None:
        """For whom passkeys are made; None while they are off."""

    async def load(self) -> None:
        """Load what the check needs, before a transaction is opened for it."""

    def registration(self, response: str, challenge: bytes) -> NewCredential | None:
        """Verify the answer of `navigator.credentials.create()`; None when it is refused."""

    def assertion(self, response: str, challenge: bytes, public_key: bytes) -> Assertion | None:
        """Verify the answer of `navigator.credentials.get()`; None when it is refused."""


class Passkeys(Protocol):
    """The passkeys of people, and the challenges that wait for an answer."""

    async def of_user(self, user_id: str) -> Sequence[Passkey]:
        """Return a person's passkeys, the oldest first."""

    async def by_credential(self, credential_id: bytes) -> Passkey | None:
        """Find a passkey, and hold its lock for this transaction."""

    async def add(self, passkey: Passkey) -> bool:
        """Store a new passkey; False when its credential is registered already."""

    async def used(self, passkey_id: str, sign_count: int, now: datetime) -> None:
        """Record a use and its counter."""

    async def remove(self, user_id: str, passkey_id: str) -> bool:
        """Delete one of a person's passkeys; False when they have none like it."""

    async def put_challenge(self, challenge: Challenge) -> None:
        """Store a challenge; it replaces the holder's earlier one of that purpose."""

    async def take_challenge(self, holder: bytes, purpose: Purpose, now: datetime) -> bytes | None:
        """Delete a holder's challenge and return it; None when there is none that still counts."""

    async def waiting(self, address: str, now: datetime) -> tuple[int, int]:
        """Count the challenges of browsers that are not signed in: of an address, and of all."""

    async def make_room(self, now: datetime) -> None:
        """Delete the oldest of these challenges of the address that has the most."""
