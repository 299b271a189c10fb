"""Recovery to a point in time with pgBackRest, by the commands of the how-to."""

import json
import os
import shlex
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import psycopg
import pytest
from tests.faults.patroni.cluster import documented
from tests.faults.patroni.load import Journal, Load, entities
from tests.support.agent.agent_process import free_port
from tests.support.members import new_member
from tests.support.process import running_service
from tests.support.programs import program
from tests.support.service import Service

from mudra.storage.database.embedded.account import Account, choose_accounts

pytestmark = pytest.mark.slow
HOW_TO = Path("docs/how-to/recover-to-a-time.md")
BINARIES = Path("/usr/lib/postgresql/15/bin")
RPO_S, RTO_S = 300, 1800
AFTER_S = 25
"""So long is written on after the moment of the recovery."""
ARCHIVED_S = 70
"""`archive_timeout`, and the way to the archive."""


class Machine:
    """A PostgreSQL 15 of Debian whose log goes to pgBackRest; its paths are below `home`."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.data = home / "postgresql" / "15" / "mudra"
        self.run = home / "run"
        self.account: Account = choose_accounts(home, home / "none", BINARIES).initdb
        self.process: subprocess.Popen[bytes] | None = None
        self.port = free_port()
        for path in (
            self.data.parent.parent,
            self.data.parent,
            self.run,
            home / "log",
            home / "repo",
        ):
            path.mkdir(mode=0o700)
            os.chown(path, self.account.uid, self.account.gid)
        (home / "pgbackrest.conf").write_text(
            self._placed(Path("deploy/pgbackrest/pgbackrest.conf"))
        )
        words = [
            "-D",
            str(self.data),
            "-U",
            "postgres",
            "-E",
            "UTF8",
            "--locale=C.UTF-8",
            "-A",
            "trust",
        ]
        self.as_postgres([str(BINARIES / "initdb"), *words])
        with (self.data / "postgresql.conf").open("a") as settings:
            settings.write(Path("deploy/pgbackrest/archive.conf").read_text())
            settings.write(
                f"\nunix_socket_directories = '{self.run}'\nlisten_addresses = ''\n"
                f"port = {self.port}\nmax_connections = 200\n"
            )

    def _placed(self, path: Path) -> str:
        text = path.read_text()
        for theirs, ours in (
            ("/var/lib/postgresql/15/mudra", self.data),
            ("/var/lib/pgbackrest", self.home / "repo"),
            ("/var/log/pgbackrest", self.home / "log"),
            ("/var/run/postgresql", self.run),
            ("pg1-port=5432", f"pg1-port={self.port}"),
        ):
            assert theirs in text
            text = text.replace(theirs, str(ours))
        return text

    def as_postgres(self, words: list[str]) -> str:
        """Run a command of the how-to as the user of PostgreSQL; gives what it printed."""
        done = subprocess.run(
            [*self.account.prefix, *words],
            capture_output=True,
            text=True,
            check=False,
            cwd="/",
            env=self._environment(),
            timeout=600,
        )
        assert done.returncode == 0, (shlex.join(words), done.stdout[-3000:], done.stderr[-3000:])
        return done.stdout

    def start(self) -> None:
        """Start PostgreSQL and wait until it takes writes."""
        self.process = subprocess.Popen(
            [*self.account.prefix, str(BINARIES / "postgres"), "-D", str(self.data)],
            stderr=(self.home / "postgres.log").open("ab"),
            cwd="/",
            env=self._environment(),
        )
        deadline = time.monotonic() + 300
        while not self._takes_writes():
            assert time.monotonic() < deadline
            assert self.process.poll() is None, (self.home / "postgres.log").read_text()[-3000:]
            time.sleep(0.1)

    def _takes_writes(self) -> bool:
        try:
            with psycopg.connect(self.url("postgres"), connect_timeout=2) as connection:
                return connection.execute("SELECT pg_is_in_recovery()").fetchone() == (False,)
        except psycopg.OperationalError:
            return False

    def lose(self) -> None:
        """Kill it, and lose its disk."""
        assert self.process is not None
        for pid in (self.process.pid,):
            os.kill(pid, signal.SIGKILL)
        self.process.wait(30)
        time.sleep(1)  # its children see that it is gone
        shutil.rmtree(self.data)

    def stop(self) -> None:
        """Stop it in order."""
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
            self.process.wait(60)

    def url(self, database: str = "mudra") -> str:
        """The address, as the superuser."""
        return f"postgresql://postgres@/{database}?host={self.run}&port={self.port}"

    def _environment(self) -> dict[str, str]:
        return {
            "PATH": os.environ["PATH"],
            "LC_ALL": "C.UTF-8",
            "PGHOST": str(self.run),
            "PGPORT": str(self.port),
            "PGUSER": "postgres",
            "PGBACKREST_CONFIG": str(self.home / "pgbackrest.conf"),
        }


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Machine]:
    for name in ("pgbackrest", "postgresql-15"):
        program(name)
    tmp_path.chmod(0o755)
    running = Machine(tmp_path)
    yield running
    if running.process is not None and running.process.poll() is None:
        running.process.kill()
        running.process.wait(30)


@contextmanager
def node(machine: Machine, *options: str) -> Iterator[Service]:
    with running_service(
        machine.home / "node",
        *options,
        MUDRA_DATABASE_URL=machine.url(),
        MUDRA_REGISTRY_WRITES_PER_HOUR="100000",
    ) as running:
        yield running


def commands(heading: str) -> list[list[str]]:
    return documented(HOW_TO, heading)


def mudra(machine: Machine, words: list[str]) -> str:
    """Run a command of the how-to in the environment of the node, which does not run."""
    from typer.testing import CliRunner  # noqa: PLC0415

    from mudra.bootstrap.command_line import app  # noqa: PLC0415

    assert words[0] == "mudra"
    environment = {
        "MUDRA_DATA_DIR": str(machine.home / "node"),
        "MUDRA_DATABASE_URL": machine.url(),
        "MUDRA_SANDBOX": "true",
    }
    done = CliRunner().invoke(app, words[1:], env=environment)
    assert done.exit_code == 0, done.output
    return done.stdout


def versions(machine: Machine) -> dict[str, int]:
    with psycopg.connect(machine.url()) as connection:
        rows = connection.execute("SELECT entity_id, max(version) FROM entity_secret GROUP BY 1")
        return {str(name): int(str(version)) for name, version in rows}


@dataclass
class Written:
    """What was acknowledged until the machine was lost."""

    journal: Journal
    moment: datetime
    killed: float


def write_and_lose(machine: Machine) -> Written:
    """Back up under load, write on, and lose the machine with its disk."""
    with node(machine, "--demo") as service:
        known = entities(service, 1000)
        for words in commands("Every day"):
            machine.as_postgres(words)
        with Load([service], known) as load:
            time.sleep(8)
            moment = datetime.now(UTC).replace(microsecond=0)
            time.sleep(AFTER_S)
            kept_elsewhere(service)
            time.sleep(ARCHIVED_S)
            killed = time.time()
            machine.lose()
        service.process.kill()
        service.process.wait(30)
    return Written(load.journal, moment, killed)


def kept_elsewhere(service: Service) -> None:
    """Let the second place of the audit learn of what the recovery takes back."""
    second = service.data_dir / "audit-checkpoints.jsonl"
    known = second.read_text().count("\n") if second.exists() else 0
    service.advance("PT11M")  # a checkpoint is due
    service.wait_until(lambda: second.exists() and second.read_text().count("\n") > known)


def size(machine: Machine) -> int:
    with psycopg.connect(machine.url()) as connection:
        row = connection.execute("SELECT pg_database_size('mudra')").fetchone()
    return int(str(row and row[0]))


def test_a_lost_machine_and_a_chosen_moment(machine: Machine) -> None:
    machine.start()
    with psycopg.connect(machine.url("postgres"), autocommit=True) as connection:
        connection.execute("CREATE DATABASE mudra")
    for words in commands("Once"):
        machine.as_postgres(words)
    to_moment, to_end, last, recovered, *confirm = commands("Recover")
    written = write_and_lose(machine)

    lost, rpo_s, rto_s = recovered_to_the_end(machine, written, to_end, last, recovered)
    print(
        f"\n{size(machine) / 1e6:.0f} MB: lost {lost} of {len(written.journal.resets)} resets, of"
        f" {rpo_s:.0f} s; back after {rto_s:.0f} s",
        flush=True,
    )
    assert rpo_s < RPO_S
    assert rto_s < RTO_S
    machine.stop()

    began = time.time()
    recovered_to_the_moment(machine, written, to_moment, recovered)
    with node(machine) as again:
        for one in confirm:
            done = again.cli(*one[1:], check=False)
            assert done.exit_code == 0, done.output
            assert one[2] != "lost" or "entity:secret:reset" in done.output
    print(f"to the moment in {time.time() - began:.0f} s", flush=True)
    assert time.time() - began < RTO_S


def recovered_to_the_end(
    machine: Machine, written: Written, to_end: list[str], last: list[str], recovered: list[str]
) -> tuple[int, float, float]:
    """As little as can be is lost: resets lost, seconds lost, seconds until the service is back."""
    machine.as_postgres(to_end)
    machine.start()
    found = versions(machine)
    lost = {name for name in written.journal.resets if found.get(name) != 2}
    ends = [written.journal.reset_at[name][1] for name in lost]
    came_back = machine.as_postgres(last).strip()
    assert abs(datetime.fromisoformat(came_back).timestamp() - written.killed) < RPO_S
    mudra(machine, [*recovered[:-1], came_back])
    with node(machine) as again:
        assert new_member(again).secret()
        rto_s = time.time() - written.killed
    return len(lost), written.killed - min(ends, default=written.killed), rto_s


def recovered_to_the_moment(
    machine: Machine, written: Written, to_moment: list[str], recovered: list[str]
) -> None:
    """What was acknowledged before is there, what began after is not, and a rollback follows."""
    at = written.moment.strftime("%Y-%m-%d %H:%M:%S+00")
    target = [f"--target={at}" if one.startswith("--target=") else one for one in to_moment]
    assert target != to_moment
    machine.as_postgres(target)
    machine.start()
    found, edge = versions(machine), written.moment.timestamp()
    before = {name for name, (_, ended) in written.journal.reset_at.items() if ended < edge - 1}
    after = {name for name, (start, _) in written.journal.reset_at.items() if start > edge + 1}
    assert before
    assert after
    assert {found[name] for name in before} == {2}
    assert {found[name] for name in after} == {1}
    words = [
        written.moment.strftime("%Y-%m-%dT%H:%M:%SZ") if "T08:00" in one else one
        for one in recovered
    ]
    assert words != recovered
    rolled = json.loads(mudra(machine, [*words, "--json"]))
    assert rolled["tokensEnded"] >= 1
    assert rolled["membersNotified"] >= 1
    assert {"entity:secret:reset"} <= {act["event"] for act in rolled["lost"]}
    assert json.loads(mudra(machine, [*words, "--json"]))["already"]
