"""The backups of a service whose metrics are in a second database, and places to restore them."""

import shutil
from dataclasses import dataclass
from pathlib import Path

from psycopg.conninfo import conninfo_to_dict
from tests.support.database.own_postgres import as_superuser
from tests.support.metrics.two_databases import TwoDatabases, environment_of
from typer.testing import Result


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
