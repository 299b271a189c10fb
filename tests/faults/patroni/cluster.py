"""Three machines of Patroni on loopback, by the files of `deploy/patroni` as they are.

Only the network of the addresses (10.0.0) and the roots of the directories are replaced: each
machine is an address of 127.0.0.0/8 of its own.
"""

import contextlib
import os
import shlex
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import httpx2
import psycopg
from tests.support.documents.blocks import blocks_of
from tests.support.http_clients import NO_TLS
from tests.support.programs import program
from tests.unit.deploy.proxies import haproxy_text

from mudra.storage.database.embedded.account import Account, choose_accounts

FILES = Path("deploy/patroni")
FINDING = "target_session_attrs=read-write&load_balance_hosts=random"
SUPERUSER = ("postgres", "change-this-1")


@dataclass
class Machine:
    """One of the three: its etcd, its Patroni and, below that, its PostgreSQL."""

    number: int
    address: str
    home: Path
    processes: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """What Patroni calls it."""
        return f"pg{self.number}"

    @property
    def data(self) -> Path:
        """The directory of its PostgreSQL."""
        return self.home / "postgresql" / "15" / "mudra"

    def postmaster(self) -> int:
        """Process id of its PostgreSQL."""
        return int((self.data / "postmaster.pid").read_text().split()[0])

    def everything(self) -> list[int]:
        """All its processes, parents first."""
        roots = [one.pid for one in self.processes.values() if one.poll() is None]
        with contextlib.suppress(FileNotFoundError):
            roots.append(self.postmaster())
        return [pid for root in roots for pid in [root, *_below(root)]]

    def signal(self, number: signal.Signals) -> None:
        """Signal all its processes: SIGSTOP is a machine that answers nothing any more."""
        for pid in self.everything():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)

    def is_primary(self) -> bool:
        """Whether its PostgreSQL takes writes now."""
        with contextlib.suppress(psycopg.Error), self.connection() as connection:
            row = connection.execute("SELECT NOT pg_is_in_recovery()").fetchone()
            return row == (True,)
        return False

    def connection(self) -> psycopg.Connection[tuple[object, ...]]:
        """Connect as the superuser to this member, whatever it is."""
        return psycopg.connect(self.url("postgres", *SUPERUSER), connect_timeout=2, autocommit=True)

    def url(self, database: str, user: str, password: str) -> str:
        """The address of this member alone."""
        return f"postgresql://{user}:{password}@{self.address}:5432/{database}"


@dataclass
class Cluster:
    """The three machines."""

    home: Path
    network: str
    account: Account
    machines: list[Machine]
    changes: Mapping[str, str] = field(default_factory=dict)
    """Text of the files to what a test needs in its place."""

    def primary(self) -> Machine:
        """The member that Patroni calls the leader, or that takes writes."""
        return next(one for one in self.machines if one.is_primary())

    def url(self, user: str, password: str) -> str:
        """The address of the primary, whichever it is."""
        hosts = ",".join(f"{one.address}:5432" for one in self.machines)
        tls = f"sslmode=verify-full&sslrootcert={self.authority}"
        return f"postgresql://{user}:{password}@{hosts}/mudra?{FINDING}&{tls}"

    @property
    def authority(self) -> Path:
        """The file of the authority of the machines' certificates."""
        return self.home / "ca.crt"

    def make_certificates(self) -> None:
        """Make them by the script of the how-to, and lay them where each machine's files name them."""
        made = self.home / "certificates"
        addresses = [one.address for one in self.machines]
        subprocess.run(["sh", FILES / "certificates.sh", made, *addresses], check=True)
        shutil.copyfile(made / "ca.crt", self.authority)
        self.authority.chmod(0o644)
        for machine in self.machines:
            for user in ("etcd", "patroni"):
                folder = machine.home / f"{user}-tls"
                folder.mkdir(mode=0o700)
                for theirs, ours in (
                    ("ca.crt", "ca.crt"),
                    (f"{machine.address}.crt", "server.crt"),
                    (f"{machine.address}.key", "server.key"),
                ):
                    shutil.copyfile(made / theirs, folder / ours)
                    (folder / ours).chmod(0o600)
                    os.chown(folder / ours, self.account.uid, self.account.gid)
                os.chown(folder, self.account.uid, self.account.gid)

    def text(self, name: str, machine: Machine | None = None) -> str:
        """A file of `deploy/patroni` as it lies on a machine of this test."""
        text = (FILES / name).read_text().replace("10.0.0.", f"{self.network}.")
        for theirs, ours in self.changes.items():
            text = text.replace(theirs, ours)
        if machine is not None:
            text = text.replace("@N@", str(machine.number))
            for theirs, ours in (
                ("/etc/etcd/tls", machine.home / "etcd-tls"),
                ("/etc/patroni/tls", machine.home / "patroni-tls"),
                ("/var/lib/etcd", machine.home / "etcd"),
                ("/var/lib/postgresql", machine.home / "postgresql"),
                ("/var/run/postgresql", machine.home / "run"),
            ):
                text = text.replace(theirs, str(ours))
        return text.replace(f"{self.network}.0/24", "127.0.0.0/8")

    def start_etcd(self, machine: Machine) -> None:
        """Start one machine's etcd."""
        self._start(machine, "etcd", [program("etcd")], self._variables(machine, "etcd.env"))

    def start_patroni(self, machine: Machine) -> None:
        """Start one machine's Patroni, which starts its PostgreSQL."""
        path = machine.home / "config.yml"
        path.write_text(self.text("patroni.yml", machine))
        variables = self._variables(machine, "patroni.env")
        self._start(machine, "patroni", [program("patroni"), str(path)], variables)

    def control(self, *words: str) -> str:
        """Run `patronictl` on the first machine."""
        path = self.machines[0].home / "config.yml"
        done = subprocess.run(
            [control_program(), "-c", str(path), *words],
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
            env=self._variables(self.machines[0], "patroni.env"),
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def members(self) -> dict[str, tuple[str, str]]:
        """Role and state of each member, as any Patroni that answers says."""
        for machine in self.machines:
            with contextlib.suppress(httpx2.TransportError):
                found = httpx2.get(
                    f"http://{machine.address}:8008/cluster", timeout=2, verify=NO_TLS
                )
                return {one["name"]: (one["role"], one["state"]) for one in found.json()["members"]}
        return {}

    def is_whole(self) -> bool:
        """Whether one leads and each of the others may follow it into office."""
        roles = sorted(role for role, state in self.members().values() if state in _GOOD)
        return roles == ["leader", "quorum_standby", "quorum_standby"]

    def wait(self, condition: Callable[[], object], seconds: float, what: str) -> float:
        """Return the seconds until a condition held."""
        began = time.monotonic()
        while not condition():
            assert time.monotonic() - began < seconds, f"{what}\n{self.members()}\n{self.said()}"
            time.sleep(0.05)
        return time.monotonic() - began

    def said(self) -> str:
        """The last lines of every log."""
        logs = sorted(self.home.glob("*/*.log"))
        return "\n".join(f"== {one}\n{one.read_text()[-1500:]}" for one in logs)

    def _variables(self, machine: Machine, name: str) -> dict[str, str]:
        lines = self.text(name, machine).splitlines()
        own = dict(line.split("=", 1) for line in lines if line and not line.startswith("#"))
        common = {"PATH": os.environ["PATH"], "HOME": str(machine.home), "LC_ALL": "C.UTF-8"}
        # The server that Patroni starts archives by it, where a test has such a file.
        return common | {"PGBACKREST_CONFIG": str(machine.home / "pgbackrest.conf")} | own

    def _start(
        self, machine: Machine, name: str, words: list[str], variables: dict[str, str]
    ) -> None:
        with (machine.home / f"{name}.log").open("ab") as log:
            machine.processes[name] = subprocess.Popen(
                [*self.account.prefix, *words],
                stdout=log,
                stderr=log,
                env=variables,
                cwd=machine.home,
            )


_GOOD = ("running", "streaming")


def control_program() -> str:
    """Where `patronictl` is; a test is skipped that cannot have it."""
    return str(Path(program("patroni")).with_name("patronictl"))


@contextlib.contextmanager
def patroni_cluster(home: Path, changes: Mapping[str, str] | None = None) -> Iterator[Cluster]:
    """Run three machines until the end of the block, with files that are changed in these places."""
    for name in ("etcd", "patroni", "postgresql-15"):
        program(name)
    python = Path(program("patroni")).with_name("python3").resolve()
    account = choose_accounts(home, home / "none", python.parent).initdb
    number = os.getpid()
    network = f"127.{100 + number % 100}.{number // 100 % 250}"
    machines = [Machine(one, f"{network}.{one}", home / f"m{one}") for one in (1, 2, 3)]
    cluster = Cluster(home, network, account, machines, changes or {})
    for machine in machines:
        for folder in (
            machine.home,
            *(machine.home / one for one in ("etcd", "postgresql", "run")),
        ):
            folder.mkdir(mode=0o700)
            os.chown(folder, account.uid, account.gid)
    cluster.make_certificates()
    try:
        for machine in machines:
            cluster.start_etcd(machine)
        for machine in machines:
            cluster.start_patroni(machine)
        cluster.wait(cluster.is_whole, 120, "the cluster does not start")
        yield cluster
    finally:
        for machine in machines:
            machine.signal(signal.SIGKILL)
            for process in machine.processes.values():
                process.wait(30)
        for machine in machines:
            machine.signal(signal.SIGKILL)
            shutil.rmtree(machine.home / "run", ignore_errors=True)


@contextlib.contextmanager
def haproxy(cluster: Cluster) -> Iterator[str]:
    """Run the example for the machines of Mudra; gives its host and port."""
    place = f"{cluster.network}.100:5000"
    path = cluster.home / "haproxy.cfg"
    text = haproxy_text(cluster.text("haproxy.cfg"))
    assert "127.0.0.1:5000" in text
    path.write_text(text.replace("127.0.0.1:5000", place))
    process = subprocess.Popen([program("haproxy"), "-db", "-f", str(path)])
    try:
        yield place
    finally:
        process.kill()
        process.wait(20)


def documented(document: Path, heading: str) -> list[list[str]]:
    """The commands of the code blocks below a heading of a how-to, as words."""
    blocks = [one.body for one in blocks_of(document.as_posix()) if one.heading == heading]
    lines = "".join(blocks).replace("\\\n", " ").splitlines()
    return [shlex.split(line, comments=True) for line in lines if line.strip()]


def _below(pid: int) -> list[int]:
    found: list[int] = []
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            for child in (task / "children").read_text().split():
                found += [int(child), *_below(int(child))]
    return found
