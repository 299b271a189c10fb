"""Fail-overs of Patroni under load, by the files of `deploy/patroni`: nothing lost, nothing double.

Each scenario has a journal of every answer of two nodes, one with all three hosts in its address,
one behind HAProxy. `pytest -s` prints the figures of docs/how-to/run-on-patroni.md.
"""

import itertools
import json
import os
import signal
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx2
import psycopg
import pytest
from tests.faults.patroni.cluster import SUPERUSER, Cluster, Machine, documented
from tests.faults.patroni.journal_check import differences, refused_secrets
from tests.faults.patroni.load import RESET, WRITES, Journal, Load
from tests.faults.patroni.network import BY_HAPROXY, BY_HOSTS, PatroniNetwork, patroni_network
from tests.support.http_clients import NO_TLS

pytestmark = pytest.mark.slow
HOW_TO = Path("docs/how-to/run-on-patroni.md")
ENTITIES = 4000
AFTER_S = 12.0
FIRST_WRITE_S = 5.0
SCENARIOS = ("killed", "switched", "frozen", "hung", "standby killed", "no etcd")


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PatroniNetwork]:
    with patroni_network(tmp_path_factory.mktemp("patroni"), ENTITIES) as running:
        yield running


def kill(cluster: Cluster, old: Machine) -> Callable[[], None]:
    os.kill(old.postmaster(), signal.SIGKILL)
    return lambda: None


def switch(cluster: Cluster, old: Machine) -> Callable[[], None]:
    (words,) = documented(HOW_TO, "Switch over")
    assert words[:3] == ["/opt/patroni/bin/patronictl", "-c", "/etc/patroni/config.yml"]
    thread = threading.Thread(target=cluster.control, args=words[3:])
    thread.start()
    return thread.join


def freeze(cluster: Cluster, old: Machine) -> Callable[[], None]:
    """A machine that answers nothing any more, and comes back as it was."""
    old.signal(signal.SIGSTOP)
    return lambda: old.signal(signal.SIGCONT)


def hang(cluster: Cluster, old: Machine) -> Callable[[], None]:
    """Patroni hangs and its PostgreSQL goes on: two primaries, without a watchdog."""
    patroni = old.processes["patroni"]
    patroni.send_signal(signal.SIGSTOP)
    return lambda: patroni.send_signal(signal.SIGCONT)


def kill_standby(cluster: Cluster, old: Machine) -> Callable[[], None]:
    names = [name for name, (role, _) in cluster.members().items() if role == "quorum_standby"]
    standby = next(one for one in cluster.machines if one.name in names)
    os.kill(standby.postmaster(), signal.SIGKILL)
    return lambda: None


def stop_etcd(cluster: Cluster, old: Machine) -> Callable[[], None]:
    for machine in cluster.machines:
        machine.processes["etcd"].send_signal(signal.SIGSTOP)

    def go_on() -> None:
        for machine in cluster.machines:
            machine.processes["etcd"].send_signal(signal.SIGCONT)

    return go_on


ACTS = dict(zip(SCENARIOS, (kill, switch, freeze, hang, kill_standby, stop_etcd), strict=True))


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_nothing_acknowledged_is_lost_or_doubled(network: PatroniNetwork, scenario: str) -> None:
    cluster = network.cluster
    cluster.wait(cluster.is_whole, 120, "the cluster is not whole")
    promotes = scenario not in {"standby killed", "no etcd"}
    with Load(network.nodes, network.known) as load:
        time.sleep(4)
        old = cluster.primary()
        rest = [one for one in cluster.machines if one is not old]
        began = time.monotonic()
        undo = ACTS[scenario](cluster, old)
        if promotes:
            cluster.wait(lambda: any(one.is_primary() for one in rest), 60, "no promotion")
        promoted = time.monotonic()
        time.sleep(AFTER_S if promotes else 20)
        over = time.monotonic()
        undo()
        time.sleep(2)
    cluster.wait(cluster.is_whole, 120, "the cluster does not heal")

    journal = load.journal
    with network.connection() as connection:
        lost = differences(journal, connection)
    lost[RESET] += refused_secrets(network.nodes[BY_HAPROXY].issuer, journal)
    report(scenario, journal, began, promoted, over, lost)
    assert set(lost.values()) == {0}, lost
    assert journal.wrong == []
    assert journal.surprises == []
    if promotes:
        assert cluster.primary() is not old
        for node in (BY_HOSTS, BY_HAPROXY):
            assert journal.first_write(promoted, node) < FIRST_WRITE_S, network.said(node)[-4000:]
    else:
        assert cluster.primary() is old
        assert max(gaps(journal, began, over)) < FIRST_WRITE_S


def gaps(journal: Journal, began: float, over: float) -> list[float]:
    """Seconds between two writes that were acknowledged."""
    times = sorted(
        one.ended
        for one in journal.answers
        if one.kind in WRITES and one.status == 200 and began <= one.ended < over
    )
    moments = [began, *times, over]
    return [later - sooner for sooner, later in itertools.pairwise(moments)]


def report(
    scenario: str,
    journal: Journal,
    began: float,
    promoted: float,
    over: float,
    lost: dict[str, int],
) -> None:
    print(  # the figures of the how-to
        f"\n{scenario}: promotion after {promoted - began:.1f} s, first write after it"
        f" {journal.first_write(promoted, BY_HOSTS):.1f} s by hosts,"
        f" {journal.first_write(promoted, BY_HAPROXY):.1f} s by HAProxy,"
        f" longest gap {max(gaps(journal, began, over)):.1f} s\n"
        f"  tokens meanwhile {journal.tokens(began, promoted)}, then {journal.tokens(promoted, over)}\n"
        f"  acknowledged {journal.acknowledged()}, lost or doubled {lost}, wrong {len(journal.wrong)}",
        flush=True,
    )


def test_after_all_that_jobs_run_and_the_audit_is_whole(network: PatroniNetwork) -> None:
    """The locks of jobs and of the sealer went with the primaries that had them."""
    jobs = ("seal-audit", "sign-ins", "go-live")

    def all_ran() -> bool:
        with network.connection() as connection:
            rows = connection.execute(
                "SELECT name FROM job_run WHERE name = ANY(%s) AND failures = 0"
                " AND finished_at > clock_timestamp() - interval '90 seconds'",
                [list(jobs)],
            ).fetchall()
        return len(rows) == len(jobs)

    network.nodes[0].wait_until(all_ran)
    for node in network.nodes:
        found = node.cli("audit", "verify", "--json", check=False)
        assert found.exit_code == 0, found.output
        assert httpx2.get(f"{node.root}/readyz", timeout=10, verify=NO_TLS).status_code == 200
    checks = json.loads(network.nodes[0].cli("doctor", "--json", check=False).stdout)
    bad = {one["check"]: one["text"] for one in checks if not one["ok"]}
    assert not {"database", "audit", "standbys"} & bad.keys(), bad
    (said,) = (one["text"] for one in checks if one["check"] == "standbys")
    assert said.startswith("2 follow")
    assert "a commit waits for ANY 1" in said


def test_the_files_are_those_of_the_how_to(network: PatroniNetwork) -> None:
    text = HOW_TO.read_text()
    for name in ("etcd.env", "patroni.env", "patroni.yml", "haproxy.cfg"):
        assert f"deploy/patroni/{name}" in text
    ours = network.cluster.url("mudra_service", "change-this-4")
    ours = ours.replace(str(network.cluster.authority), "/etc/mudra/database-ca.crt")
    assert ours.replace(f"{network.cluster.network}.", "10.0.0.") in text
    assert (
        "postgresql://mudra_service:change-this-4@127.0.0.1:5000/mudra?sslmode=verify-full" in text
    )


def test_no_one_gets_in_without_tls(network: PatroniNetwork) -> None:
    """Neither to PostgreSQL nor, without a certificate of the machines' authority, to etcd."""
    machine = network.cluster.machines[0]
    with pytest.raises(psycopg.OperationalError, match="no encryption"):
        psycopg.connect(machine.url("postgres", *SUPERUSER), sslmode="disable", connect_timeout=5)
    known = ssl.create_default_context(cafile=network.cluster.authority)
    with pytest.raises(httpx2.TransportError):
        httpx2.get(f"https://{machine.address}:2379/version", verify=known, timeout=5)
    with network.connection() as connection:
        rows = connection.execute(
            "SELECT count(*) FILTER (WHERE NOT ssl), count(*) FROM pg_stat_ssl"
            " JOIN pg_stat_replication USING (pid)"
        ).fetchone()
    assert rows == (0, 2)
