"""The use cases that need more than a transaction: settings, or other parts of the process.

`Transaction.service` makes them by these functions, one for each.
"""

import secrets
from datetime import timedelta
from typing import TYPE_CHECKING

from mudra.audit.archive_store import Archives
from mudra.audit.audit_chain import AuditChain
from mudra.audit.audit_log_store import AuditLog
from mudra.audit.chain_store import LedgerStore
from mudra.audit.proof.checkpoint_store import CheckpointStore
from mudra.audit.token_issue_store import TokenIssueStore
from mudra.bootstrap import alarm_wiring, health_store, metrics_store
from mudra.bootstrap.levels.level_wiring import budget_service, level_service
from mudra.comparison.capacity import CapacityService
from mudra.comparison.capacity_store import CapacityNotices
from mudra.comparison.funnel_service import FunnelService
from mudra.comparison.role_service import RoleService
from mudra.comparison.volume_service import VolumeService
from mudra.disputes.dispute_service import DisputeService
from mudra.identity.accounts.email_link import LinkFactory
from mudra.identity.memberships.membership_store import Memberships
from mudra.identity.memberships.notices import NoticeService
from mudra.identity.memberships.onboard import FirstSecret
from mudra.levels.budgets.budget_service import BudgetService
from mudra.levels.level_service import LevelService
from mudra.metrics.announcements.announcement_service import AnnouncementService
from mudra.metrics.health.health_service import HealthService
from mudra.metrics.incidents.acts.act_service import IncidentActService
from mudra.metrics.incidents.incident_service import IncidentService
from mudra.metrics.incidents.silence_service import SilenceService
from mudra.metrics.notifications.preference_service import AlarmPreferenceService, FollowService
from mudra.metrics.notifications.webhook_service import WebhookService
from mudra.metrics.notifications.webhook_store import Webhooks
from mudra.metrics.payload.held_reports import HeldReportService
from mudra.metrics.payload.push_report import PushService
from mudra.metrics.payload.receipt_service import ReceiptService
from mudra.metrics.subscriptions.status_webhooks import StatusWebhooks
from mudra.metrics.subscriptions.subscription_store import Subscriptions
from mudra.registry.lifecycle.acts.registration import RegistrationService
from mudra.registry.lifecycle.acts.write_budget_store import WriteBudget
from mudra.registry.lifecycle.registry_store import RegistryStore
from mudra.registry.payload.vocabulary_store import VocabularyStore
from mudra.registry.ports import Registry
from mudra.registry.probe.probe_service import ProbeService
from mudra.registry.probe.probe_store import Probes
from mudra.shared.ids import fresh_id
from mudra.storage.database.transaction import Transaction, UseCases
from mudra.storage.mail.outbox import Outbox
from mudra.storage.metrics.incident_acts import PostgresIncidentActs
from mudra.storage.metrics.incidents import PostgresIncidents
from mudra.storage.metrics.receipts import OnboardedMembers
from mudra.timeline.timeline_service import TimelineService
from mudra.tokens.secrets.binding_service import BindingService
from mudra.tokens.secrets.secret_service import FirstSecretService, SecretService
from mudra.tokens.signing_keys.key_pairs import KeyPairs
from mudra.tokens.signing_keys.signing_key_service import SigningKeyService

if TYPE_CHECKING:  # it imports this module
    from mudra.bootstrap.dependencies import Dependencies

ACTIVATION_PATH = "/activate"


def add_use_cases(parts: "Dependencies", use_cases: UseCases) -> None:
    """Adds every use case that needs more than a transaction."""
    _add_people(parts, use_cases)
    _add_tokens(parts, use_cases)
    _add_registry(parts, use_cases)
    _add_metrics(parts, use_cases)
    _add_alarms(parts, use_cases)
    use_cases.add(AuditChain, lambda tx: _audit_chain(parts, tx))
    if parts.settings.sandbox:
        _add_faults(parts, use_cases)


def _add_people(parts: "Dependencies", use_cases: UseCases) -> None:
    kept_here = parts.settings.smtp_url is None
    page = parts.settings.issuer + ACTIVATION_PATH
    use_cases.add(Outbox, lambda tx: Outbox(tx, parts.writer.compose, keep_here=kept_here))
    use_cases.add(NoticeService, lambda tx: NoticeService(Memberships(tx), tx.service(Outbox)))
    use_cases.add(LinkFactory, lambda _: LinkFactory(secrets.token_bytes, page))


def _add_tokens(parts: "Dependencies", use_cases: UseCases) -> None:
    settings = parts.settings
    rotate_after = timedelta(days=settings.key_rotation_days)
    use_cases.add(FirstSecret, lambda tx: FirstSecretService(tx, secrets.token_bytes))
    use_cases.add(SecretService, lambda tx: SecretService(tx, secrets.token_bytes))
    use_cases.add(BindingService, lambda tx: BindingService(tx, settings.addresses_enforced))
    use_cases.add(
        SigningKeyService,
        lambda tx: SigningKeyService(tx, _key_pairs(parts).new, rotate_after),
    )


def _key_pairs(parts: "Dependencies") -> KeyPairs:
    return KeyPairs(parts.settings.signing_key_bits, parts.clock)


def _audit_chain(parts: "Dependencies", tx: Transaction) -> AuditChain:
    return AuditChain(
        LedgerStore(tx),
        CheckpointStore(tx),
        parts.witness,
        TokenIssueStore(tx),
        Archives(tx),
        clock_is_moved=parts.settings.sandbox,
    )


def _add_registry(parts: "Dependencies", use_cases: UseCases) -> None:
    use_cases.add(Registry, lambda tx: _registry(parts, tx))
    use_cases.add(RegistrationService, lambda tx: _registration(parts, tx))
    use_cases.add(
        ProbeService, lambda tx: ProbeService(Probes(tx), tx.service(Registry), AuditLog(tx))
    )


def _registry(parts: "Dependencies", tx: Transaction) -> RegistryStore:
    one_operator = parts.settings.one_operator_decides
    return RegistryStore(tx, one_operator=one_operator, notices=tx.service(NoticeService))


def _registration(parts: "Dependencies", tx: Transaction) -> RegistrationService:
    return RegistrationService(
        tx.service(Registry),
        VocabularyStore(tx),
        WriteBudget(tx, parts.settings.registry_writes_per_hour),
        parts.address_policy,
        parts.check_submission,
    )


def _add_metrics(parts: "Dependencies", use_cases: UseCases) -> None:
    use_cases.add(PushService, lambda tx: metrics_store.push_service(parts, tx))
    use_cases.add(HeldReportService, lambda tx: metrics_store.held_reports(parts, tx))
    use_cases.add(ReceiptService, metrics_store.receipt_service)
    use_cases.add(
        HealthService,
        lambda tx: health_store.health_service(
            tx, OnboardedMembers(tx), PostgresIncidents(tx), parts.health_values
        ),
    )
    use_cases.add(FunnelService, lambda tx: FunnelService(tx.service(HealthService)))
    use_cases.add(RoleService, lambda tx: RoleService(tx.service(HealthService)))
    use_cases.add(VolumeService, lambda tx: VolumeService(tx.service(HealthService)))
    use_cases.add(
        CapacityService,
        lambda tx: CapacityService(
            tx.service(VolumeService),
            CapacityNotices(tx),
            Webhooks(tx),
            AuditLog(tx),
        ),
    )
    use_cases.add(LevelService, lambda tx: level_service(parts, tx))
    use_cases.add(BudgetService, lambda tx: budget_service(parts, tx))
    use_cases.add(IncidentService, lambda tx: IncidentService(PostgresIncidents(tx)))
    use_cases.add(
        IncidentActService, lambda tx: IncidentActService(PostgresIncidentActs(tx), AuditLog(tx))
    )


def _add_alarms(parts: "Dependencies", use_cases: UseCases) -> None:
    use_cases.add(SilenceService, alarm_wiring.silence_service)
    use_cases.add(AnnouncementService, health_store.announcement_service)
    use_cases.add(WebhookService, lambda tx: alarm_wiring.webhook_service(parts, tx))
    use_cases.add(AlarmPreferenceService, alarm_wiring.preference_service)
    use_cases.add(FollowService, alarm_wiring.follow_service)
    use_cases.add(TimelineService, TimelineService)
    use_cases.add(
        DisputeService,
        lambda tx: DisputeService(tx, Webhooks(tx), fresh_id),
    )
    use_cases.add(Subscriptions, Subscriptions)
    use_cases.add(
        StatusWebhooks,
        lambda tx: StatusWebhooks(
            tx.service(Subscriptions),
            secrets.token_bytes,
            parts.public_reach.url_fault,
            parts.languages,
            parts.public_status,
        ),
    )


def _add_faults(parts: "Dependencies", use_cases: UseCases) -> None:
    from mudra.demo.faults.fault_board import FaultRows  # noqa: PLC0415  # the sandbox's alone
    from mudra.demo.faults.switch_faults import FaultService  # noqa: PLC0415  # the sandbox's alone

    use_cases.add(
        FaultService,
        lambda tx: FaultService(
            FaultRows(tx, tx.encryption), AuditLog(tx), _key_pairs(parts).new, fresh_id
        ),
    )
