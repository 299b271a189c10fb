"""What second factors ask of storage, in the caller's transaction."""

from collections.abc import Sequence
from typing import Protocol

from msgspec import Struct

from mudra.shared.secret_text import SecretText


class TotpFactor(Struct, frozen=True):
    """The secret that an authenticator app shares; `last_step` is the last one that was used."""

    factor_id: str
    secret: SecretText
    last_step: int


class SecondFactors(Protocol):
    """The second factors of people; secrets are encrypted, recovery codes hashed."""

    async def is_enrolled(self, user_id: str) -> bool:
        """Return whether a person signs in with a second factor."""

    async def totp(self, user_id: str, *, confirmed: bool = True) -> TotpFactor | None:
        """Find a person's app, the one in use or the one being set up, and hold its lock."""

    async def begin_totp(self, user_id: str, secret: SecretText) -> None:
        """Store the secret of an app that is being set up; it replaces an earlier one."""

    async def confirm_totp(self, user_id: str, step: int) -> None:
        """Put the app being set up into use, with its first step used; it replaces the earlier."""

    async def step_used(self, factor_id: str, step: int) -> None:
        """Record the last used step."""

    async def remove(self, user_id: str) -> bool:
        """Delete a person's apps and recovery codes; False when none was in use."""

    async def replace_recovery_codes(self, user_id: str, codes: Sequence[SecretText]) -> None:
        """Store the hashes of new codes; the earlier ones end."""

    async def use_recovery_code(self, user_id: str, code: SecretText) -> bool:
        """Delete a code that was typed; False when the person has none like it."""

    async def recovery_codes_left(self, user_id: str) -> int:
        """Count the codes that were not used."""
