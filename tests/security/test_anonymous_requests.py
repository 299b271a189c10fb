"""Requests of unknown callers leave counts by minute and address, not a row each."""

import json

import psycopg
import sqlalchemy as sa
from tests.support.audit.audit_count import audit_count
from tests.support.http_clients import new_address
from tests.support.service import Service

from mudra.audit import audit_log_store as anonymous
from mudra.audit.event import AuditEntry, Caller, EventName, Outcome
from mudra.bootstrap.dependencies import Dependencies

MOST_ADDRESSES = 1000
_WAITING = sa.text("SELECT coalesce(sum(count), 0) FROM audit_anonymous WHERE address = :address")
_KEPT = sa.text(
    "SELECT coalesce(sum((detail->>'count')::int), 0) FROM audit_event WHERE address = :address"
)


def test_a_flood_of_unknown_callers_becomes_one_row_a_minute(service: Service) -> None:
    address = new_address()
    client = service.client(address)
    before = audit_count(service)
    for number in range(8):
        client.post("/v1/user/password/forgot", json={"username": f"u{number}@nowhere.example"})
        client.post("/v1/entity/token/generate", data={"id": f"NO-{number}", "secret": "x" * 43})

    async def counted(dependencies: Dependencies) -> list[int]:
        async with dependencies.database.transaction() as transaction:
            found = [
                await transaction.connection.scalar(counts, {"address": address})
                for counts in (_WAITING, _KEPT)
            ]
        return [int(count) for count in found]

    # Refused tokens are written behind.
    service.wait_until(lambda: sum(service.in_store(counted)) == 16)
    service.advance("PT1M")
    service.wait_until(lambda: service.in_store(counted) == [0, 16])

    found = json.loads(service.cli("audit", "list", "--json", "--last", "300").stdout)
    kept = [event for event in found if event["address"] == address]
    assert sum(event["detail"]["count"] for event in kept) == 16
    minutes = [
        (event["event"], event["reason"], str(event["detail"]["first"])[:16]) for event in kept
    ]
    assert len(set(minutes)) == len(minutes), (
        "one row for an event, its reason, an address and a minute"
    )
    assert audit_count(service) - before < 16
    for event in kept:
        assert event["actor"] == "nobody"
        assert str(event["detail"]["first"]) <= str(event["detail"]["last"])


def test_the_addresses_of_a_minute_are_bounded(service: Service) -> None:
    async def act(dependencies: Dependencies) -> list[tuple[object, ...]]:
        async with dependencies.database.transaction(within_s=30) as transaction:
            now = await transaction.now()
            entries = [
                AuditEntry(
                    EventName.USER_LINK_REFUSE,
                    Caller("nobody", f"198.51.{n // 250}.{n % 250}", f"t{n}"),
                    reason="unknown",
                    outcome=Outcome.REFUSED,
                )
                for n in range(MOST_ADDRESSES + 50)
            ]
            await anonymous.count_anonymous(transaction, [one.at(now) for one in entries])
            driver = (await transaction.connection.get_raw_connection()).driver_connection
            assert isinstance(driver, psycopg.AsyncConnection)
            cursor = await driver.execute(
                "SELECT address, sum(count) FROM audit_anonymous"
                " WHERE address = '(others)' OR reason = 'unknown' GROUP BY 1"
            )
            found = await cursor.fetchall()
            await transaction.connection.rollback()
        return found

    found = dict(service.in_store(act))

    assert len(found) <= MOST_ADDRESSES + 1
    assert int(str(found["(others)"])) >= 50
    assert sum(int(str(count)) for count in found.values()) == MOST_ADDRESSES + 50
