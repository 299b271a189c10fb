"""The number of events in the audit log of a running service."""

import sqlalchemy as sa
from tests.support.service import Service

from mudra.bootstrap.dependencies import Dependencies

_ALL = "SELECT count(*) FROM audit_event"


def audit_count(service: Service, *, with_address: bool = False) -> int:
    """Count the events, next to the service, as a command would; jobs write some at any time.

    Those of a request have its address with them.
    """
    counted = f"{_ALL} WHERE address IS NOT NULL" if with_address else _ALL

    async def act(dependencies: Dependencies) -> int:
        async with dependencies.database.transaction() as transaction:
            found = await transaction.connection.scalar(sa.text(counted))
        return int(found or 0)

    return service.in_store(act)
