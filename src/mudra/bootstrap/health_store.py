"""The health service and announcements over the database: wired here for pages and for jobs."""

from time import monotonic

from mudra.audit.audit_log_store import AuditLog
from mudra.metrics.announcements.announcement_service import AnnouncementService
from mudra.metrics.announcements.announcement_store import Announcements
from mudra.metrics.health.health_service import HealthService
from mudra.shared.ids import fresh_id
from mudra.shared.unavailable import DatabaseUnavailable, ServiceUnavailable
from mudra.shared.waiting.made_once import MadeOnce
from mudra.storage.database.deadline import TimeIsOver
from mudra.storage.database.outage import is_lost
from mudra.storage.database.transaction import Transaction
from mudra.storage.metrics.attribution import PostgresFipStates, PostgresOwnCalls
from mudra.storage.metrics.blocks.questions import BlockQuestions
from mudra.storage.metrics.incident_acts import PostgresSilences
from mudra.storage.metrics.incidents import PostgresIncidents
from mudra.storage.metrics.receipts import OnboardedMembers
from mudra.storage.metrics.report_marks import PostgresReportMarks


def shared_health() -> MadeOnce:
    """Return what a process keeps of the health that many ask for at once."""
    return MadeOnce(monotonic, is_of_all=_is_of_all)


def _is_of_all(failure: Exception) -> bool:
    """Return whether it fails in the transactions of all that wait.

    Each has its own time there: when that of one is over, the others have some left (0137).
    """
    if isinstance(failure, TimeIsOver):
        return False
    if isinstance(failure, DatabaseUnavailable) and failure.of_own_time:
        return False
    return isinstance(failure, ServiceUnavailable) or is_lost(failure)


def health_service(
    transaction: Transaction,
    members: OnboardedMembers,
    incidents: PostgresIncidents,
    shared: MadeOnce,
) -> HealthService:
    """Return the health service of a transaction."""
    return HealthService(
        BlockQuestions(transaction),
        PostgresReportMarks(transaction),
        members,
        incidents,
        PostgresFipStates(transaction),
        PostgresSilences(transaction),
        PostgresOwnCalls(transaction),
        shared,
    )


def announcement_service(
    transaction: Transaction,
) -> AnnouncementService:
    """Return the announcements in a transaction."""
    members, audit_log = OnboardedMembers(transaction), AuditLog(transaction)
    return AnnouncementService(Announcements(transaction), members, audit_log, fresh_id)
