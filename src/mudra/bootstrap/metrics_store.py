"""The processes that work on the metrics: wired here for requests and for jobs."""

from datetime import timedelta
from typing import TYPE_CHECKING

from mudra.audit.audit_log_store import AuditLog
from mudra.bootstrap.alarm_wiring import alarm_mailer
from mudra.bootstrap.health_store import health_service
from mudra.identity.memberships.notices import NoticeService
from mudra.metrics.detection.detection_service import DetectionService
from mudra.metrics.health.recorded_history import HistoryService
from mudra.metrics.incidents.incident_service import IncidentService
from mudra.metrics.maintenance import MaintenanceWork
from mudra.metrics.notifications.escalation import Escalation
from mudra.metrics.notifications.notifier import Notifier
from mudra.metrics.notifications.webhook_store import Webhooks
from mudra.metrics.payload.held_reports import HeldReportService
from mudra.metrics.payload.push_report import PushService
from mudra.metrics.payload.receipt_service import ReceiptService
from mudra.metrics.payload.validation import ContentLimits
from mudra.metrics.rollup.rollup_service import RollupService
from mudra.shared.ids import fresh_id
from mudra.storage.database.transaction import Transaction
from mudra.storage.mail.outbox import Outbox
from mudra.storage.metrics.attribution import PostgresDetections
from mudra.storage.metrics.blocks.sums.refresh import BlockSums
from mudra.storage.metrics.held_reports import PostgresHeldReports
from mudra.storage.metrics.incident_acts import PostgresSilences
from mudra.storage.metrics.metrics_tables import PostgresMetricsTables
from mudra.storage.metrics.receipts import OnboardedMembers, PostgresReceipts
from mudra.storage.metrics.reports import KnownPartitions, PostgresReports

if TYPE_CHECKING:  # it imports this module
    from mudra.bootstrap.dependencies import Dependencies


def push_service(parts: "Dependencies", transaction: Transaction) -> PushService:
    """Returns what takes reports."""
    settings, reports = parts.settings, PostgresReports(transaction, parts.partitions)
    return PushService(
        reports,
        PostgresHeldReports(transaction, reports),
        transaction.service(NoticeService),
        OnboardedMembers(transaction),
        AuditLog(transaction),
        ContentLimits(settings.metrics_push_blocks, settings.metrics_push_unknown_fips),
    )


def held_reports(parts: "Dependencies", transaction: Transaction) -> HeldReportService:
    """Returns the implausible reports that wait for a decision."""
    reports = PostgresReports(transaction, parts.partitions)
    return HeldReportService(PostgresHeldReports(transaction, reports), AuditLog(transaction))


def receipt_service(transaction: Transaction) -> ReceiptService:
    """Returns the receipts of reports."""
    return ReceiptService(PostgresReceipts(transaction), OnboardedMembers(transaction))


async def history(
    transaction: Transaction, partitions: KnownPartitions, within_s: float
) -> HistoryService:
    """Return what stores windows of the past; each statement may take so long."""
    reports = PostgresReports(transaction, partitions)
    await reports.take_time(within_s)
    return HistoryService(reports, PostgresReceipts(transaction), AuditLog(transaction))


async def maintenance(parts: "Dependencies", transaction: Transaction) -> MaintenanceWork:
    """Return the services of the scheduled jobs."""
    members, incidents = OnboardedMembers(transaction), PostgresDetections(transaction)
    messages = Webhooks(transaction)
    silences = PostgresSilences(transaction)
    escalation = Escalation(
        timedelta(minutes=parts.settings.health_escalation_minutes),
        parts.settings.health_escalation_to,
    )
    notifier = Notifier(
        messages, alarm_mailer(parts, transaction), transaction.service(Outbox), escalation
    )
    return MaintenanceWork(
        now=await transaction.now(),
        detection=DetectionService(
            store=incidents,
            members=members,
            silences=silences,
            notifier=notifier,
            new_id=fresh_id,
        ),
        rollups=RollupService(BlockSums(transaction)),
        tables=PostgresMetricsTables(transaction),
        messages=messages,
        health=health_service(transaction, members, incidents, parts.health_values),
        incidents=IncidentService(incidents),
        silences=silences,
    )
