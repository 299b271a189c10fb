"""What this area asks of storage, in the transaction of its unit of work, and of others."""

from datetime import datetime
from typing import Protocol

from mudra.audit.audit_log_store import AuditLog
from mudra.identity.accounts.address_change_store import AddressChanges
from mudra.identity.accounts.email_link import LinkFactory
from mudra.identity.accounts.link_request_store import LinkRequests
from mudra.identity.accounts.link_store import Links
from mudra.identity.accounts.people_store import People
from mudra.identity.accounts.refusals import HashingBusy
from mudra.identity.memberships.invitation_store import Invitations
from mudra.identity.memberships.membership_store import Memberships
from mudra.identity.memberships.ports import FirstSecret
from mudra.identity.second_factor.second_factor_store import SecondFactors
from mudra.identity.sign_in.attempt_store import Attempts
from mudra.shared.secret_text import SecretText
from mudra.storage.mail.outbox import Outbox


class UserTokens(Protocol):
    """The tokens that a user holds."""

    async def revoke_user_tokens(self, user_id: str, now: datetime) -> int:
        """End all tokens of a user and return how many; sessions of the console end too."""

    async def revoke_one(self, user_id: str, jti: str, now: datetime) -> bool:
        """End one token of a user; False when it is not theirs or has ended already."""


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
