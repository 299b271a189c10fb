"""The ports that each overview reads in one transaction."""

from typing import Protocol

from mudra.audit.ports import AuditSearch
from mudra.identity.ports import MemberSearch, Memberships, People
from mudra.metrics.health.health_service import HealthService
from mudra.metrics.incidents.incident_service import IncidentService
from mudra.metrics.notifications.followed_fips import FollowService
from mudra.metrics.payload.held_reports import HeldReportService
from mudra.metrics.payload.receipt_service import ReceiptService
from mudra.metrics.subscriptions.ports import Subscriptions
from mudra.overview.mail_queue import MailQueue
from mudra.registry.lifecycle.pending_entries import PendingEntries
from mudra.registry.ports import Registry
from mudra.tokens.ports import Secrets, SecretUses, TokenCounts
from mudra.tokens.secrets.secret_service import SecretService
from mudra.tokens.signing_keys.signing_key_service import SigningKeyService


class DashboardReads(Protocol):
    """The ports of the operators' dashboard."""

    @property
    def people(self) -> People:
        """The time."""

    @property
    def health(self) -> HealthService:
        """Until when reports were judged."""

    @property
    def incidents(self) -> IncidentService:
        """Open incidents."""

    @property
    def member_search(self) -> MemberSearch:
        """Members without admin, and secrets that expire."""

    @property
    def mail_queue(self) -> MailQueue:
        """Emails that failed."""

    @property
    def pending_entries(self) -> PendingEntries:
        """Versions that wait for approval."""

    @property
    def held_reports(self) -> HeldReportService:
        """Implausible reports that wait for a decision."""

    @property
    def subscriptions(self) -> Subscriptions:
        """Requests for emails of the public status."""


class AttentionReads(Protocol):
    """The ports of the action items of an entity's admins."""

    @property
    def follows(self) -> FollowService:
        """The FIPs that a FIU follows."""

    @property
    def audit_search(self) -> AuditSearch:
        """Tokens that were refused."""

    @property
    def secret_service(self) -> SecretService:
        """The use of the entity's secrets."""

    @property
    def member_search(self) -> MemberSearch:
        """The member."""

    @property
    def incidents(self) -> IncidentService:
        """Its open incidents."""

    @property
    def memberships(self) -> Memberships:
        """Its admins."""

    @property
    def registry(self) -> Registry:
        """Its registry entry."""

    @property
    def receipts(self) -> ReceiptService:
        """The windows that it did not report."""

    @property
    def held_reports(self) -> HeldReportService:
        """Its implausible reports that wait for a decision."""


class SearchReads(Protocol):
    """The ports of the operators' search."""

    @property
    def people(self) -> People:
        """The time."""

    @property
    def member_search(self) -> MemberSearch:
        """Members and people."""

    @property
    def incidents(self) -> IncidentService:
        """Incidents, open or over."""

    @property
    def receipts(self) -> ReceiptService:
        """Reports by receipt."""

    @property
    def signing_keys(self) -> SigningKeyService:
        """Signing keys by ID."""


class SuspensionReads(Protocol):
    """The ports of the reason why a member gets no tokens."""

    @property
    def audit_search(self) -> AuditSearch:
        """The audit log."""


class ActivityReads(Protocol):
    """The ports of an entity's events."""

    @property
    def audit_search(self) -> AuditSearch:
        """Its audit log."""

    @property
    def people(self) -> People:
        """The time."""

    @property
    def memberships(self) -> Memberships:
        """Its admins."""


class MemberReads(Protocol):
    """A member as operators see it."""

    @property
    def member_search(self) -> MemberSearch:
        """The member and its admins."""

    @property
    def mail_queue(self) -> MailQueue:
        """The emails to its admins."""

    @property
    def token_counts(self) -> TokenCounts:
        """Its tokens by day."""

    @property
    def secrets(self) -> Secrets:
        """Its secrets."""

    @property
    def uses(self) -> SecretUses:
        """Return how they were used."""

    @property
    def registry(self) -> Registry:
        """Its registry entry."""
