"""Two nodes behind each proxy of the examples are stopped and started in turn under load."""

import contextlib
import os
import signal
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
from tests.support.depth import with_every_change
from tests.support.members import new_member
from tests.support.process import running_service
from tests.support.processes import LISTENING, children, socket_states
from tests.support.service import Service
from tests.unit.deploy.proxies import PROXIES, Proxy, running_proxy

ROUNDS = int(os.environ.get("RESTARTS", "1"))
CALLERS = 4


class Load(SideBySide):
    """Callers that ask for tokens and keys all the time, and try a failed request once more."""

    def __init__(self, proxy: Proxy, entity_id: str, secret: str) -> None:
        self.proxy = proxy
        self._form = {"id": entity_id, "secret": secret}
        self.first: Counter[int] = Counter()
        self.failed: list[str] = []
        super().__init__([self._call] * CALLERS)

    def _call(self) -> None:
        address = f"https://127.0.0.1:{self.proxy.port}"
        with httpx2.Client(base_url=address, verify=self.proxy.tls) as client:
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
    with own_postgres(tmp_path / "database") as url:
        yield {
            "MUDRA_DATABASE_URL": url,
            "MUDRA_STOP_PAUSE_S": "1",
            "MUDRA_ENTITY_TOKEN_RATE": "100000+100000",
        }


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(PROXIES))
def test_rolling_restarts_lose_no_request(
    name: str, tmp_path: Path, database: dict[str, str]
) -> None:
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
        (front := tmp_path / "front").mkdir()
        proxy = stack.enter_context(running_proxy(name, front, free_port(), ports))
        with Load(proxy, member.entity_id, member.secret()) as load:
            for round_ in range(2 * ROUNDS):
                served = sum(load.first.values())
                nodes[0].wait_until(lambda served=served: sum(load.first.values()) > served + 200)
                assert nodes[round_ % 2].stop() == 0
                nodes[round_ % 2] = node(stack, round_ % 2)

    assert load.failed == []
    assert load.first[200] >= 400
    assert load.first.keys() == {200}, load.first


@pytest.mark.parametrize("name", with_every_change(["nginx"], sorted(PROXIES)))
def test_a_node_that_is_slow_for_a_moment_is_not_taken_out(
    name: str, tmp_path: Path, database: dict[str, str]
) -> None:
    """All its workers stop for 1.6 s, which is longer than the pause between two checks."""
    port = free_port()
    (front := tmp_path / "front").mkdir()
    with (
        running_service(tmp_path / "0", port=port, **database) as node,
        running_proxy(name, front, free_port(), [port, port]) as proxy,
    ):
        member = new_member(node)
        with Load(proxy, member.entity_id, member.secret()) as load:
            node.wait_until(lambda: load.first[200] > 40)
            states = socket_states(children(node.process.pid), port)
            workers = [pid for pid, held in states.items() if LISTENING in held]
            for one in workers:
                os.kill(one, signal.SIGSTOP)
            time.sleep(1.6)  # the fault itself
            for one in workers:
                os.kill(one, signal.SIGCONT)
            before = load.first[200]
            node.wait_until(lambda: load.first[200] > before + 40)

    assert load.first.keys() == {200}, load.first
