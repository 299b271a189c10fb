"""How many events the audit of a running service holds."""

import os
from pathlib import Path
from unittest import mock

import sqlalchemy as sa
from tests.support.service import Service

from mudra.cli.local.program import Dependencies
from mudra.cli.local.store import with_store


def audit_count(service: Service) -> int:
    """Count the events, next to the service, as a command would."""

    async def act(dependencies: Dependencies) -> int:
        async with dependencies.database.transaction() as transaction:
            return (
                await transaction.connection.scalar(sa.text("SELECT count(*) FROM audit_event"))
                or 0
            )

    with mock.patch.dict(os.environ, service.environment, clear=True):
        return with_store(act, Path(service.data_dir))
