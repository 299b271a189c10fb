"""One unit of work: a transaction, seen through the ports of every area.

Edges and jobs open one per use case; bootstrap/dependencies.py says what is behind it.
"""

from contextlib import AbstractAsyncContextManager
from typing import Final, Protocol

from msgspec import Struct

from mudra.audit.ports import AuditChain, AuditLog, AuditSearch, ExportPositions
from mudra.identity.accounts.email_link import LinkFactory
from mudra.identity.accounts.link_requests import LinkRequests
from mudra.identity.memberships.notices import NoticeService
from mudra.identity.memberships.ports import FirstSecret, Invitations
from mudra.identity.ports import (
    AddressChanges,
    Attempts,
    Links,
    MemberSearch,
    Memberships,
    Outbox,
    People,
)
from mudra.identity.second_factor.ports import SecondFactors
from mudra.identity.sessions.session import Sessions
from mudra.identity.single_sign_on.ports import SingleSignOn
from mudra.metrics.announcements.announcement_service import AnnouncementService
from mudra.metrics.health.health_service import HealthService
from mudra.metrics.incidents.acts.act_service import IncidentActService
from mudra.metrics.incidents.incident_service import IncidentService
from mudra.metrics.incidents.silence_service import SilenceService
from mudra.metrics.notifications.followed_fips import FollowService
from mudra.metrics.notifications.preference_service import AlarmPreferenceService
from mudra.metrics.notifications.webhook_service import WebhookService
from mudra.metrics.payload.held_reports import HeldReportService
from mudra.metrics.payload.push_report import PushService
from mudra.metrics.payload.receipt_service import ReceiptService
from mudra.metrics.subscriptions.ports import Subscriptions
from mudra.metrics.subscriptions.status_webhooks import StatusWebhooks
from mudra.overview.mail_queue import Mailbox, MailQueue
from mudra.overview.onboarding import MilestoneReads
from mudra.registry.lifecycle.pending_entries import PendingEntries
from mudra.registry.lifecycle.registration import RegistrationService
from mudra.registry.ports import Registry, VocabularyStore
from mudra.registry.probe.probe_service import ProbeService
from mudra.tokens.authentication.proof_guard import UsedProofs
from mudra.tokens.ports import (
    IssuedTokens,
    RegisteredKeys,
    Reminders,
    Secrets,
    SecretUses,
    TokenCounts,
)
from mudra.tokens.secrets.binding_service import BindingService
from mudra.tokens.secrets.secret_service import SecretService
from mudra.tokens.signing_keys.signing_key_service import SigningKeyService

TRANSACTION_S: Final = 3.0
"""A transaction has so long, in seconds, unless a use case asks for more (decision 0010)."""
PAGE_S: Final = 20.0
"""One that reads health or for a page may wait for what is made for another reader (0010)."""


class UnitOfWork(Struct, frozen=True):
    """The ports of one open transaction."""

    audit_log: AuditLog
    people: People
    links: Links
    link_factory: LinkFactory
    address_changes: AddressChanges
    invitations: Invitations
    link_requests: LinkRequests
    attempts: Attempts
    second_factors: SecondFactors
    outbox: Outbox
    memberships: Memberships
    sessions: Sessions
    single_sign_on: SingleSignOn
    notices: NoticeService
    member_search: MemberSearch
    milestones: MilestoneReads
    mail_queue: MailQueue
    mailbox: Mailbox
    audit_search: AuditSearch
    audit_chain: AuditChain
    audit_exports: ExportPositions
    secrets: Secrets
    secret_service: SecretService
    first_secret: FirstSecret
    uses: SecretUses
    reminders: Reminders
    tokens: IssuedTokens
    used_proofs: UsedProofs
    token_counts: TokenCounts
    registered_keys: RegisteredKeys
    address_bindings: BindingService
    registry: Registry
    vocabulary: VocabularyStore
    registration: RegistrationService
    signing_keys: SigningKeyService
    pending_entries: PendingEntries
    probes: ProbeService
    pushes: PushService
    held_reports: HeldReportService
    receipts: ReceiptService
    health: HealthService
    incidents: IncidentService
    incident_acts: IncidentActService
    silences: SilenceService
    announcements: AnnouncementService
    webhooks: WebhookService
    alarm_preferences: AlarmPreferenceService
    follows: FollowService
    subscriptions: Subscriptions
    status_webhooks: StatusWebhooks


class OpenUnitOfWork(Protocol):
    """Opens a transaction; commits at its end, rolls back on an exception."""

    def __call__(
        self, *, within_s: float = TRANSACTION_S
    ) -> AbstractAsyncContextManager[UnitOfWork]:
        """Open one that is cut off after so many seconds (decision 0010)."""
        ...
