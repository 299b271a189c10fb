"""The page about metrics apart, followed word by word on two servers; the backup is under load."""

import json
import re
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict
from tests.support.database.backed_up import Acknowledged, Load
from tests.support.database.own_postgres import as_superuser, own_postgres
from tests.support.forked_command import run_mudra
from tests.support.metrics.metrics_push import pushing_aa
from tests.support.service import new_member, running_service

from mudra.storage.database.embedded.server import embedded_server
from mudra.storage.database.roles import OWNER, SERVICE, as_role

pytestmark = pytest.mark.slow
_PAGE = Path("docs/how-to/metrics-apart.md")
_FILE = "mudra-20261122T023000Z"
_EVENTS = "SELECT txn_id FROM audit_event WHERE event = 'metrics:report:accept'"
_RESET = (
    "SELECT entity_id FROM audit_event WHERE event = 'entity:secret:reset' AND outcome = 'success'"
)
_RECEIVED = "SELECT txn_id FROM metrics_receipt"


@dataclass
class TwoServers:
    """Two PostgreSQL servers, and a data directory with the key and the second place."""

    first: str
    second: str
    home: Path
    number: int = 0
    names: dict[str, str] = field(default_factory=dict)

    def new(self, server: str) -> str:
        """Make an empty database as the page says: with the roles of `mudra database prepare`."""
        self.number += 1
        as_superuser(server, f"CREATE DATABASE new_{self.number}")
        database = conninfo_to_dict(server)["dbname"]
        url = server.replace(f"/{database}?", f"/new_{self.number}?")
        self.run(
            "mudra database prepare",
            MUDRA_DATABASE_URL=as_role(url, SERVICE),
            MUDRA_DATABASE_OWNER_URL=as_role(url, OWNER),
            MUDRA_DATABASE_ADMIN_URL=url,
        )
        return url

    def run(self, command: str, **variables: str) -> str:
        """Run a command of the page with this test's names in place of the examples."""
        words = [self.names.get(word, word) for word in command.split()[1:]]
        data = {"MUDRA_DATA_DIR": str(self.home / "node"), **variables}
        done = run_mudra(*words, **data)
        assert done.returncode == 0, (command, done.stdout, done.stderr)
        return done.stdout


def addresses(first: str, second: str) -> dict[str, str]:
    """The settings of both databases."""
    return {
        "MUDRA_DATABASE_URL": as_role(first, SERVICE),
        "MUDRA_DATABASE_OWNER_URL": as_role(first, OWNER),
        "MUDRA_METRICS_DATABASE_URL": as_role(second, SERVICE),
        "MUDRA_METRICS_DATABASE_OWNER_URL": as_role(second, OWNER),
    }


def texts(url: str, query: str) -> list[str]:
    """The first column of what a query gives."""
    with psycopg.connect(url) as connection:
        return [str(row[0]) for row in connection.execute(query.encode()).fetchall()]


def answered(journal: list[Acknowledged], before: float) -> set[str]:
    """What was acknowledged by then."""
    return {one.about for one in journal if one.answered < before}


@pytest.fixture
def servers(tmp_path: Path) -> Iterator[TwoServers]:
    # The second is no copy of the first: a cluster has an identity of its own.
    with own_postgres(tmp_path / "one") as first, embedded_server(tmp_path / "two") as second:
        yield TwoServers(first, second, tmp_path)


def test_the_page_is_followed_word_by_word(servers: TwoServers) -> None:
    commands = re.findall(r"^ *(mudra .*)$", _PAGE.read_text(), re.MULTILINE)
    only_first, only_metrics, both, first, metrics, begin, pair = commands[1:-1]
    key, node = servers.home / "backup.key", servers.home / "node"
    keeping = {
        "MUDRA_BACKUP_DIR": str(servers.home / "kept"),
        "MUDRA_BACKUP_RECIPIENTS": servers.run(f"mudra backup key {key}").strip(),
    }
    here = addresses(servers.first, servers.new(servers.second))

    with running_service(node, **here) as service:
        members = [(member, member.bearer()) for member in (new_member(service) for _ in range(10))]
        with Load(members, pushing_aa(service)) as load:
            load.wait_for_more(3, 3)
            began = time.monotonic()
            made = json.loads(servers.run("mudra backup create --json", **here, **keeping))
            load.wait_for_more(0, 3)
        apart = {**keeping, "MUDRA_BACKUP_DIR": str(servers.home / "apart")}
        servers.run(only_first, **here, **apart)
        servers.run(only_metrics, **here, **apart)
    servers.names = {
        f"{_FILE}.dump.age": made["file"],
        f"{_FILE}.metrics.dump.age": made["metrics"]["file"],
        "backup.key": str(key),
    }

    # Both are lost.
    new_first, new_second = servers.new(servers.first), servers.new(servers.second)
    there = addresses(new_first, new_second)
    servers.run(both, **there)
    received = texts(new_second, _RECEIVED)
    with running_service(node, **there) as service:
        service.wait_until(lambda: texts(new_second, "SELECT body FROM handover") == [], 60)
        servers.run("mudra audit verify", **there)
    events = Counter(texts(new_first, _EVENTS))
    assert answered(load.pushes, began) <= set(received)
    assert answered(load.resets, began) <= set(texts(new_first, _RESET))
    assert set(received) <= set(events)
    assert set(events.values()) == {1}

    # The first one is lost, then the second one.
    there = addresses(servers.new(servers.first), new_second)
    servers.run(first, **there)
    new_second = servers.new(servers.second)
    there = {**there, **_second_of(new_second)}
    servers.run(metrics, **there)
    assert texts(new_second, _RECEIVED) == received

    # The second one is lost, and has no backup; then as after a recovery of it.
    there = {**there, **_second_of(servers.new(servers.second))}
    servers.run(begin, **there)
    servers.run(pair, **there)
    with running_service(node, **there) as service:
        aa = pushing_aa(service)
        assert aa.push(aa.requests()).status_code == 200
        checks = json.loads(service.cli("doctor", "--json", check=False).stdout)
    assert {one["ok"] for one in checks if one["check"].startswith("metrics")} == {True}
    old = run_mudra("mail", "list", MUDRA_DATA_DIR=str(node), **{**there, **_second_of(new_second)})
    assert "of another pairing" in old.stderr


def _second_of(url: str) -> dict[str, str]:
    return {name: value for name, value in addresses(url, url).items() if "METRICS" in name}
