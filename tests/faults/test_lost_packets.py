"""A network that loses every packet to PostgreSQL in silence: no reset, no refusal, only nothing."""

import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import httpx2
import pytest
from tests.faults.lossy_network import lossy_network
from tests.support.database.own_postgres import own_postgres
from tests.support.http_clients import NO_TLS
from tests.support.members import new_member
from tests.support.process import running_service
from tests.support.service import Service

from mudra.storage.database.schema.roles import SERVICE, as_role

LOST_S = 30
ANSWERS_S = 10
"""3 seconds for a transaction, and room: other tests take the processor, too."""


def ready(service: Service) -> int:
    return httpx2.get(f"{service.root}/readyz", timeout=20, verify=NO_TLS).status_code


def timed(call: Callable[[], int]) -> tuple[int, float]:
    began = time.monotonic()
    status = call()
    return status, time.monotonic() - began


@pytest.mark.slow
def test_lost_packets_are_503_in_time_and_all_goes_on_when_they_pass_again(tmp_path: Path) -> None:
    with (
        lossy_network() as network,
        own_postgres(tmp_path / "database") as url,
        network.leading_to(as_role(url, SERVICE)) as address,
        running_service(tmp_path / "node", "--workers", "2", MUDRA_DATABASE_URL=address) as service,
    ):
        lucky, unlucky = new_member(service), new_member(service)
        bearers = [lucky.bearer(), unlucky.bearer()]
        old = lucky.secret()
        assert lucky.entity_token(old).status_code == 200
        before = unlucky.read(bearers[1]).json()["secret"]

        network.lose()
        lost = time.monotonic()
        found: list[tuple[str, int, float]] = []
        while time.monotonic() < lost + LOST_S:
            for name, call in (
                ("reset", lambda: unlucky.reset(bearers[1]).status_code),
                ("read", lambda: lucky.read(bearers[0]).status_code),
                ("token", lambda: lucky.entity_token(old).status_code),
                ("readyz", lambda: ready(service)),
                (
                    "livez",
                    lambda: httpx2.get(f"{service.root}/livez", verify=NO_TLS).status_code,
                ),
            ):
                found.append((name, *timed(call)))
        network.heal()
        healed = time.monotonic()
        service.wait_until(lambda: lucky.read(bearers[0]).status_code == 200)
        service.wait_until(lambda: ready(service) == 200)
        back_s = time.monotonic() - healed

        statuses = Counter((name, status) for name, status, _ in found)
        slowest = max(found, key=lambda one: one[2])
        print(f"{dict(statuses)}; slowest {slowest}; back after {back_s:.1f} s")
        assert {status for name, status, _ in found if name in {"reset", "read"}} == {503}
        assert {status for name, status, _ in found if name == "livez"} == {200}
        assert [status for name, status, _ in found if name == "token"][-1] == 503
        assert [status for name, status, _ in found if name == "readyz"][-1] == 503
        assert slowest[2] < ANSWERS_S

        # What was never acknowledged did not happen, and what is reset now holds on both workers.
        assert unlucky.read(bearers[1]).json()["secret"] == before
        service.wait_until(lambda: lucky.reset(bearers[0]).status_code == 200)
        new = lucky.secret()
        answers = Counter(
            (
                secret == new,
                httpx2.post(
                    f"{service.issuer}/v1/entity/token/generate",
                    data={"id": lucky.entity_id, "secret": secret},
                    timeout=20,
                    verify=NO_TLS,
                ).status_code,
            )
            for secret in (old, new) * 8
        )
        assert answers == {(True, 200): 8, (False, 401): 8}
