"""A person who can sign in: a member's designated admin (spec 2.1, 3)."""

import enum

from msgspec import Struct


class UserState(enum.StrEnum):
    """Where an account stands: e-mail verification, then password, then tokens (spec 3)."""

    INVITED = "invited"
    ACTIVE = "active"
    DISABLED = "disabled"


class User(Struct, frozen=True):
    """One account. `email` is the username, normalised for comparison."""

    user_id: str
    email: str
    name: str
    state: UserState
    password_hash: str | None
    administers: tuple[str, ...]
    entity_names: tuple[str, ...] = ()

    @property
    def may_sign_in(self) -> bool:
        """Tell whether a right password would let this user in."""
        return self.state is UserState.ACTIVE and self.password_hash is not None
