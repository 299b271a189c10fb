"""The hashing of passwords: a port, since tests take time of their own."""

from typing import Protocol

from mudra.identity.accounts.refusals import HashingBusy
from mudra.shared.secret_text import SecretText


class PasswordHasher(Protocol):
    """A slow hash with bounded use of the machine."""

    async def hash(
        self, password: SecretText, *, account: str = "", origin: str = ""
    ) -> str | HashingBusy:
        """Hash a password; `account` and `origin` share the queue fairly."""

    async def verify(
        self, stored: str | None, password: SecretText, *, account: str = "", origin: str = ""
    ) -> bool | HashingBusy:
        """Check a password; without a stored hash it takes as long and returns False."""

    def needs_rehash(self, stored: str) -> bool:
        """Return whether a stored hash has other parameters than those in force."""
