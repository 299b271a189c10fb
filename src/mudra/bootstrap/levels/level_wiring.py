"""The service of levels over the database."""

from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING

from mudra.audit.audit_log_store import AuditLog
from mudra.disputes.correction_store import corrections
from mudra.levels.gathering import Gathering
from mudra.levels.level_service import LevelService
from mudra.levels.report_store import Reports
from mudra.levels.target_store import Targets
from mudra.metrics.incidents.silence_service import RETENTION
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
    settings = parts.settings
    return LevelService(
        Reports(transaction),
        Targets(transaction),
        Gathering(BlockQuestions(transaction), partial(corrections, transaction)),
        PostgresReportMarks(transaction),
        OnboardedMembers(transaction),
        PostgresIncidents(transaction),
        PostgresSilences(transaction),
        AuditLog(transaction),
        fresh_id,
        settings.issuer,
        settings.time_zone,
        min(timedelta(days=settings.metrics_raw_days), RETENTION),
    )
