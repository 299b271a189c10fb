"""A request that needs a damaged block is answered 503, without a number and without a name.

The public status shows all that is not damaged.
"""

from datetime import date, timedelta

import msgspec
import pytest
import sqlalchemy as sa
from tests.support.members import onboard
from tests.support.metrics.metrics_push import PushingAa, pushing_aa, sum_up
from tests.support.people.operators import new_operator
from tests.support.service import Service

from mudra.bootstrap.dependencies import Dependencies
from mudra.metrics.payload.catalogue import WINDOW
from mudra.metrics.payload.report import RequestFip
from mudra.metrics.public_status.status_history import DayState
from mudra.metrics.public_status.status_snapshot import StatusReader

TURN_A_BYTE = "UPDATE metrics_block SET numbers = set_byte(numbers, 8, 255 - get_byte(numbers, 8))"
SENTENCE = "stored metrics of this time are damaged, until the operator has repaired them"


@pytest.fixture(scope="module")
def aas(service: Service) -> list[PushingAa]:
    return [pushing_aa(service) for _ in range(2)]


def test_a_damaged_day_of_the_public_status_is_no_data_until_it_is_fixed(
    service: Service, aas: list[PushingAa]
) -> None:
    one, _ = aas
    window = one.last_window() - timedelta(days=2)
    damaged, whole = window.date(), (window - timedelta(days=1)).date()
    fip_id, _ = onboard(service, "FIP")
    for at in (window, window - timedelta(days=1)):
        report = one.requests(at)
        calls = RequestFip(fip_id, report.fips[0].metrics)
        assert one.push(msgspec.structs.replace(report, fips=(calls,))).status_code == 200
    sum_up(service)
    status = StatusReader()

    async def days(dependencies: Dependencies) -> dict[date, DayState]:
        snapshot = await status.read(dependencies.reads, dependencies.clock())
        (fip,) = [fip for fip in snapshot.fips if fip.fip_id == fip_id]
        return {day.day: day.state for day in fip.days if day.state is not DayState.NO_DATA}

    def turn_a_byte(tags: str) -> None:
        async def turn(dependencies: Dependencies) -> None:
            async with dependencies.database.transaction() as tx:
                changed = await tx.connection.execute(
                    sa.text(
                        f"{TURN_A_BYTE} WHERE grain = 'day' AND tag IN ({tags})"
                        " AND at = date_trunc('day', cast(:at AS timestamptz), 'UTC')"
                    ),
                    {"at": window},
                )
                assert changed.rowcount

        service.in_store(turn)

    turn_a_byte("'seen'")
    of_each_aa = service.in_store(days)
    status = StatusReader()
    turn_a_byte("'all'")
    without = service.in_store(days), service.in_store(days)
    turn_a_byte("'all'")
    turn_a_byte("'seen'")

    assert {damaged, whole} <= of_each_aa.keys()
    for shown in without:
        assert whole in shown
        assert damaged not in shown
    assert service.in_store(days) == of_each_aa


def test_a_range_with_a_damaged_block_is_refused_and_others_are_answered(
    service: Service, aas: list[PushingAa]
) -> None:
    one, other = aas
    window = one.last_window() - 12 * WINDOW
    for aa in aas:
        for at in (window, window + 2 * WINDOW):
            assert aa.push(aa.requests(at)).status_code == 200

    async def turn_a_byte(dependencies: Dependencies) -> None:
        async with dependencies.database.transaction() as tx:
            changed = await tx.connection.execute(
                sa.text(f"{TURN_A_BYTE} WHERE grain = 'window' AND aa_id = :aa_id AND at = :at"),
                {"aa_id": one.aa_id, "at": window},
            )
            assert changed.rowcount

    service.in_store(turn_a_byte)
    noc = new_operator(service)

    def asked(first, length=timedelta(minutes=10)):
        within = {"from": first.isoformat(), "to": (first + length).isoformat()}
        return noc.get("/health/fips", **within)

    refused, answered = asked(window), asked(window + 2 * WINDOW)
    within = {"from": window.isoformat(), "to": (window + WINDOW).isoformat()}
    address = f"{service.root}/metrics/perf/v1/health"
    of_other = other.client.get(address, params=within, headers=other.bearer)
    service.in_store(turn_a_byte)  # others read this time as well

    assert refused.status_code == 503, refused.text
    assert refused.json()["errorCode"] == "ServiceUnavailable"
    assert refused.json()["errorMsg"] == f"{SENTENCE}; try again"
    assert one.aa_id not in refused.text
    assert answered.status_code == 200, answered.text
    assert of_other.status_code == 200, of_other.text
