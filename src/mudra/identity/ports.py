"""What this area asks of storage, in the transaction of its unit of work, and of others."""

import enum
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Protocol

from msgspec import Struct

from mudra.audit.ports import AuditLog
from mudra.identity.accounts.email_link import LinkFactory, LinkRecord
from mudra.identity.accounts.link_requests import LinkRequests
from mudra.identity.accounts.refusals import HashingBusy
from mudra.identity.accounts.user import AddressChange, HeldToken, User, UserState
from mudra.identity.memberships.member import Admin, Contact, Member, MemberStatus
from mudra.identity.memberships.member_search import (
    ExpiringSecret,
    MemberFilter,
    MemberRow,
    UserFilter,
    UserRow,
)
from mudra.identity.memberships.ports import FirstSecret, Invitations
from mudra.identity.operators.operator import Scope
from mudra.identity.second_factor.ports import SecondFactors
from mudra.identity.sign_in.throttle import Counted, History, Standing
from mudra.shared.secret_text import SecretText


class People(Protocol):
    """Users and the entities that they administer."""

    def new_id(self) -> str:
        """Return an ID for a new user."""

    async def by_username(self, username: str) -> User | None:
        """Find a user by normalized email address."""

    async def by_id(self, user_id: str) -> User | None:
        """Find a user by ID."""

    async def member(self, entity_id: str) -> Member | None:
        """Find a member and hold its lock for this transaction."""

    async def members(self) -> Sequence[Member]:
        """List all members by entity ID."""

    async def add_member(
        self, entity_id: str, entity_type: str, name: str, status: MemberStatus, by: str | None
    ) -> None:
        """Store a new member; `by` is the user who onboards it, None for a command."""

    async def add_user(self, user: User) -> None:
        """Store a new user."""

    async def set_language(self, user_id: str, language: str) -> None:
        """Store the language of a person's pages and emails; empty for the network's."""

    async def set_display_zone(self, user_id: str, choice: str) -> None:
        """Store the zone in which a person's pages write times."""

    async def add_admin(self, entity_id: str, user_id: str) -> None:
        """Make a user an admin of an entity."""

    async def set_password(self, user_id: str, password_hash: str) -> None:
        """Store the hash of a new password."""

    async def replace_hash(self, user_id: str, previous: str, password_hash: str) -> bool:
        """Store a new hash of the same password; False when the password has changed since."""

    async def now(self) -> datetime:
        """Return the database's time."""


class Memberships(Protocol):
    """Admins, contacts, operators and their states."""

    async def admins(self, entity_id: str) -> Sequence[Admin]:
        """Return the admins of an entity, the longest serving first."""

    async def remove_admin(self, entity_id: str, user_id: str) -> None:
        """End a user's rights on an entity, on every node from the commit on."""

    async def readers(self, entity_id: str) -> Sequence[Admin]:
        """Return the readers of an entity, the longest serving first."""

    async def add_reader(self, entity_id: str, user_id: str) -> None:
        """Let a user see an entity."""

    async def remove_reader(self, entity_id: str, user_id: str) -> None:
        """End a reader's right, on every node from the commit on."""

    async def contact(self, entity_id: str) -> Contact:
        """Return the backup contact of an entity."""

    async def set_contact(self, entity_id: str, contact: Contact) -> None:
        """Store the backup contact in place of the previous one."""

    async def new_contacts(self, entity_id: str, since: datetime) -> Sequence[datetime]:
        """Return when admins of an entity gave its contact another address, by the audit."""

    async def entity_name(self, entity_id: str) -> str:
        """Return the entity's name for people; empty when there is no such entity."""

    async def set_state(self, user_id: str, state: UserState) -> None:
        """Store a user's state."""

    async def set_email(self, user_id: str, email: str, state: UserState) -> None:
        """Store a user's new address and state; the password of the old one ends."""

    async def entry_status(self, entity_id: str) -> MemberStatus:
        """Return what the registry entry allows; it cannot change until this transaction ends."""

    async def entry_types(self, entity_ids: Collection[str]) -> Mapping[str, str]:
        """Return the types of registry entries, but for what was rejected and never live, by ID."""

    async def set_status(
        self, entity_id: str, membership: MemberStatus, effective: MemberStatus
    ) -> None:
        """Store the operator's decision and the status that follows; every node learns it first."""

    async def scopes(self, user_id: str) -> frozenset[Scope]:
        """Return the scopes of an operator; empty for anyone else."""

    async def set_scopes(self, user_id: str, scopes: frozenset[Scope]) -> None:
        """Store an operator's scopes; none ends the role."""

    async def record_grant(self, user_id: str, by: str, entity_id: str = "") -> None:
        """Record who gave a person a right, of an entity or an operator's; `by` "" records none."""

    async def lock_operators(self) -> None:
        """Let acts on people wait for each other until this transaction ends."""

    async def managers(self) -> frozenset[str]:
        """Return the user IDs of the active operators who can manage operators."""

    async def manages_since(self, user_id: str) -> datetime | None:
        """Return since when an operator can manage operators; None when it cannot."""

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


class Links(Protocol):
    """One-use links that were sent by email."""

    async def add(self, link: LinkRecord) -> None:
        """Store a new link and void the older ones of the same user."""

    async def find(self, token_hash: bytes) -> LinkRecord | None:
        """Find a link and hold its lock for this transaction."""

    async def use(self, token_hash: bytes) -> None:
        """Mark a link as used."""

    async def void(self, user_id: str, now: datetime) -> None:
        """Void the links of a user that were not used."""

    async def sent_to(self, user_id: str, since: datetime) -> Sequence[datetime]:
        """Return the times at which links were sent to a user."""

    async def is_any_valid(self, user_id: str, now: datetime) -> bool:
        """Return whether a link of a user still works."""


class AddressChanges(Protocol):
    """Changes of operators' addresses that wait to be confirmed."""

    async def request(self, change: AddressChange) -> None:
        """Store a change; it replaces the earlier one of the same user."""

    async def of_user(self, user_id: str) -> AddressChange | None:
        """Find the change of a user, and hold its lock for this transaction."""

    async def find(self, token_hash: bytes) -> AddressChange | None:
        """Find a change by the link that was sent, and hold its lock."""

    async def remove(self, user_id: str) -> None:
        """Delete the change of a user."""


class GuessedAccount(Struct, frozen=True):
    """A user whose password someone is guessing."""

    email: str
    name: str
    state: UserState
    failures: int
    last_failure_at: datetime


class Attempts(Protocol):
    """Failed sign-ins, by keyed hash of the name and by address."""

    async def standing(self, username: str, address: str, *, from_there: bool) -> Standing:
        """Read what decides on a sign-in; its successes from anywhere or this address alone."""

    async def history(self, counted: Counted, name: str, *, lock: bool) -> History:
        """Read the failures in a row of a name, whether or not it exists."""

    async def save(self, counted: Counted, name: str, history: History) -> None:
        """Store the failures in a row of a name."""

    async def of_address(self, address: str, since: datetime) -> Sequence[datetime]:
        """Return the times of failures from an address."""

    async def address_failed(self, address: str, now: datetime) -> None:
        """Record a failure from an address."""

    async def lock_address(self, address: str) -> None:
        """Let attempts from an address wait for each other until this transaction ends."""

    async def successes(self, username: str, since: datetime) -> Sequence[datetime]:
        """Return when a name signed in."""

    async def succeeded(self, username: str, address: str, now: datetime) -> None:
        """Record a sign-in of a name from an address."""

    async def count_since(self, since: datetime) -> int:
        """Count the failures over all names and addresses."""

    async def guessed(self, user_id: str | None, failures: int, last_failure_at: datetime) -> None:
        """Queue a notice to the user; None takes the same time and notifies no one."""

    async def take_guessed(self) -> Sequence[GuessedAccount]:
        """Take the queued notices, so that no other transaction sends them."""


class UserTokens(Protocol):
    """The tokens that a user holds."""

    async def revoke_user_tokens(self, user_id: str, now: datetime) -> int:
        """End all tokens of a user and return how many; sessions of the console end too."""

    async def revoke_one(self, user_id: str, jti: str, now: datetime) -> bool:
        """End one token of a user; False when it is not theirs or has ended already."""


class NoticeKind(enum.StrEnum):
    """The emails that can be sent; the value is the name of the template."""

    INVITATION = "invitation"
    ACCOUNT_INVITATION = "account_invitation"
    PASSWORD_RESET = "password_reset"  # noqa: S105  # a template's name
    PASSWORD_CHANGED = "password_changed"  # noqa: S105
    SECRET_RESET = "secret_reset"  # noqa: S105
    SECRET_EXPIRY = "secret_expiry"  # noqa: S105
    SECRET_EXPIRED = "secret_expired"  # noqa: S105
    OLD_SECRET_IN_USE = "old_secret_in_use"  # noqa: S105
    SIGN_IN_WAITS = "sign_in_waits"
    HEALTH_ALARM = "health_alarm"
    HEALTH_ESCALATED = "health_escalated"
    HEALTH_DIGEST = "health_digest"
    ADMIN_INVITATION = "admin_invitation"
    ADMIN_INVITED = "admin_invited"
    ADMIN_HANDED_OVER = "admin_handed_over"
    ADMINS_CHANGED = "admins_changed"
    CONTACT_CHANGED = "contact_changed"
    INVITATION_DECLINED = "invitation_declined"
    MEMBER_STATUS = "member_status"
    REPORT_HELD = "report_held"
    ADDRESS_CHANGED = "address_changed"
    ADDRESS_CONFIRM = "address_confirm"
    REGISTRY_CHANGED = "registry_changed"
    SERVICE_RESTORED = "service_restored"
    SECOND_FACTOR = "second_factor"
    ADDRESSES_BOUND = "addresses_bound"
    SUBSCRIPTION_CONFIRM = "subscription_confirm"
    STATUS_INCIDENT = "status_incident"
    STATUS_ANNOUNCEMENT = "status_announcement"
    SUBSCRIPTION_FAILING = "subscription_failing"


class Notice(Struct, frozen=True):
    """An email to be composed: its recipient, its kind, and the facts that it needs."""

    to: str
    kind: NoticeKind
    facts: Mapping[str, str | SecretText]
    language: str = ""
    """The tag of its language; empty for the one that the recipient's account chose."""
    unsubscribe: SecretText | None = None
    """The address to which one click posts that no more are wanted (RFC 8058)."""


class Outbox(Protocol):
    """Takes emails in the transaction of the change that they report."""

    async def post(self, notice: Notice) -> None:
        """Add an email; it is sent at least once after the commit."""


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


class IdentityUnitOfWork(Protocol):
    """What the use cases of this area need of one transaction."""

    @property
    def audit_log(self) -> AuditLog:
        """The audit log."""

    @property
    def people(self) -> People:
        """Users and members."""

    @property
    def memberships(self) -> Memberships:
        """Admins, contacts and scopes."""

    @property
    def links(self) -> Links:
        """One-use links."""

    @property
    def link_requests(self) -> LinkRequests:
        """Requests for a link to set a password."""

    @property
    def invitations(self) -> Invitations:
        """Invitations of an entity's admins."""

    @property
    def address_changes(self) -> AddressChanges:
        """Changes of operators' addresses that wait to be confirmed."""

    @property
    def attempts(self) -> Attempts:
        """Failed sign-ins."""

    @property
    def second_factors(self) -> SecondFactors:
        """Second factors of people."""

    @property
    def tokens(self) -> UserTokens:
        """Tokens of users."""

    @property
    def first_secret(self) -> FirstSecret:
        """The first secrets of members."""

    @property
    def outbox(self) -> Outbox:
        """Emails to be sent."""

    @property
    def link_factory(self) -> LinkFactory:
        """Makes links to the activation page."""
