"""What an operator must know of a node is a metric of it: alerts read these (deploy/prometheus)."""

import json
import os
import re
import signal
import socket
import time
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

import httpx2
import psycopg
import pytest
from tests.cli.test_doctor_of_what_comes import tls_server
from tests.support.agent.agent_process import free_port
from tests.support.http_clients import NO_TLS
from tests.support.members import new_member
from tests.support.metrics.metrics_push import pushing_aa
from tests.support.process import running_service
from tests.support.processes import LISTENING, children, socket_states
from tests.support.registry.registry_members import entries_that_share_a_prime
from tests.support.service import Service

from mudra.bootstrap.diagnosis.certificates import days_left
from mudra.settings.settings import Settings


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A node whose mail server refuses connections; it watches one more disk."""
    folder, watched = tmp_path_factory.mktemp("known"), tmp_path_factory.mktemp("watched")
    with socket.create_server(("127.0.0.1", 0)) as closed:
        refusing = closed.getsockname()[1]
    with running_service(
        folder / "data",
        MUDRA_TELEMETRY_PORT=str(free_port()),
        MUDRA_SMTP_URL=f"smtp://127.0.0.1:{refusing}",
        MUDRA_WATCHED_DISKS=str(watched),
        MUDRA_BACKUP_EVERY_HOURS="3",
    ) as running:
        yield running


def samples(node: Service, name: str) -> dict[str, float]:
    """The values of a metric by their labels, as /metrics has them."""
    port = node.environment["MUDRA_TELEMETRY_PORT"]
    text = httpx2.get(f"http://127.0.0.1:{port}/metrics", verify=NO_TLS).text
    found = re.findall(rf"^{name}(?:{{(.*)}})? (\S+)$", text, re.MULTILINE)
    return {labels: float(value) for labels, value in found}


def value(node: Service, name: str) -> float:
    return samples(node, name).get("", -1.0)


def test_a_node_that_serves_is_ready_and_shows_what_each_process_takes(node: Service) -> None:
    node.wait_until(lambda: samples(node, "mudra_ready") == {'cause=""': 1})
    processes = {'process="supervisor"', 'process="worker-0"', 'process="jobs"'}

    assert value(node, "mudra_workers_serving") == 1
    for name in ("cpu_seconds_total", "resident_memory_bytes", "open_fds"):
        shown = samples(node, f"mudra_process_{name}")
        assert processes <= shown.keys()
        assert min(shown[one] for one in processes) > 0, shown


@pytest.mark.slow
def test_a_worker_that_dies_whenever_it_is_back_is_time_without_one(node: Service) -> None:
    """A scrape may find it ready each time: the seconds in between are counted."""
    before, seen, ends = value(node, "mudra_unserved_seconds_total"), set(), time.monotonic() + 8
    port = int(node.root.rpartition(":")[2])
    while time.monotonic() < ends:
        states = socket_states(children(node.process.pid), port)
        for worker in (pid for pid, held in states.items() if LISTENING in held):
            os.kill(worker, signal.SIGKILL)
        seen.update(samples(node, "mudra_ready").items())

    assert value(node, "mudra_unserved_seconds_total") - before > 4
    assert ('cause="no-worker"', 0.0) in seen
    node.wait_until(lambda: samples(node, "mudra_ready") == {'cause=""': 1})


def test_the_age_of_the_oldest_email_that_waits_is_shown(node: Service) -> None:
    node.wait_until(lambda: value(node, "mudra_mail_oldest_waiting_seconds") == 0)
    new_member(node)
    node.advance("PT20M")

    node.wait_until(lambda: value(node, "mudra_mail_oldest_waiting_seconds") >= 1200)


def test_what_a_verification_of_the_audit_found_is_shown(node: Service) -> None:
    began = value(node, "mudra_audit_verified_timestamp_seconds")
    node.cli("audit", "verify")
    node.wait_until(lambda: value(node, "mudra_audit_verified_timestamp_seconds") > began)
    assert value(node, "mudra_audit_verification_failed") == 0
    intact_at = value(node, "mudra_audit_verified_timestamp_seconds")

    with psycopg.connect(_owner(node)) as connection:
        connection.execute("UPDATE audit_event SET actor = 'nobody' WHERE seq = 1")
    node.cli("audit", "verify", check=False)

    node.wait_until(lambda: value(node, "mudra_audit_verification_failed") == 1)
    assert value(node, "mudra_audit_verified_timestamp_seconds") == intact_at


def _owner(node: Service) -> str:
    from mudra.storage.database.embedded.server import EmbeddedServer  # noqa: PLC0415

    server = EmbeddedServer(node.data_dir, secured=True)
    try:
        return server.hold()
    finally:
        server.leave()


def test_disks_backups_and_connections_are_watched(node: Service) -> None:
    watched = node.environment["MUDRA_WATCHED_DISKS"]
    node.wait_until(lambda: value(node, "mudra_database_connections_allowed") > 0)
    room = samples(node, "mudra_disk_free_bytes")
    open_now = samples(node, "mudra_database_connections")

    assert {'disk="data"', f'disk="{watched}"'} <= room.keys()
    assert min(room.values()) > 0
    assert value(node, "mudra_backup_every_seconds") == 3 * 3600
    assert 0 < sum(open_now.values()) < value(node, "mudra_database_connections_allowed")
    assert 'state="active"' in open_now


@pytest.mark.slow
def test_reports_that_did_not_come_in_time_are_missing(node: Service) -> None:
    """Of the last window whose time is over; of the last closed one none could be missing yet."""
    aa = pushing_aa(node)
    assert aa.push(aa.requests()).status_code == 200
    node.advance("PT1H")

    node.wait_until(lambda: value(node, "mudra_metrics_windows_expected") == 2)
    assert value(node, "mudra_metrics_windows_missing") == 2


def test_secrets_that_end_within_a_week_are_counted_and_the_list_says_whose(node: Service) -> None:
    member = new_member(node)
    node.wait_until(lambda: value(node, "mudra_secrets_ending") == 0)
    week_later = node.advance("P175D") + timedelta(days=7)

    node.wait_until(lambda: value(node, "mudra_secrets_ending") > 0)
    listed = json.loads(node.cli("member", "list", "--json").stdout)
    (end,) = [one["secretExpiresAt"] for one in listed if one["entityId"] == member.entity_id]
    assert datetime.fromisoformat(end) < week_later
    assert end[:10] in node.cli("member", "list").stdout


def test_days_of_a_certificate_are_those_it_has(tmp_path: Path) -> None:
    with tls_server(tmp_path, days=5) as port:
        seen = days_left(Settings(base_url=f"https://127.0.0.1:{port}/iam"))
    away = days_left(Settings(base_url=f"https://127.0.0.1:{port}/iam"))

    (days,) = seen.values()
    assert days is not None
    assert 4.9 < days < 5
    assert away == {f"127.0.0.1:{port}": None}


@pytest.mark.slow  # the job has its turn at the next minute
def test_registered_keys_that_can_be_factored_are_known_until_they_are_gone(node: Service) -> None:
    """K9: by the metric of the alert, by the operator's board and by the audit."""
    node.wait_until(lambda: value(node, "mudra_registry_weak_keys") == 0)
    entity_ids = entries_that_share_a_prime(node)

    node.wait_until(lambda: value(node, "mudra_registry_weak_keys") == 2)
    board = json.loads(node.cli("board", "--json").stdout)
    shown = [row["entityId"] for row in board if row["kind"] == "weak-key"]
    found = json.loads(node.cli("audit", "list", "--event", "registry:key:factor", "--json").stdout)
    for entity_id in entity_ids:
        node.cli("registry", "retire", entity_id, "--reason", "its key is weak", "--yes")

    assert sorted(shown) == entity_ids
    assert {one["detail"]["weakness"] for one in found} == {"shared-prime"}
    assert sorted(one["detail"]["sharedWith"] for one in found) == entity_ids
    node.wait_until(lambda: value(node, "mudra_registry_weak_keys") == 0)
