"""The service of levels over the database."""

from datetime import timedelta
from typing import TYPE_CHECKING

from mudra.audit.audit_log_store import AuditLog
from mudra.bootstrap.alarm_wiring import alarm_mailer
from mudra.levels.budgets.budget_service import BudgetService
from mudra.levels.budgets.burn_store import Burns
from mudra.levels.gathering import Gathering
from mudra.levels.level_service import LevelService
from mudra.levels.report_news import ReportNews
from mudra.levels.report_store import Reports
from mudra.levels.target_store import Targets
from mudra.metrics.incidents.silence_service import RETENTION
from mudra.metrics.notifications.webhook_store import Webhooks
from mudra.shared.ids import fresh_id
from mudra.storage.database.transaction import Transaction
from mudra.storage.metrics.blocks.questions import BlockQuestions
from mudra.storage.metrics.incident_acts import PostgresSilences
from mudra.storage.metrics.incidents import PostgresIncidents
from mudra.storage.metrics.receipts import OnboardedMembers
from mudra.storage.metrics.report_marks import PostgresReportMarks

if TYPE_CHECKING:  # it imports what imports this module
    from mudra.bootstrap.dependencies import Dependencies


def level_service(parts: "Dependencies", transaction: Transaction) -> LevelService:
    """Returns the service of levels in a transaction."""
    settings, reports = parts.settings, Reports(transaction)
    return LevelService(
        reports,
        Targets(transaction),
        Gathering(transaction, BlockQuestions(transaction)),
        PostgresReportMarks(transaction),
        OnboardedMembers(transaction),
        PostgresIncidents(transaction),
        PostgresSilences(transaction),
        AuditLog(transaction),
        fresh_id,
        settings.issuer,
        settings.time_zone,
        min(timedelta(days=settings.metrics_raw_days), RETENTION),
        ReportNews(
            transaction,
            reports,
            Webhooks(transaction),
            settings.time_zone,
        ),
    )


def budget_service(parts: "Dependencies", transaction: Transaction) -> BudgetService:
    """Returns the service of error budgets in a transaction."""
    return BudgetService(
        transaction,
        level_service(parts, transaction),
        Burns(transaction),
        Webhooks(transaction),
        alarm_mailer(parts, transaction),
    )
