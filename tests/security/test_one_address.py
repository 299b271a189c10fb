"""One address with many connections takes nothing from the others (decision 0220).

With 60 connections and a few routes, of each kind one; `bench/one_address` asks every route with 200.
"""

import asyncio

import pytest
from bench.one_address import Other, Waits, request
from bench.support import percentile
from tests.support.hostile.crowd import crowd
from tests.support.members import new_member
from tests.support.service import Service

CONNECTIONS = 60
TRIES = 4
SECONDS = 1.0
TIMES = 4
"""Without turns the others wait twenty to fifty times as long."""
IN_THE_NOISE_S = 0.02
FORM = {"content-type": "application/x-www-form-urlencoded", "sec-fetch-site": "cross-site"}
ATTACKS = {
    "a page": request("GET", "/console/sign-in", {}),
    "a form": request("POST", "/console/sign-in", FORM, b"username=a&password=b"),
    "the API": request("POST", "/iam/v1/user/token/generate", FORM, b"username="),
    "an address that there is not": request("GET", "/console/nothing", {}),
}


@pytest.fixture(scope="module")
def other(service: Service) -> Other:
    """Everyone else, with a token kept in the worker's memory."""
    members = [new_member(service) for _ in range(3)]
    found = Other(
        int(service.root.rpartition(":")[2]),
        {member.entity_id: member.secret() for member in members},
    )
    asyncio.run(found.wait(1.0))
    return found


def medians(waits: Waits) -> list[float]:
    return [percentile(one, 0.5) for one in (waits.kept, waits.new, waits.ready)]


@pytest.mark.parametrize("attack", ATTACKS)
def test_a_crowd_of_one_address_delays_no_token_of_another(
    service: Service, other: Other, attack: str
) -> None:
    port, seen = int(service.root.rpartition(":")[2]), []
    for _ in range(TRIES):
        calm = medians(asyncio.run(other.wait(SECONDS)))
        with crowd(port, CONNECTIONS) as running:
            running.send(ATTACKS[attack])
            crowded = medians(asyncio.run(other.wait(SECONDS)))
        seen.append(
            [(round(a * 1000, 1), round(b * 1000, 1)) for a, b in zip(calm, crowded, strict=True)]
        )
        tokens = [
            busy <= max(TIMES * quiet, IN_THE_NOISE_S)
            for quiet, busy in zip(calm[:2], crowded[:2], strict=True)
        ]
        if all(tokens) and crowded[2] <= max(3 * TIMES * calm[2], 0.3):
            return
    pytest.fail(f"{attack}: ms at rest and next to the crowd, kept, new, readyz: {seen}")
