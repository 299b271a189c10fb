"""User accounts: designated admins of members and the operator's staff (spec 2.1, 3)."""

import enum
from datetime import datetime

from msgspec import Struct

from mudra.identity.accounts.email_address import MAX_ADDRESS, AddressRefused, normalize_email


class UserState(enum.StrEnum):
    """State of an account: email verification, then password, then tokens (spec 3)."""

    INVITED = "invited"
    ACTIVE = "active"
    DISABLED = "disabled"


class User(Struct, frozen=True):
    """One account; `email` is the username, normalized for comparison."""

    user_id: str
    email: str
    name: str
    state: UserState
    password_hash: str | None
    administers: tuple[str, ...]
    entity_names: tuple[str, ...] = ()
    language: str = ""
    """The tag of the language that they chose; empty for the network's."""
    display_zone: str = "browser"
    """The zone in which their pages write times: browser, ist or utc."""
    reads: tuple[str, ...] = ()
    """The entities of which they are a reader: they see, and change nothing (0131)."""
    read_names: tuple[str, ...] = ()
    password_set_at: datetime | None = None
    """When the password was set; another hash of the same one does not change it."""

    @property
    def is_of_a_member(self) -> bool:
        """Return whether they are an admin or a reader of an entity: then they are no operator."""
        return bool(self.administers or self.reads)

    def sees(self, entity_id: str) -> bool:
        """Return whether they may see what is the entity's own; changes are for its admins."""
        return entity_id in self.administers or entity_id in self.reads

    @property
    def may_sign_in(self) -> bool:
        """Return whether the right password lets this user sign in."""
        return self.state is UserState.ACTIVE and self.password_hash is not None

    def has_password_of(self, earlier: "User") -> bool:
        """Return whether this person's password is still the one that `earlier` was read with.

        Its hash may be another one: a sign-in hashes it again when the parameters have changed.
        """
        return (self.user_id, self.password_set_at) == (earlier.user_id, earlier.password_set_at)


class AddressChange(Struct, frozen=True):
    """A new address of an operator that the old address or a second operator must confirm.

    `token_hash` is that of the link sent to the old address.
    """

    user_id: str
    email: str
    requested_by: str
    requested_at: datetime
    expires_at: datetime
    token_hash: bytes


class HeldToken(Struct, frozen=True):
    """A User Access Token as lists show it: never its text."""

    jti: str
    issued_at: datetime
    expires_at: datetime
    revoked_at: datetime | None
    last_used_at: datetime | None
    last_address: str


def normalize_username(typed: str) -> str:
    """Return the name under which attempts are counted, also when it is not an email address."""
    address = normalize_email(typed)
    if isinstance(address, AddressRefused):
        return typed.strip().casefold()[:MAX_ADDRESS]
    return address
