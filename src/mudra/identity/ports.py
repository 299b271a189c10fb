"""What the use cases of this area ask of storage, hashing and mail.

Every call to storage belongs to the caller's transaction.
"""

import enum
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Protocol

from msgspec import Struct

from mudra.identity.accounts.email_link import LinkRecord
from mudra.identity.accounts.user import User
from mudra.identity.sign_in.throttle import History
from mudra.shared.refusal import Refusal
from mudra.shared.secret_text import SecretText


class Member(Struct, frozen=True):
    """A member as onboarding knows it."""

    entity_id: str
    entity_type: str
    name: str
    status: str
    admins: tuple[str, ...]


class People(Protocol):
    """Users and the entities that they administer."""

    async def by_username(self, username: str) -> User | None:
        """Find a user by normalised e-mail address."""

    async def by_id(self, user_id: str) -> User | None:
        """Find a user by ID."""

    async def member(self, entity_id: str) -> Member | None:
        """Find a member, holding its lock for this transaction."""

    async def members(self) -> Sequence[Member]:
        """List all members by entity ID."""

    async def add_member(self, entity_id: str, entity_type: str, name: str) -> None:
        """Store a new member."""

    async def add_user(self, user: User) -> None:
        """Store a new user."""

    async def add_admin(self, entity_id: str, user_id: str) -> None:
        """Make a user an admin of an entity."""

    async def keep_password(self, user_id: str, password_hash: str) -> None:
        """Store a new password hash and make the account active."""

    async def keep_rehashed(self, user_id: str, former: str, password_hash: str) -> bool:
        """Store the same password hashed anew; False when it was changed meanwhile."""

    async def now(self) -> datetime:
        """The database's clock."""


class Links(Protocol):
    """One-use links that went out by mail."""

    async def keep(self, link: LinkRecord) -> None:
        """Store a new link and void the older ones of the same user."""

    async def find(self, token_hash: bytes) -> LinkRecord | None:
        """Find a link, holding its lock for this transaction."""

    async def use(self, token_hash: bytes, now: datetime) -> None:
        """Mark a link as used."""

    async def sent_to(self, user_id: str, since: datetime) -> Sequence[datetime]:
        """Times at which links went out to a user."""


class Attempts(Protocol):
    """Failed sign-ins, by keyed hash of the name and by address."""

    async def of_account(self, username: str, *, lock: bool) -> History:
        """Read the failures in a row of a name, whether or not it exists."""

    async def keep(self, username: str, history: History) -> None:
        """Store the failures in a row of a name."""

    async def of_address(self, address: str, since: datetime) -> Sequence[datetime]:
        """Times of failures from an address."""

    async def address_failed(self, address: str, now: datetime) -> None:
        """Note a failure from an address."""

    async def guessed(self, user_id: str | None, failures: int, last_failure_at: datetime) -> None:
        """Have the user told of the guessing; None costs the same and tells nobody."""


class UserTokens(Protocol):
    """The tokens that a user holds."""

    async def revoke_user_tokens(self, user_id: str, now: datetime) -> int:
        """End all tokens of a user and say how many; sessions of the console end too."""

    async def revoke_one(self, user_id: str, jti: str, now: datetime) -> bool:
        """End one token of a user; False when it is not theirs or has ended already."""


class NoticeKind(enum.StrEnum):
    """Which letter to write."""

    INVITATION = "invitation"
    PASSWORD_RESET = "password_reset"  # noqa: S105  # a template's name
    PASSWORD_CHANGED = "password_changed"  # noqa: S105
    SECRET_RESET = "secret_reset"  # noqa: S105
    SECRET_EXPIRY = "secret_expiry"  # noqa: S105
    SECRET_EXPIRED = "secret_expired"  # noqa: S105
    OLD_SECRET_IN_USE = "old_secret_in_use"  # noqa: S105
    SIGN_IN_WAITS = "sign_in_waits"
    HEALTH_ALARM = "health_alarm"
    ADDRESS_CHANGED = "address_changed"


class Notice(Struct, frozen=True):
    """A letter to be written: to whom, which, and the facts that it needs."""

    to: str
    kind: NoticeKind
    facts: Mapping[str, str | SecretText]


class Outbox(Protocol):
    """Where letters are put in the transaction of the change that they tell of."""

    async def post(self, notice: Notice) -> None:
        """Put a letter into the outbox; it is sent at least once after the commit."""


class HashingBusy(Refusal, frozen=True):
    """Too many passwords are being hashed; try again after `retry_after_s` seconds."""

    retry_after_s: int


class PasswordHasher(Protocol):
    """A slow hash with bounded use of the machine."""

    async def hash(self, password: SecretText) -> str | HashingBusy:
        """Hash a password."""

    async def verify(self, stored: str | None, password: SecretText) -> bool | HashingBusy:
        """Check a password; without a stored hash this costs the same and is False."""

    def needs_rehash(self, stored: str) -> bool:
        """Tell whether a stored hash has other parameters than those in force."""
