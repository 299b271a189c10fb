"""The health service and announcements over the database: wired here for pages and for jobs."""

from time import monotonic

from mudra.audit.ports import AuditLog
from mudra.metrics.announcements.announcement_service import AnnouncementService
from mudra.metrics.health.health_service import HealthService
from mudra.shared.ids import fresh_id
from mudra.shared.shared_read import is_gone
from mudra.shared.shared_values import SharedValues
from mudra.storage.database.database import Transaction
from mudra.storage.database.deadline import TimeIsOver
from mudra.storage.database.outage import is_lost
from mudra.storage.metrics.alarms import PostgresSilences
from mudra.storage.metrics.announcements import PostgresAnnouncements
from mudra.storage.metrics.attribution import PostgresFipStates
from mudra.storage.metrics.blocks.questions import BlockQuestions
from mudra.storage.metrics.incidents import PostgresIncidents
from mudra.storage.metrics.receipts import OnboardedMembers
from mudra.storage.metrics.report_marks import PostgresReportMarks


def shared_health() -> SharedValues:
    """Return what a process keeps of the health that many ask for at once."""
    return SharedValues(monotonic, _is_of_all)


def _is_of_all(failure: Exception) -> bool:
    return is_gone(failure) or (is_lost(failure) and not isinstance(failure, TimeIsOver))


def health_service(
    transaction: Transaction,
    members: OnboardedMembers,
    incidents: PostgresIncidents,
    shared: SharedValues,
) -> HealthService:
    """Return the health service of a unit of work."""
    return HealthService(
        BlockQuestions(transaction),
        PostgresReportMarks(transaction),
        members,
        incidents,
        PostgresFipStates(transaction),
        PostgresSilences(transaction),
        shared,
    )


def announcement_service(
    transaction: Transaction, members: OnboardedMembers, audit_log: AuditLog
) -> AnnouncementService:
    """Return the announcements of a unit of work."""
    return AnnouncementService(PostgresAnnouncements(transaction), members, audit_log, fresh_id)
