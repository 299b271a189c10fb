"""What second factors ask of storage, in the caller's transaction."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from msgspec import Struct

from mudra.identity.passkeys.ports import Passkeys
from mudra.shared.secret_text import SecretText


class TotpFactor(Struct, frozen=True):
    """The secret that an authenticator app shares; `last_step` is the last one that was used."""

    factor_id: str
    secret: SecretText
    last_step: int


class EnrolledFactors(Struct, frozen=True):
    """What a person can show at a sign-in: an app, and so many passkeys."""

    app: bool
    passkeys: int

    @property
    def any(self) -> bool:
        """Return whether the person has a second factor."""
        return self.app or self.passkeys > 0


class SecondFactors(Protocol):
    """The second factors of people; secrets are encrypted, recovery codes hashed."""

    @property
    def passkeys(self) -> Passkeys:
        """Passkeys and their challenges."""

    async def enrolled(self, user_id: str) -> EnrolledFactors:
        """Return which second factors a person has."""

    async def totp(self, user_id: str) -> TotpFactor | None:
        """Find the app that a person uses, and hold its lock."""

    async def begin_totp(
        self, user_id: str, session_key: bytes, value: bytes, expires_at: datetime
    ) -> SecretText:
        """Begin to set up an app in a session; returns its secret, which `value` gives.

        It replaces the one that the same session began before.
        """

    async def pending_totp(
        self, user_id: str, session_key: bytes, now: datetime
    ) -> SecretText | None:
        """Return the secret of the app that this very session sets up; None once it expired."""

    async def confirm_totp(
        self, user_id: str, session_key: bytes, secret: SecretText, step: int
    ) -> None:
        """Put the app that the session sets up into use, with its first step used.

        It replaces the person's earlier one.
        """

    async def step_used(self, factor_id: str, step: int) -> None:
        """Record the last used step."""

    async def remove_totp(self, user_id: str) -> None:
        """Delete a person's apps; passkeys and recovery codes stay."""

    async def remove(self, user_id: str) -> bool:
        """Delete a person's apps, passkeys and recovery codes; False when none was in use."""

    async def replace_recovery_codes(self, user_id: str, codes: Sequence[SecretText]) -> None:
        """Store the hashes of new codes; the earlier ones end."""

    async def use_recovery_code(self, user_id: str, code: SecretText) -> bool:
        """Delete a code that was typed; False when the person has none like it."""

    async def recovery_codes_left(self, user_id: str) -> int:
        """Count the codes that were not used."""
