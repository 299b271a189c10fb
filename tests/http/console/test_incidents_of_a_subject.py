"""The page of a subject has all its incidents of a time, however many the network had since."""

import uuid
from datetime import UTC, datetime, timedelta
from urllib.parse import urlencode

import pytest
import sqlalchemy as sa
from tests.support.metrics.incidents import stored_row
from tests.support.people.console import reader
from tests.support.people.operators import active_operator
from tests.support.service import Service

from mudra.bootstrap.dependencies import Dependencies
from mudra.metrics.payload.catalogue import WINDOW, window_start
from mudra.storage.tables.metrics import metrics_incident

LATER = 201
BANK = "GODAVARI-OLD"
HOUR, DAY = timedelta(hours=1), timedelta(days=1)


@pytest.mark.parametrize("path", ["api/cns", f"fip/{BANK}"])
def test_an_incident_of_long_ago_is_on_the_page_of_its_subject(service: Service, path: str) -> None:
    began = window_start(datetime.fromtimestamp(service.wall(), UTC)) - 70 * DAY
    later = [began + DAY + number * 18 * WINDOW for number in range(LATER)]
    rows = [
        stored_row(str(uuid.uuid4()), "fip-api", BANK, at) for at in (began - DAY, began, *later)
    ]

    async def store(dependencies: Dependencies) -> None:
        c = metrics_incident.c
        async with dependencies.database.transaction() as transaction:
            connection = transaction.connection
            await connection.execute(sa.delete(metrics_incident).where(c.entity_id == BANK))
            await connection.execute(sa.insert(metrics_incident), rows)

    service.in_store(store)
    browser = reader(service)
    assert browser.sign_in(active_operator(service, "health")).status_code == 303
    times = {"from": (began - HOUR).isoformat(), "to": (began + 3 * HOUR).isoformat()}

    asked = urlencode({**times, "export": "incidents"})
    lines = browser.get(f"/console/operator/health/{path}?{asked}").text.splitlines()
    # Other tests may have moved the clock, so that incidents of their members are of this time too.
    table = [line for line in lines if BANK in line]

    assert len(table) == 1
    assert f"{began:%Y-%m-%dT%H:%M}" in table[0]
