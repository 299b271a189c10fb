"""What the use cases of this area ask of storage, hashing and mail.

Every call to storage belongs to the caller's transaction.
"""

import enum
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Protocol

from msgspec import Struct

from mudra.identity.accounts.email_link import LinkRecord
from mudra.identity.accounts.user import User, UserState
from mudra.identity.accounts.user_token import HeldToken
from mudra.identity.memberships.member import Admin, Member, MemberStatus
from mudra.identity.memberships.member_search import (
    ExpiringSecret,
    MemberFilter,
    MemberRow,
    UserFilter,
    UserRow,
)
from mudra.identity.operators.operator import Scope
from mudra.identity.sign_in.throttle import History
from mudra.shared.refusal import Refusal
from mudra.shared.secret_text import SecretText


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


class Memberships(Protocol):
    """Admins, contacts, operators and their states."""

    async def admins(self, entity_id: str) -> Sequence[Admin]:
        """Return the admins of an entity, the longest serving first."""

    async def remove_admin(self, entity_id: str, user_id: str) -> None:
        """End a user's rights on an entity, on every node from the commit on."""

    async def contact(self, entity_id: str) -> str:
        """Return the backup contact address of an entity; empty for none."""

    async def keep_contact(self, entity_id: str, email: str) -> None:
        """Store the backup contact address; empty for none."""

    async def entity_name(self, entity_id: str) -> str:
        """Return the entity's name for people; empty when there is no such entity."""

    async def set_state(self, user_id: str, state: UserState) -> None:
        """Store a user's state."""

    async def keep_email(self, user_id: str, email: str) -> None:
        """Store a user's new address; the account waits for its verification."""

    async def entry_status(self, entity_id: str) -> MemberStatus:
        """What the registry entry allows, and allows until this transaction ends."""

    async def set_membership(self, entity_id: str, status: MemberStatus) -> MemberStatus:
        """Store the operator's word on a member; gives the status that comes of it.

        Every node is told before it becomes true.
        """

    async def scopes(self, user_id: str) -> frozenset[Scope]:
        """Return the scopes of an operator; empty for anyone else."""

    async def keep_scopes(self, user_id: str, scopes: frozenset[Scope]) -> None:
        """Store an operator's scopes; none ends the role."""

    async def tokens(self, user_id: str) -> Sequence[HeldToken]:
        """Return a user's tokens that have not expired, the newest first."""

    async def token_used(self, jti: str, address: str) -> None:
        """Record a use of a user token, at most once a minute."""


class MemberSearch(Protocol):
    """Lists of members and users, ordered by a key that the next page begins after."""

    async def members(self, which: MemberFilter, after: str, limit: int) -> Sequence[MemberRow]:
        """List members by entity ID."""

    async def expiring(self, until: datetime, limit: int) -> Sequence[ExpiringSecret]:
        """List secrets of active members that expire before `until`, the first to expire first."""

    async def addresses(self, user_ids: Collection[str]) -> Mapping[str, str]:
        """Return the address of each of these users that exists."""

    async def users(self, which: UserFilter, after: str, limit: int) -> Sequence[UserRow]:
        """List users by address."""


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
