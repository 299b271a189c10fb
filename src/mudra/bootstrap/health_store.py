"""The health service over the database: wired here for pages and for jobs."""

from mudra.metrics.health.health_service import HealthService
from mudra.storage.database.database import Transaction
from mudra.storage.metrics.alarms import PostgresSilences
from mudra.storage.metrics.attribution import PostgresFipStates
from mudra.storage.metrics.incidents import PostgresIncidents
from mudra.storage.metrics.receipts import OnboardedMembers
from mudra.storage.metrics.rollups.rollup_queries import PostgresRollupQueries
from mudra.storage.metrics.rollups.series import PostgresSeries


def health_service(
    transaction: Transaction, members: OnboardedMembers, incidents: PostgresIncidents
) -> HealthService:
    """Return the health service of a transaction."""
    return HealthService(
        PostgresRollupQueries(transaction),
        PostgresSeries(transaction),
        members,
        incidents,
        PostgresFipStates(transaction),
        PostgresSilences(transaction),
    )
