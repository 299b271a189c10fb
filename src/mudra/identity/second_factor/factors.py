"""Second factors as they are stored."""

from msgspec import Struct

from mudra.shared.secret_text import SecretText


class TotpFactor(Struct, frozen=True):
    """The secret that an authenticator app shares; `last_step` is the last one that was used."""

    factor_id: str
    secret: SecretText
    last_step: int


class EnrolledFactors(Struct, frozen=True):
    """The factors that a person can show at a sign-in: an app, and so many passkeys."""

    app: bool
    passkeys: int

    @property
    def any(self) -> bool:
        """Return whether the person has a second factor."""
        return self.app or self.passkeys > 0
