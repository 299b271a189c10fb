"""A database with metrics that stays open, and the commands of mudra metrics next to it."""

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from tests.storage.metrics.summed_store import one_store
from tests.support.database.template_database import prepare
from tests.support.forked_command import run_mudra

from mudra.bootstrap.node.serve import open_store
from mudra.settings.settings import Settings
from mudra.storage.database.roles import OWNER, as_role

DAMAGE = "UPDATE metrics_block SET numbers = set_byte(numbers, 8, 255 - get_byte(numbers, 8))"


class Opened:
    """The database, by the store that fills it, by SQL, and by commands."""

    def __init__(self, data_dir, act, connection):
        self.data_dir, self.act, self.connection = data_dir, act, connection

    def run(self, *words, **variables):
        """A command of mudra metrics."""
        return run_mudra("metrics", *words, MUDRA_DATA_DIR=str(self.data_dir), **variables)

    def shown(self, *words, code=0):
        """What it prints as JSON."""
        done = self.run(*words, "--json")
        assert done.returncode == code, done.stdout + done.stderr
        return json.loads(done.stdout)

    def doctor(self):
        """The check of the doctor."""
        done = run_mudra("doctor", "--json", MUDRA_DATA_DIR=str(self.data_dir))
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
    with (
        open_store(Settings(data_dir=data_dir), create=True) as (conninfo, _),
        psycopg.connect(as_role(conninfo, OWNER), autocommit=True) as connection,
        one_store(conninfo) as act,
    ):
        yield Opened(data_dir, act, connection)
