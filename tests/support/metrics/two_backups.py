"""The backups of a service whose metrics are in a second database, and places to restore them."""

import contextlib
import json
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from psycopg.conninfo import conninfo_to_dict
from tests.support.database.own_postgres import as_superuser, own_postgres
from tests.support.metrics.health_network import at_fip
from tests.support.metrics.two_databases import (
    AAS,
    FIPS,
    TwoDatabases,
    a_copy,
    a_network,
    environment_of,
)
from typer.testing import Result

RECEIPTS = "SELECT count(*) FROM metrics_receipt"
ACCEPTED = "SELECT count(*) FROM audit_event WHERE event = 'metrics:report:accept'"


@dataclass
class Kept:
    """A service with metrics apart, and its backups."""

    of: TwoDatabases
    first: str
    metrics: str
    key: str
    home: Path
    receipts: int
    accepted: int
    """Events of pushes in the first database at the backup; those of the last push waited."""

    def database(self, name: str) -> str:
        """Make an empty database."""
        as_superuser(self.of.first, f"CREATE DATABASE {name}")
        database = conninfo_to_dict(self.of.first)["dbname"]
        return self.of.first.replace(f"/{database}?", f"/{name}?")

    def another_first(self, name: str) -> str:
        """Copy the first database; no backup was ever made of it, so it is no unfinished restore."""
        first = a_copy(self.of.first, name)
        as_superuser(first, "DELETE FROM service_fact WHERE name = 'backup'")
        return first

    def place(self, name: str, *, first: str = "", second: str = "") -> TwoDatabases:
        """Give a restore its databases, new and empty where none is named, and the master key."""
        folder = self.home / name
        folder.mkdir(mode=0o700)
        shutil.copy(Path(self.of.environment["MUDRA_DATA_DIR"]) / "master.key", folder)
        first = first or self.database(f"{name}_first")
        second = second or self.database(f"{name}_second")
        return TwoDatabases(first, second, environment_of(str(folder), first, second), "")

    def restore(self, place: TwoDatabases, *files: str, check: bool = True, **more: str) -> Result:
        words = ("restore", *files, "--identity", self.key, "--json")
        return place.cli(*words, check=check, **more)

    def public(self) -> str:
        """The public half of the key."""
        return Path(self.key).read_text().splitlines()[0].rpartition(" ")[2]


@contextlib.contextmanager
def backed_up(home: Path, server: Path) -> Iterator[Kept]:
    """Reports, an open incident, a backup with an audit event under way, and more after it."""
    with own_postgres(server / "data") as first:
        second = a_copy(first, "metrics")
        of = TwoDatabases(first, second, environment_of(str(home / "data"), first, second), "")
        with a_network(of.environment) as network:
            network.report([4, 3], at_fip(FIPS[0], "cns", failing=0.9))
            network.detect()
            accepted = of.rows(first, ACCEPTED)[0][0]
            aa = network.aa(AAS[0])
            assert aa.push(aa.requests(network.window(5))).status_code == 200
            network.detect(carry_over=False)  # all windows are judged, and no mark is kept
            receipts = of.rows(second, RECEIPTS)[0][0]
            key = str(home / "backup.key")
            public = json.loads(of.cli("backup", "key", key, "--json").stdout)["publicKey"]
            words = ("backup", "create", "--to", str(home / "kept"), "--recipient", public)
            made = json.loads(of.cli(*words, "--json").stdout)
            network.report([2, 1], at_fip(FIPS[1], "cns", failing=0.9))
            network.detect()
        yield Kept(of, made["file"], made["metrics"]["file"], key, home, receipts, accepted)
