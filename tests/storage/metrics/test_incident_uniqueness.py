"""The database refuses a second copy of an incident."""

from datetime import UTC, datetime, timedelta

import pytest
import sqlalchemy as sa
from tests.support.metrics.incidents import an_incident
from tests.support.service import Service

from mudra.bootstrap.dependencies import Dependencies
from mudra.metrics.incidents.incident import FipApi, Incident
from mudra.metrics.incidents.incident_change import Opened, Updated, withdrawn
from mudra.metrics.notifications.incident_notifications import IncidentNotification
from mudra.shared.ids import fresh_id
from mudra.storage.database.transaction import Transaction
from mudra.storage.metrics.incidents import PostgresIncidents

BEGAN = datetime(2026, 3, 4, tzinfo=UTC)
ENDED = BEGAN + timedelta(hours=1)


def incident(subject: FipApi, began: datetime = BEGAN) -> Incident:
    return an_incident(subject, began, ENDED)


def of(service: Service, *batches: list[IncidentNotification]) -> int:
    """Save what changed, one transaction each; returns how many incidents there are."""
    fip_id = batches[0][0].incident.subject.fip_id

    async def save(dependencies: Dependencies) -> int:
        for batch in batches:
            async with dependencies.database.transaction() as transaction:
                await PostgresIncidents(transaction).save(batch, ENDED)
        async with dependencies.database.transaction() as transaction:
            return await counted(transaction, fip_id)

    return service.in_store(save)


async def counted(transaction: Transaction, fip_id: str) -> int:
    stored = PostgresIncidents(transaction)
    return len(await stored.latest(only_open=False, entity_id=fip_id, limit=10))


def opened(one: Incident) -> IncidentNotification:
    return IncidentNotification(fresh_id(), Opened(one), notified=True)


def test_an_incident_of_a_subject_and_a_beginning_is_stored_once(service: Service) -> None:
    one = incident(FipApi(f"BANK-{fresh_id()[:8]}", "cns"))

    with pytest.raises(sa.exc.IntegrityError, match="metrics_incident_once"):
        of(service, [opened(one)], [opened(one)])


def test_other_subjects_and_other_beginnings_are_other_incidents(service: Service) -> None:
    fip_id = f"BANK-{fresh_id()[:8]}"
    consent, fetch = FipApi(fip_id, "cns"), FipApi(fip_id, "fif")

    later = incident(consent, BEGAN + timedelta(minutes=30))
    assert of(service, [opened(incident(consent)), opened(incident(fetch)), opened(later)]) == 3


def test_an_incident_may_begin_when_a_withdrawn_one_did(service: Service) -> None:
    subject = FipApi(f"BANK-{fresh_id()[:8]}", "cns")
    first, second = incident(subject), incident(subject, BEGAN + timedelta(minutes=30))
    both = [opened(first), opened(second)]
    moved = IncidentNotification(both[1].incident_id, Updated(second, first), notified=True)
    gone = IncidentNotification(
        both[0].incident_id, withdrawn(first, first.last_bad), notified=True
    )

    assert of(service, both, [moved, gone]) == 2
