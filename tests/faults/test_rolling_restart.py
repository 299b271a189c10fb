"""Two nodes behind nginx are stopped and started in turn under load."""

import contextlib
import os
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest
from tests.faults.side_by_side import SideBySide
from tests.support.agent.agent_process import free_port
from tests.support.database.own_postgres import own_postgres
from tests.support.http_clients import NO_TLS
from tests.support.members import new_member
from tests.support.process import running_service
from tests.support.programs import program
from tests.support.service import Service
from tests.unit.deploy.nginx_front import nginx

ROUNDS = int(os.environ.get("RESTARTS", "1"))
CALLERS = 4


class Load(SideBySide):
    """Callers that ask for tokens and keys all the time, and try a failed request once more."""

    def __init__(self, address: str, entity_id: str, secret: str) -> None:
        self.address = address
        self._form = {"id": entity_id, "secret": secret}
        self.first: Counter[int] = Counter()
        self.failed: list[str] = []
        super().__init__([self._call] * CALLERS)

    def _call(self) -> None:
        with httpx2.Client(base_url=self.address, timeout=30, verify=NO_TLS) as client:
            while not self.over.is_set():
                answer = self._ask(client)
                self.first[answer.status_code] += 1
                if answer.status_code != 200 and self._ask(client).status_code != 200:
                    self.failed.append(answer.text)
                time.sleep(0.005)

    def _ask(self, client: httpx2.Client) -> httpx2.Response:
        return client.post("/iam/v1/entity/token/generate", data=self._form)


@pytest.fixture
def database(tmp_path: Path) -> Iterator[dict[str, str]]:
    program("nginx")
    with own_postgres(tmp_path / "database") as url:
        yield {
            "MUDRA_DATABASE_URL": url,
            "MUDRA_STOP_PAUSE_S": "1",
            "MUDRA_ENTITY_TOKEN_RATE": "100000",
            "MUDRA_ENTITY_TOKEN_BURST": "100000",
        }


@pytest.mark.slow
def test_rolling_restarts_lose_no_request(tmp_path: Path, database: dict[str, str]) -> None:
    ports = [free_port(), free_port()]
    key = tmp_path / "0" / "master.key"

    def node(stack: contextlib.ExitStack, number: int) -> Service:
        environment = database | ({"MUDRA_MASTER_KEY": key.read_text()} if key.exists() else {})
        running = stack.enter_context(
            running_service(
                tmp_path / str(number), port=ports[number], sandbox=False, **environment
            )
        )
        assert running.process.stdout is not None
        threading.Thread(target=running.process.stdout.read).start()  # its log must go somewhere
        return running

    with contextlib.ExitStack() as stack:
        nodes = [node(stack, 0), node(stack, 1)]
        member = new_member(nodes[0])
        (tmp_path / "nginx").mkdir()
        address = stack.enter_context(nginx(tmp_path / "nginx", ports))
        with Load(address, member.entity_id, member.secret()) as load:
            for round_ in range(2 * ROUNDS):
                served = sum(load.first.values())
                nodes[0].wait_until(lambda served=served: sum(load.first.values()) > served + 50)
                assert nodes[round_ % 2].stop() == 0
                nodes[round_ % 2] = node(stack, round_ % 2)

    said = (tmp_path / "nginx" / "error.log").read_text().splitlines()
    resets = [line for line in said if "refused" not in line]
    assert load.failed == [], resets
    assert load.first[200] >= 0.999 * sum(load.first.values()), (load.first, resets)
