"""A database with metrics that stays open, and the commands of mudra metrics next to it."""

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from tests.storage.metrics.summed_store import one_store
from tests.support.database.template_database import prepare
from tests.support.store import StoreOfService
from typer.testing import Result

from mudra.bootstrap.node.serve import open_store
from mudra.settings.settings import Settings
from mudra.storage.database.schema.roles import OWNER, as_role

DAMAGE = "UPDATE metrics_block SET numbers = set_byte(numbers, 8, 255 - get_byte(numbers, 8))"


class Opened:
    """The database, by the store that fills it, by SQL, and by commands in this process."""

    def __init__(self, commands: StoreOfService, act, connection):
        self._commands, self.act, self.connection = commands, act, connection

    def run(self, *words: str) -> Result:
        """A command of mudra metrics."""
        return self._commands.cli(("metrics", *words), "")

    def shown(self, *words, code=0):
        """What it prints as JSON."""
        done = self.run(*words, "--json")
        assert done.exit_code == code, done.output
        return json.loads(done.stdout)

    def doctor(self):
        """The check of the doctor."""
        done = self._commands.cli(("doctor", "--json"), "")
        (found,) = [one for one in json.loads(done.stdout) if one["check"] == "metrics blocks"]
        return found["ok"], found["text"]

    def damage(self, **key):
        """Change a byte of the blocks that have this key."""
        where = " AND ".join(f"{name} = %({name})s" for name in key)
        changed = self.connection.execute(f"{DAMAGE} WHERE {where}".encode(), key).rowcount
        assert changed
        return changed


@contextlib.contextmanager
def opened(factory: pytest.TempPathFactory) -> Iterator[Opened]:
    data_dir = Path(factory.mktemp("metrics") / "data")
    prepare(data_dir)
    environment = {"MUDRA_DATA_DIR": str(data_dir)}
    with (
        open_store(Settings(data_dir=data_dir), create=True) as (conninfo, _),
        psycopg.connect(as_role(conninfo, OWNER), autocommit=True) as connection,
        one_store(conninfo) as act,
        contextlib.closing(StoreOfService(environment, kept_open=True)) as commands,
    ):
        yield Opened(commands, act, connection)
