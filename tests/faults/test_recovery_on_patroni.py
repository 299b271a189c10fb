"""Recovery to a point in time on three machines of Patroni, by the commands of the how-to."""

import os
import re
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest
from tests.faults.patroni.cluster import Cluster, Machine, control_program, patroni_cluster
from tests.support.documents.blocks import blocks_of
from tests.support.programs import program

pytestmark = pytest.mark.slow
HOW_TO = "docs/how-to/recover-to-a-time.md"
CONTROL = "/opt/patroni/bin/patronictl -c /etc/patroni/config.yml"
STOPPED_S = 60
LEADS_S = 120
COPIED_S = 180


def blocks(heading: str) -> list[str]:
    """The commands below a heading of the page, block by block."""
    return [one.body for one in blocks_of(HOW_TO) if one.heading == heading and one.kind == "sh"]


@dataclass
class Archived:
    """A cluster whose log goes to pgBackRest."""

    cluster: Cluster

    def run(self, machine: Machine, body: str, given: str = "") -> str:
        """Run commands of the page on a machine as the user of PostgreSQL."""
        for theirs, ours in (
            (CONTROL, f"{control_program()} -c {machine.home / 'config.yml'}"),
            ("/var/lib/postgresql", str(machine.home / "postgresql")),
        ):
            body = body.replace(theirs, ours)
        done = subprocess.run(
            [*self.cluster.account.prefix, "bash", "-euo", "pipefail", "-c", body],
            input=given, capture_output=True, text=True, check=False, timeout=600, cwd="/",
            env={
                "PATH": os.environ["PATH"],
                "HOME": str(machine.home),
                "LC_ALL": "C.UTF-8",
                "PGHOST": str(machine.home / "run"),
                "PGUSER": "postgres",
                "PGBACKREST_CONFIG": str(machine.home / "pgbackrest.conf"),
            },
        )  # fmt: skip
        assert done.returncode == 0, (body, done.stdout[-3000:], done.stderr[-3000:])
        return done.stdout

    def stop_patroni(self) -> None:
        """As `systemctl stop patroni` on each machine does."""
        for machine in self.cluster.machines:
            machine.processes["patroni"].terminate()
        for machine in self.cluster.machines:
            machine.processes["patroni"].wait(STOPPED_S)
            assert not (machine.data / "postmaster.pid").exists(), machine.name

    def written(self, machine: Machine) -> list[int]:
        """What a machine's database has."""
        with machine.connection() as connection:
            rows = connection.execute("SELECT id FROM written ORDER BY id").fetchall()
        return [int(str(row[0])) for row in rows]


@pytest.fixture
def archived(tmp_path: Path) -> Iterator[Archived]:
    program("pgbackrest")
    tmp_path.chmod(0o755)
    # The user of PostgreSQL in this test is not called postgres.
    changes = {"local all postgres peer": "local all all trust"}
    with patroni_cluster(tmp_path, changes) as cluster:
        for name in ("repo", "log"):
            folder = tmp_path / name
            folder.mkdir(mode=0o700)
            os.chown(folder, cluster.account.uid, cluster.account.gid)
        for machine in cluster.machines:
            text = Path("deploy/pgbackrest/pgbackrest.conf").read_text()
            for theirs, ours in (
                ("/var/lib/postgresql", machine.home / "postgresql"),
                ("/var/lib/pgbackrest", tmp_path / "repo"),
                ("/var/log/pgbackrest", tmp_path / "log"),
                ("/var/run/postgresql", machine.home / "run"),
            ):
                assert theirs in text
                text = text.replace(theirs, str(ours))
            path = machine.home / "pgbackrest.conf"
            path.write_text(text)
            path.chmod(0o644)
        yield Archived(cluster)


def write(machine: Machine, number: int) -> datetime:
    """Add a row; gives a time after it and before the next one."""
    with machine.connection() as connection:
        connection.execute("CREATE TABLE IF NOT EXISTS written (id int)")
        connection.execute("INSERT INTO written VALUES (%s)", [number])
        time.sleep(1.5)
        row = connection.execute("SELECT clock_timestamp()").fetchone()
        time.sleep(1.5)
    assert row is not None
    assert isinstance(row[0], datetime)
    return row[0]


def test_a_chosen_moment_comes_back_on_three_machines(archived: Archived) -> None:
    """The leader has what was there at the moment and nothing later, and the others copy it."""
    cluster = archived.cluster
    (settings,) = blocks("Archive on Patroni")
    archived.run(cluster.machines[0], settings)
    cluster.wait(cluster.is_whole, LEADS_S, "the members do not come back after their restart")
    leader = cluster.primary()
    others = [one for one in cluster.machines if one is not leader]
    write(leader, 1)
    archived.run(leader, blocks("Once")[0])
    archived.run(leader, blocks("Every day")[0])
    moment = write(leader, 2)
    write(leader, 3)
    archived.run(leader, "pgbackrest --stanza=mudra check")  # what was written is in the archive

    forget, recover, copy = blocks("Recover on Patroni")
    to_moment = blocks("Recover")[0]
    target = to_moment.replace(
        "2026-11-23 08:00:00+00", f"{moment.astimezone(UTC):%Y-%m-%d %H:%M:%S+00}"
    )
    assert target != to_moment
    archived.stop_patroni()
    archived.run(leader, forget, "mudra\nYes I am aware\n")
    archived.run(leader, target)
    (last,) = re.findall(r"^\d{4}-\S+Z$", archived.run(leader, recover), re.MULTILINE)
    assert datetime.fromisoformat(last) <= moment
    cluster.start_patroni(leader)
    cluster.wait(leader.is_primary, LEADS_S, "the recovered database does not lead")
    for one in others:
        cluster.start_patroni(one)
    names = " ".join(one.name for one in others)
    cluster.wait(lambda: len(cluster.members()) == 3, LEADS_S, "the others do not join")
    archived.run(leader, copy.replace("pg2 pg3", names))
    cluster.wait(cluster.is_whole, COPIED_S, "the others do not follow")

    assert archived.written(leader) == [1, 2]
    write(leader, 4)  # which a standby confirms
    for one in others:
        cluster.wait(lambda one=one: archived.written(one) == [1, 2, 4], 30, f"{one.name} lags")
    said = archived.run(leader, f"{CONTROL} show-config mudra")
    assert "archive-push" in said  # the settings of the cluster came back too
