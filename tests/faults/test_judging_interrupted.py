"""PostgreSQL that ends in the middle of a judging run: what it judged is judged again, once."""

import contextlib
import os
import signal
from pathlib import Path

import psycopg
import pytest
from tests.support.alarm_network import Network
from tests.support.members import new_member
from tests.support.metrics.health_network import a_network
from tests.support.process import running_service
from tests.support.until import until
from tests.support.webhook_sink import webhook_sink

from mudra.storage.database.embedded.server import embedded_server


def postmaster(data_dir: Path) -> int:
    (pid_file,) = data_dir.rglob("postmaster.pid")
    return int(pid_file.read_text().splitlines()[0])


def judging_waits(conninfo: str) -> bool:
    with psycopg.connect(conninfo) as connection:
        asked = (
            "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
            " AND query LIKE '%metrics_incident%'"
        )
        return connection.execute(asked).fetchone() is not None


@pytest.mark.slow
def test_an_incident_of_an_interrupted_run_is_opened_and_notified_once(tmp_path: Path) -> None:
    with running_service(tmp_path / "data") as service, webhook_sink() as noc:
        health = a_network(service, aas=3, fips=1)
        network = Network(service, health, health.noc)
        fip_id = new_member(service, "FIP").entity_id
        health.early_in_a_window()
        network.hook(noc.url)
        network.good(fip_id)

        with (
            embedded_server(service.data_dir) as conninfo,
            contextlib.suppress(psycopg.OperationalError),  # it ends with the server
            psycopg.connect(conninfo) as blocking,
        ):
            blocking.execute("LOCK TABLE metrics_incident IN SHARE MODE")
            network.report(fip_id, 20)
            until(lambda: judging_waits(conninfo))
            os.kill(postmaster(service.data_dir), signal.SIGKILL)

        service.wait_until(lambda: noc.about(fip_id))
        network.report(fip_id, 20)
        (incident,) = network.open_incidents(fip_id)
        assert [one.data["data"]["incidentId"] for one in noc.about(fip_id)] == [
            incident["incidentId"]
        ]
