"""How many events the audit of a running service holds."""

import sqlalchemy as sa
from tests.support.service import Service, in_store

from mudra.bootstrap.dependencies import Dependencies


def audit_count(service: Service) -> int:
    """Count the events, next to the service, as a command would."""

    async def act(dependencies: Dependencies) -> int:
        async with dependencies.database.transaction() as transaction:
            found = await transaction.connection.scalar(sa.text("SELECT count(*) FROM audit_event"))
        return int(found or 0)

    return in_store(service, act)
