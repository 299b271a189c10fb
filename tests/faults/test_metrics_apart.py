"""Metrics in a second database: what is in which, and no event or email lost or doubled."""

import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import msgspec
import psycopg
import pytest
from tests.support.database.own_postgres import as_superuser, own_postgres
from tests.support.documents.blocks import blocks_of
from tests.support.metrics.health_network import at_fip, requests_of
from tests.support.metrics.metrics_push import pushing_aa
from tests.support.metrics.old_rows import OLD_ROWS, PARTITIONED, left_of
from tests.support.metrics.two_databases import (
    AAS,
    FIPS,
    ApartNetwork,
    TwoDatabases,
    a_copy,
    a_network,
    environment_of,
)
from tests.support.service import running_service

from mudra.bootstrap.config import load_settings
from mudra.bootstrap.node.serve import open_store
from mudra.metrics.incidents.days_again import DaysAgain
from mudra.metrics.payload.catalogue import WINDOW
from mudra.shared.unavailable import DatabaseUnavailable
from mudra.storage.database.roles import as_role
from mudra.storage.metrics.apart.distribution import DISTRIBUTED, REFERENCE
from mudra.storage.metrics.apart.metrics_database import MOVED

HOW_TO = "docs/how-to/metrics-apart.md"
_ACCEPTED = "SELECT count(*) FROM audit_event WHERE event = 'metrics:report:accept'"
_INCIDENTS = f"SELECT * FROM metrics_incident WHERE entity_id = '{FIPS[0]}'"
_WAITS = "SELECT count(*) FROM handover"
GOOD = 5
"""Windows."""


@pytest.fixture(scope="module")
def databases(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TwoDatabases]:
    with own_postgres(tmp_path_factory.mktemp("postgres") / "data") as first:
        blank, second = a_copy(first, "blank"), a_copy(first, "metrics")
        folder = str(tmp_path_factory.mktemp("node") / "data")
        yield TwoDatabases(first, second, environment_of(folder, first, second), blank)


@pytest.fixture(scope="module")
def network(databases: TwoDatabases) -> Iterator[ApartNetwork]:
    """A network of some good windows, which are judged."""
    with a_network(databases.environment) as made:
        made.report(range(GOOD, 0, -1))
        made.detect()
        yield made


def test_pushes_are_stored_in_the_second_database_and_the_audit_in_the_first(
    databases: TwoDatabases, network: ApartNetwork
) -> None:
    for table in (*DISTRIBUTED, *REFERENCE):
        assert databases.rows(databases.first, f"SELECT count(*) FROM {table}") == [(0,)]
    pushed = GOOD * len(AAS) * 2
    assert databases.rows(databases.second, "SELECT count(*) FROM metrics_receipt") == [(pushed,)]
    assert databases.rows(databases.first, _ACCEPTED) == [(pushed,)]
    assert databases.rows(databases.second, _WAITS) == [(0,)]


def test_pictures_receipts_and_members_come_from_both(network: ApartNetwork) -> None:
    within = {
        "from": network.window(4).isoformat(),
        "to": (network.window(4) + WINDOW).isoformat(),
    }
    answer = network.ask("/operator/v1/health/fips", fipId=FIPS[0], **within)

    assert answer.status_code == 200, answer.text
    (row,) = answer.json()["rows"]
    consents = next(api for api in row["apis"] if api["type"] == "cns")
    assert (consents["requests"], consents["succeeded"]) == (300, 297)
    aa = network.aa(AAS[0])
    receipts = aa.client.get("/metrics/perf/v1/receipts", headers=aa.bearer).json()["receipts"]
    assert len(receipts) == 2 * GOOD
    assert aa.client.get("/metrics/perf/v1/health", headers=aa.bearer).status_code == 200


def test_an_incident_is_notified_once_whichever_commit_is_lost(
    databases: TwoDatabases, network: ApartNetwork
) -> None:
    network.advance(20)
    network.report([2, 1], at_fip(FIPS[0], "cns", failing=0.9))
    last = "SELECT max(window_at) FROM metrics_attribution"
    before, mails = databases.rows(databases.second, last), _mails(network)

    # The first database's commit is lost: neither has anything.
    with pytest.raises(DatabaseUnavailable) as first_lost:
        network.served.do(_detect_and_cut(network, databases, databases.first))
    assert "metrics" not in first_lost.value.sentence
    assert databases.rows(databases.first, _INCIDENTS) == []
    assert _mails(network) == mails

    # That of the metrics is lost after it: the incident is stored, that it was found is not.
    with pytest.raises(DatabaseUnavailable) as second_lost:
        network.served.do(_detect_and_cut(network, databases, databases.second))
    assert second_lost.value.sentence == "the service cannot reach its metrics database"
    incidents = databases.rows(databases.first, _INCIDENTS)
    alarmed = _mails(network)
    alarms = alarmed - mails
    assert len(incidents) == 1
    assert set(alarms.values()) == {1}
    assert FIPS[0] in {entity_id for entity_id, _ in alarms}
    assert databases.rows(databases.second, last) == before

    network.detect()

    assert databases.rows(databases.second, last) == [(network.window(1),)]
    assert databases.rows(databases.first, _INCIDENTS) == incidents
    assert _mails(network) == alarmed
    assert databases.rows(databases.second, _WAITS) == [(0,)]


async def _detect_and_cut(network: ApartNetwork, databases: TwoDatabases, url: str) -> None:
    """Judge, and end the connections to one database before the commits."""
    async with network.dependencies.metrics_maintenance(within_s=60) as work:
        await work.detection.detect(work.now, DaysAgain())
        databases.cut(url)


def _mails(network: ApartNetwork) -> Counter[tuple[str, str]]:
    """The emails so far, by member and subject."""
    return Counter((one, subject) for one in (*AAS, *FIPS) for subject in network.mails(one))


def test_an_implausible_report_is_notified_decided_and_recorded_once_though_a_commit_is_lost(
    databases: TwoDatabases, network: ApartNetwork
) -> None:
    aa, window = network.aa(AAS[1]), network.window(20)
    lie = requests_of(aa, window, [], FIPS, 9 * 10**15)
    answer = aa.push(lie)
    assert answer.status_code == 200, answer.text
    about = f"a report of {AAS[1]} is implausible"
    assert about not in network.mails(AAS[1])
    accepted = databases.rows(databases.first, _ACCEPTED)[0][0]

    # The first database has committed what was handed over when the metrics' server goes.
    with pytest.raises(DatabaseUnavailable):
        network.served.do(_carry_and_cut(network, databases))
    assert network.mails(AAS[1]).count(about) == 1
    assert databases.rows(databases.second, _WAITS) == [(2,)]
    network.served.do(network.dependencies.carry_over())

    assert databases.rows(databases.second, _WAITS) == [(0,)]
    assert network.mails(AAS[1]).count(about) == 1
    assert databases.rows(databases.first, _ACCEPTED) == [(accepted + 1,)]
    path = f"/operator/v1/health/held-reports/{answer.json()['receiptId']}/refuse"
    refused = network.served.client(network.operator).post(path, json={"reason": "a lie"})
    assert refused.status_code == 200, refused.text
    network.served.do(network.dependencies.carry_over())
    event = "SELECT actor <> '', address, reason FROM audit_event WHERE event ="
    assert databases.rows(databases.first, f"{event} 'metrics:held_report:refuse'") == [
        (True, "127.0.0.1", "a lie")
    ]


async def _carry_and_cut(network: ApartNetwork, databases: TwoDatabases) -> None:
    from mudra.storage.metrics.apart.carry_over import carry_over  # noqa: PLC0415

    def notices(transaction):
        databases.cut(databases.second)
        return network.dependencies._notices(transaction)

    await carry_over(network.dependencies.metrics, notices)


def test_without_the_second_database_tokens_go_on_and_each_answer_names_it(
    databases: TwoDatabases, network: ApartNetwork
) -> None:
    aa = network.aa(AAS[2])
    with psycopg.connect(databases.first, autocommit=True) as admin:
        admin.execute("ALTER DATABASE metrics ALLOW_CONNECTIONS false")
        try:
            databases.cut(databases.second)
            pushed = aa.push(aa.requests(network.window(30)))
            ready = network.served.client().get("/readyz")
            members = network.ask("/operator/v1/members")
            found = databases.cli("doctor", "--json", check=False)
        finally:
            admin.execute("ALTER DATABASE metrics ALLOW_CONNECTIONS true")

    name = "the service cannot reach its metrics database"
    assert (pushed.status_code, name in pushed.text) == (503, True)
    assert (ready.status_code, ready.json()) == (200, {"status": "ready", "impaired": name})
    assert members.status_code == 200
    (check,) = [one for one in json.loads(found.stdout) if one["check"] == "metrics database"]
    assert not check["ok"]
    assert check["text"].startswith(name)
    assert network.served.client().get("/readyz").json() == {"status": "ready"}


def test_the_old_rows_of_every_table_go_from_the_second_database(
    databases: TwoDatabases, network: ApartNetwork
) -> None:
    with psycopg.connect(databases.second) as connection:
        for table in PARTITIONED:
            connection.execute("SELECT metrics_partition_make(%s, '2001-01-01')", [table])
        for table, row in OLD_ROWS.items():
            connection.execute(f"INSERT INTO {table} {row}".encode())
    before = {one: databases.rows(databases.second, left_of(one)) for one in OLD_ROWS}

    network.advance(10)
    network.report([1])
    network.served.do(_retain(network))
    network.detect()

    left = {one: databases.rows(databases.second, left_of(one)) for one in OLD_ROWS}
    assert OLD_ROWS.keys() == MOVED
    assert set(map(repr, before.values())) == {"[(1,)]"}
    assert left == {one: [(0,)] for one in OLD_ROWS}


async def _retain(network: ApartNetwork) -> None:
    from mudra.bootstrap.node.jobs_process import _clear  # noqa: PLC0415
    from mudra.jobs.metrics_jobs import drop_old_metrics  # noqa: PLC0415
    from mudra.metrics.rollup.retention import RetentionPolicy  # noqa: PLC0415

    await drop_old_metrics(network.dependencies.metrics_maintenance, RetentionPolicy(90, 400))
    await _clear(network.dependencies)


def test_a_node_without_the_address_or_with_a_wrong_one_is_refused(
    databases: TwoDatabases, network: ApartNetwork
) -> None:
    empty, other = a_copy(databases.blank, "empty"), a_copy(databases.blank, "other_metrics")
    as_superuser(other, "INSERT INTO service_fact VALUES ('metrics-database', 'another')")
    wrong = {
        "": "set MUDRA_METRICS_DATABASE_URL",
        databases.first: "leads to the first database",
        empty: "is empty, and this service has metrics elsewhere",
        other: "does not belong to this one",
    }
    for address, text in wrong.items():
        done = databases.cli("mail", "list", check=False, MUDRA_METRICS_DATABASE_URL=address)
        assert done.exit_code == 1
        assert text in done.output


@pytest.mark.slow
def test_an_installation_moves_and_begins_again(
    databases: TwoDatabases, tmp_path_factory: pytest.TempPathFactory
) -> None:
    first = a_copy(databases.blank, "together")
    second = a_copy(databases.blank, "moved")
    folder = str(tmp_path_factory.mktemp("moving") / "data")
    with a_network(environment_of(folder, first)) as network:
        network.report([3, 2, 1])
        network.detect()
        whole, moment = _shown(network), network.now
    both = TwoDatabases(first, second, environment_of(folder, first, second), databases.blank)
    early = both.cli("mail", "list", check=False)
    assert "mudra database move-metrics" in early.output

    # The second database has committed its rows, the first one has not deleted its own.
    with psycopg.connect(first) as holding:
        holding.execute("INSERT INTO service_fact VALUES ('metrics-database', 'held')")
        cut = both.cli("database", "move-metrics", check=False)
        holding.rollback()
    assert cut.exit_code != 0
    assert both.rows(second, "SELECT count(*) FROM metrics_receipt") == [(18,)]
    assert both.rows(first, "SELECT count(*) FROM metrics_receipt") == [(18,)]

    command = next(block.body for block in blocks_of(HOW_TO) if block.kind == "sh")
    program, *words = command.split()
    assert program == "mudra"
    moved = json.loads(both.cli(*words, "--json").stdout)["rows"]

    assert (moved["metrics_receipt"], both.rows(first, "SELECT count(*) FROM metrics_raw")) == (
        18,
        [(0,)],
    )
    again = both.cli("database", "move-metrics", check=False)
    assert "already" in again.output
    with a_network(both.environment) as network:
        network.now = moment
        assert _shown(network) == whole
        network.report([4])
        assert both.rows(first, "SELECT count(*) FROM metrics_receipt") == [(0,)]


def _shown(network: ApartNetwork) -> object:
    """What people see of the windows that were reported."""
    within = {"from": network.window(3).isoformat(), "to": (network.window(0)).isoformat()}
    rows = network.ask("/operator/v1/health/fips", **within).json()["rows"]
    aa = network.aa(AAS[0])
    receipts = aa.client.get("/metrics/perf/v1/receipts", headers=aa.bearer).json()["receipts"]
    return msgspec.json.encode((rows, receipts))


@pytest.mark.slow
def test_a_node_serves_with_roles_of_its_own_in_the_second_database(
    databases: TwoDatabases, tmp_path: Path
) -> None:
    first, second = a_copy(databases.blank, "served"), a_copy(databases.blank, "served_metrics")
    serving, owning = as_role(second, "serving"), as_role(second, "owning")
    databases.cli(
        *("database", "prepare"),
        MUDRA_METRICS_DATABASE_URL="",
        MUDRA_DATABASE_URL=serving,
        MUDRA_DATABASE_OWNER_URL=owning,
        MUDRA_DATABASE_ADMIN_URL=second,
    )
    addresses = {
        "MUDRA_DATABASE_URL": first,
        "MUDRA_METRICS_DATABASE_URL": serving,
        "MUDRA_METRICS_DATABASE_OWNER_URL": owning,
    }
    with running_service(tmp_path / "data", **addresses) as service:
        aa = pushing_aa(service)
        answer = aa.push(aa.requests())
        service.advance("PT1S")  # wakes the jobs
        service.wait_until(lambda: databases.rows(second, _WAITS) == [(0,)])
        checks = json.loads(service.cli("doctor", "--json", check=False).stdout)

    assert answer.status_code == 200, answer.text
    assert databases.rows(second, "SELECT count(*) FROM metrics_receipt") == [(1,)]
    assert databases.rows(first, _ACCEPTED) == [(1,)]
    (check,) = [one for one in checks if one["check"] == "metrics database"]
    assert check == {
        "check": "metrics database",
        "ok": True,
        "text": "answers, and nothing waits in it",
    }


def test_the_charts_job_prepares_both_databases_and_a_node_needs_no_owner(
    databases: TwoDatabases, tmp_path: Path
) -> None:
    """Roles are made in each server by a step of its own; the job brings both schemas up to date."""
    first, second = a_copy(databases.blank, "chart"), a_copy(databases.blank, "chart_metrics")
    of_both = {
        "MUDRA_DATABASE_URL": as_role(first, "chart_serving"),
        "MUDRA_DATABASE_OWNER_URL": as_role(first, "chart_owning"),
        "MUDRA_DATABASE_ADMIN_URL": first,
        "MUDRA_METRICS_DATABASE_URL": as_role(second, "chart_metrics_serving"),
        "MUDRA_METRICS_DATABASE_OWNER_URL": as_role(second, "chart_metrics_owning"),
    }
    templates = Path("deploy/helm/mudra/templates")
    job = (templates / "prepare.yaml").read_text()
    assert 'include "mudra.owners"' in job
    job += (templates / "_names.tpl").read_text()
    assert set(re.findall(r'"(MUDRA_\w+)"', job)) == of_both.keys()

    early = databases.cli("database", "prepare", check=False, **of_both)
    databases.cli(
        *("database", "prepare"),
        MUDRA_METRICS_DATABASE_URL="",
        MUDRA_DATABASE_URL=of_both["MUDRA_METRICS_DATABASE_URL"],
        MUDRA_DATABASE_OWNER_URL=of_both["MUDRA_METRICS_DATABASE_OWNER_URL"],
        MUDRA_DATABASE_ADMIN_URL=second,
    )
    databases.cli("database", "prepare", **of_both)
    of_node = {name: of_both[name] for name in ("MUDRA_DATABASE_URL", "MUDRA_METRICS_DATABASE_URL")}
    of_node["MUDRA_DATA_DIR"] = str(tmp_path)
    with open_store(load_settings(of_node, {}), create=True):
        pass  # as the start of a node
    checks = json.loads(databases.cli("doctor", "--json", check=False, **of_node).stdout)

    assert early.exit_code == 5
    assert "the metrics database did not answer" in early.output
    assert "chart_metrics_owning" in early.output
    (check,) = [one for one in checks if one["check"] == "metrics database"]
    assert check["ok"], check
