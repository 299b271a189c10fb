"""A replica of the second database serves health pages, never with less than was committed."""

import json
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx2
import pytest
from psycopg.conninfo import make_conninfo
from tests.support.agent.agent_process import free_port
from tests.support.database.own_postgres import own_postgres
from tests.support.forked_command import run_mudra
from tests.support.metrics.metrics_push import PushingAa, pushing_aa
from tests.support.metrics.two_databases import a_copy
from tests.support.people.operators import Operator, new_operator
from tests.support.service import Service, running_service
from tests.support.standby import Standby, standby

from mudra.metrics.payload.catalogue import WINDOW

pytestmark = pytest.mark.slow
_READS = re.compile(r'^mudra_replica_reads_total\{.*place="([^"]+)".*\} (\S+)$', re.MULTILINE)


@dataclass
class Apart:
    """A service whose metrics have a replica; the first database has none."""

    service: Service
    second: Standby
    operator: Operator
    aa: PushingAa
    home: Path
    addresses: dict[str, str]

    def reads(self) -> dict[str, float]:
        port = self.service.environment["MUDRA_TELEMETRY_PORT"]
        figures = httpx2.get(f"http://127.0.0.1:{port}/metrics", timeout=30).text
        return {place: float(count) for place, count in _READS.findall(figures)}

    def reported(self, windows_ago: int) -> bool:
        """Push a window; says whether the next picture of health shows its calls."""
        window = self.aa.last_window() - windows_ago * WINDOW
        assert self.aa.push(self.aa.requests(window)).status_code == 200
        within = {"from": window.isoformat(), "to": (window + WINDOW).isoformat()}
        found = self.operator.get("/health/aas", aaId=self.aa.aa_id, **within)
        assert found.status_code == 200, found.text
        return any(api["requests"] for row in found.json()["rows"] for api in row["apis"])

    def doctor(self, **more: str) -> dict[str, dict[str, object]]:
        environment = {**self.service.environment, **more}
        checks = json.loads(run_mudra("doctor", "--json", **environment).stdout)
        return {str(one["check"]): one for one in checks}


@pytest.fixture(scope="module")
def apart(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Apart]:
    home = tmp_path_factory.mktemp("replica")
    with own_postgres(home / "database") as first:
        metrics = a_copy(first, "metrics")
        with (
            standby(first, home / "database", home / "standby") as second,
            running_service(
                home / "node",
                **(
                    addresses := {
                        "MUDRA_DATABASE_URL": first,
                        "MUDRA_METRICS_DATABASE_URL": metrics,
                    }
                ),
                MUDRA_METRICS_DATABASE_REPLICA_URL=make_conninfo(second.url, dbname="metrics"),
                MUDRA_DATABASE_REPLICA_LAG_MS="1500",
                MUDRA_TELEMETRY_PORT=str(free_port()),
            ) as service,
        ):
            operator, aa = new_operator(service, "health"), pushing_aa(service)
            yield Apart(service, second, operator, aa, home, addresses)


def test_the_replica_serves_what_was_just_pushed(apart: Apart) -> None:
    assert all(apart.reported(ago) for ago in range(10))

    assert apart.reads()["replica"] >= 10
    assert apart.doctor()["metrics replica"]["ok"]


def test_a_replica_of_another_database_is_never_read(apart: Apart) -> None:
    """That of the first one, say: its position may be greater, and it has no metrics."""
    other = {"MUDRA_METRICS_DATABASE_REPLICA_URL": apart.second.url}
    check = apart.doctor(**other)["metrics replica"]
    (apart.home / "other").mkdir()
    shutil.copy(apart.home / "node" / "master.key", apart.home / "other")
    with running_service(apart.home / "other", **apart.addresses, **other) as service:
        operator = new_operator(service, "health")
        found = [operator.get("/health/aas", aaId=apart.aa.aa_id) for _ in range(3)]

    assert (check["ok"], "another database's" in str(check["text"])) == (False, True)
    assert all(one.json()["rows"] for one in found)


def test_a_late_replica_is_left_alone(apart: Apart) -> None:
    apart.second.pause()
    try:
        assert all(apart.reported(ago) for ago in range(10, 14))
    finally:
        apart.second.resume()

    assert apart.reads()["primary: replica late"] >= 1


def test_without_it_the_second_database_serves(apart: Apart) -> None:
    apart.second.process.kill()
    apart.second.process.wait(30)

    assert apart.reported(20)
    assert apart.reported(21)
    check = apart.doctor()["metrics replica"]
    assert (check["ok"], "cannot be reached" in str(check["text"])) == (False, True)
