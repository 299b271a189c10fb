"""A request that needs a damaged block is answered 503, without a number and without a name."""

from datetime import timedelta

import pytest
import sqlalchemy as sa
from tests.support.metrics.metrics_push import PushingAa, pushing_aa
from tests.support.people.operators import new_operator
from tests.support.service import Service, in_store

from mudra.bootstrap.dependencies import Dependencies
from mudra.metrics.payload.catalogue import WINDOW

SENTENCE = "stored metrics of this time are damaged, until the operator has repaired them"


@pytest.fixture(scope="module")
def aas(service: Service) -> list[PushingAa]:
    return [pushing_aa(service) for _ in range(2)]


def test_a_range_with_a_damaged_block_is_refused_and_others_are_answered(
    service: Service, aas: list[PushingAa]
) -> None:
    one, other = aas
    window = one.last_window() - 12 * WINDOW
    for aa in aas:
        for at in (window, window + 2 * WINDOW):
            assert aa.push(aa.requests(at)).status_code == 200

    async def damage(dependencies: Dependencies) -> None:
        async with dependencies.database.transaction() as tx:
            changed = await tx.connection.execute(
                sa.text(
                    "UPDATE metrics_block"
                    " SET numbers = set_byte(numbers, 8, 255 - get_byte(numbers, 8))"
                    " WHERE grain = 'window' AND aa_id = :aa_id AND at = :at"
                ),
                {"aa_id": one.aa_id, "at": window},
            )
            assert changed.rowcount

    in_store(service, damage)
    noc = new_operator(service)

    def asked(first, length=timedelta(minutes=10)):
        within = {"from": first.isoformat(), "to": (first + length).isoformat()}
        return noc.get("/health/fips", **within)

    refused, answered = asked(window), asked(window + 2 * WINDOW)

    assert refused.status_code == 503, refused.text
    assert refused.json()["errorCode"] == "ServiceUnavailable"
    assert refused.json()["errorMsg"] == f"{SENTENCE}; try again"
    assert one.aa_id not in refused.text
    assert answered.status_code == 200, answered.text
    within = {"from": window.isoformat(), "to": (window + WINDOW).isoformat()}
    address = f"{service.root}/metrics/perf/v1/health"
    of_other = other.client.get(address, params=within, headers=other.bearer)
    assert of_other.status_code == 200, of_other.text
