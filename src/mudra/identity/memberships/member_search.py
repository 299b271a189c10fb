"""Members, users and expiring secrets as operators' lists show them, and their filters."""

from datetime import datetime
from typing import Final

from msgspec import Struct

from mudra.localization.language import translatable

NO_ADMIN_CAN_ACT: Final = translatable("no admin can act")
"""The status of an active member without an admin who can act, as pages show it."""


class MemberRow(Struct, frozen=True):
    """A member in a list; `able` counts its admins who can act."""

    entity_id: str
    entity_type: str
    name: str
    status: str
    created_at: datetime
    secret_expires_at: datetime
    contact: str
    phone: str
    admins: tuple[str, ...]
    able: int

    @property
    def is_stuck(self) -> bool:
        """Return whether it gets tokens, but no person can read or reset its secret."""
        return self.status == "active" and not self.able

    @property
    def state(self) -> str:
        """Return its status as pages show it."""
        return NO_ADMIN_CAN_ACT if self.is_stuck else self.status


class UserRow(Struct, frozen=True):
    """A user in a list; `invited_until` while an unused link is valid."""

    user_id: str
    email: str
    name: str
    state: str
    created_at: datetime
    invited_until: datetime | None
    administers: tuple[str, ...]
    scopes: tuple[str, ...]
    app: bool
    """Whether an authenticator app is enrolled."""
    passkeys: int
    signed_in_at: datetime | None
    """The last sign-in, to the console or for a token; None since this is recorded."""

    @property
    def second_factor(self) -> bool:
        """Returns whether any second factor is enrolled."""
        return self.app or self.passkeys > 0


class ExpiringSecret(Struct, frozen=True):
    """A current secret that expires soon or has expired; `able` admins can reset it."""

    entity_id: str
    name: str
    expires_at: datetime
    last_used_at: datetime | None
    able: int


class MemberFilter(Struct, frozen=True, kw_only=True):
    """Selects members; empty fields match all.

    Each word of `text` is part of the ID or name, in any order. `named` is the whole of one of
    them, in any case.
    """

    entity_id: str = ""
    entity_type: str = ""
    status: str = ""
    text: str = ""
    named: str = ""
    without_admin: bool = False
    among: frozenset[str] | None = None
    """These IDs alone."""


class UserFilter(Struct, frozen=True, kw_only=True):
    """Selects users; empty fields match all.

    Each word of `text` is part of the address or name, in any order.
    """

    user_id: str = ""
    state: str = ""
    entity_id: str = ""
    text: str = ""
    operators_only: bool = False
