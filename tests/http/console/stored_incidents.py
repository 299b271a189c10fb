"""Incidents that are put into a service's database: what reads them is tested, not their detection."""

import uuid
from datetime import UTC, datetime, timedelta

import sqlalchemy as sa
from tests.support.metrics.incidents import stored_row
from tests.support.service import Service

from mudra.bootstrap.dependencies import Dependencies
from mudra.metrics.payload.catalogue import window_start
from mudra.storage.tables.metrics import metrics_incident


def open_incident(
    service: Service, fip_id: str, ago: timedelta = timedelta(), **cause: object
) -> str:
    """Store an open incident of one API of a FIP, with this of its cause; gives its ID.

    It begins now, or so long `ago`: one of a window that is judged is withdrawn by the next run,
    which finds no calls of it.
    """
    incident_id = str(uuid.uuid4())
    began = window_start(datetime.fromtimestamp(service.wall(), UTC) - ago)
    row = stored_row(incident_id, "fip-api", fip_id, began) | {"ended": None, "ending": "open"}
    found = row["cause"]
    assert isinstance(found, dict)
    found.update(cause)
    _execute(service, sa.insert(metrics_incident).values(row))
    return incident_id


def prolong_incident(service: Service, incident_id: str, last_bad: datetime) -> None:
    """Let its last bad window so far be this one."""
    goes_on = sa.update(metrics_incident).where(metrics_incident.c.incident_id == incident_id)
    _execute(service, goes_on.values(last_bad=last_bad))


def end_incident(service: Service, incident_id: str) -> None:
    """Let it be over."""
    now = datetime.fromtimestamp(service.wall(), UTC)
    over = sa.update(metrics_incident).where(metrics_incident.c.incident_id == incident_id)
    _execute(service, over.values(ended=now, ending="recovered"))


def _execute(service: Service, change: sa.Insert | sa.Update) -> None:
    async def act(dependencies: Dependencies) -> None:
        async with dependencies.database.transaction() as transaction:
            await transaction.connection.execute(change)

    service.in_store(act)
