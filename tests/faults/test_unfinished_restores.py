"""A restore that was cut off: the next one finishes it, and no one uses the database before."""

import json
import os
import shutil
import signal
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict
from tests.support.database.own_postgres import as_superuser, own_postgres
from tests.support.members import new_member
from tests.support.preloaded_program import ForkedProgram
from tests.support.process import running_service
from tests.support.until import until
from typer.testing import CliRunner, Result

from mudra.bootstrap.command_line import app

pytestmark = pytest.mark.slow

MEMBERS = 3
RESTORED = "SELECT count(*) FROM audit_event WHERE event = 'database:backup:restore'"
UNFINISHED = (
    "a restore of this database was not finished: run mudra restore again, or mudra database "
    "recovered --to TIME"
)
FROM_ELSEWHERE = "this database came here from another server: if it was moved whole"
CHECKPOINTS = "audit-checkpoints.jsonl"


@dataclass
class Place:
    """A data directory with the master key, and a database."""

    url: str
    environment: dict[str, str]

    @property
    def folder(self) -> Path:
        return Path(self.environment["MUDRA_DATA_DIR"])

    def cli(self, *words: str, check: bool = True) -> Result:
        done = CliRunner().invoke(app, list(words), env=self.environment)
        assert not check or done.exit_code == 0, done.output
        return done

    def wait_until_no_one_is_connected(self) -> None:
        """A server forgets a session some moments after its end."""
        name = conninfo_to_dict(self.url)["dbname"]
        with psycopg.connect(self.url, dbname="elsewhere", autocommit=True) as elsewhere:
            until(lambda: not _sessions(elsewhere, str(name)))

    def count(self, query: str) -> int:
        with psycopg.connect(self.url) as connection:
            row = connection.execute(query.encode()).fetchone()
        return int(row[0]) if row else 0


@dataclass
class Kept:
    """A service that no longer runs, and its backup."""

    of: Place
    home: Path
    file: str
    key: str

    def place(self, name: str, *, template: str = "template0") -> Place:
        """A new database, empty where it is no copy, with the master key."""
        folder = self.home / name
        folder.mkdir(mode=0o700)
        shutil.copy(self.of.folder / "master.key", folder)
        as_superuser(self.of.url, f"CREATE DATABASE {name} TEMPLATE {template}")
        here = conninfo_to_dict(self.of.url)["dbname"]
        url = self.of.url.replace(f"/{here}?", f"/{name}?")
        return Place(url, {"MUDRA_DATA_DIR": str(folder), "MUDRA_DATABASE_URL": url})

    def restore(self, place: Place, *, check: bool = True) -> Result:
        place.wait_until_no_one_is_connected()
        return place.cli("restore", self.file, "--identity", self.key, "--json", check=check)

    def back_up(self, place: Place, to: Path, *, check: bool = True) -> Result:
        public = Path(self.key).read_text().splitlines()[0].rpartition(" ")[2]
        words = ("backup", "create", "--to", str(to), "--recipient", public, "--json")
        return place.cli(*words, check=check)


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kept]:
    home = tmp_path_factory.mktemp("backups")
    with own_postgres(tmp_path_factory.mktemp("db") / "data") as url:
        variables = {"MUDRA_DATA_DIR": str(home / "data"), "MUDRA_DATABASE_URL": url}
        as_superuser(url, "CREATE DATABASE elsewhere TEMPLATE template0")
        with running_service(home / "data", **variables) as service:
            for _ in range(MEMBERS):
                new_member(service)
            of = Place(url, variables)
            of.cli("backup", "key", str(home / "backup.key"))
            made = Kept(of, home, "", str(home / "backup.key"))
            made.file = json.loads(made.back_up(of, home / "kept").stdout)["file"]
        yield made


def test_a_restore_that_ended_at_any_step_is_finished_by_the_next_one(kept: Kept) -> None:
    place = kept.place("cut_off")

    code = _killed(kept, place)
    # What was revoked since is not known: it ends before the rollback, with the database whole.
    (place.folder / CHECKPOINTS).write_text("no checkpoint\n")
    failed = kept.restore(place, check=False)
    refused = [_refused_start(place), _refused_backup(kept, place), _refused_move(place)]
    (place.folder / CHECKPOINTS).unlink()
    done = json.loads(kept.restore(place).stdout)
    again = json.loads(kept.restore(place).stdout)

    assert code == -signal.SIGKILL
    assert failed.exit_code == 1
    assert all(UNFINISHED in said for said in refused), refused
    assert (done["already"], again["already"]) == (False, True)
    assert done["membersNotified"] == MEMBERS
    assert place.count(RESTORED) == 1
    place.cli("mail", "list")


def test_a_copy_made_by_hand_is_used_once_its_recovery_was_dealt_with(kept: Kept) -> None:
    place = kept.place("by_hand", template=str(conninfo_to_dict(kept.of.url)["dbname"]))
    refused = [_refused_start(place), _refused_backup(kept, place)]
    failed = _failed_checks(place)
    place.wait_until_no_one_is_connected()
    place.cli("database", "recovered", "--to", "2026-11-23T08:00:00Z")
    # As after a fail-over, which begins another timeline of the same tables.
    timeline = "UPDATE service_fact SET value = replace(value, '/00000001/', '/00000000/')"
    as_superuser(place.url, f"{timeline} WHERE name = 'backup-restored'")
    with running_service(place.folder, **place.environment):
        pass
    made = kept.back_up(place, place.folder / "kept")

    assert all(FROM_ELSEWHERE in said for said in refused), refused
    assert "restore" in failed
    assert Path(json.loads(made.stdout)["file"]).exists()
    assert place.count(RESTORED) == 1
    assert "restore" not in _failed_checks(place)


def test_a_fail_over_since_the_backup_makes_no_copy_of_it(kept: Kept) -> None:
    """Else a restore into it would do the rollback alone."""
    mark = "UPDATE service_fact SET value = replace(value, '{}', '{}') WHERE name = 'backup'"
    before, after = "/00000001/", "/00000000/"
    as_superuser(kept.of.url, mark.format(before, after))
    try:
        done = kept.restore(kept.of, check=False)
    finally:
        as_superuser(kept.of.url, mark.format(after, before))

    assert "holds a database already" in " ".join(done.output.split())


def _refused_start(place: Place) -> str:
    """What a node says that does not start."""
    with pytest.raises(AssertionError) as said, running_service(place.folder, **place.environment):
        pass
    return " ".join(str(said.value).split())


def _refused_backup(kept: Kept, place: Place) -> str:
    """What a backup says that is not made."""
    folder = kept.home / "unfinished"
    done = kept.back_up(place, folder, check=False)
    assert list(folder.iterdir()) == []
    assert done.exit_code == 1
    return " ".join(done.output.split())


def _refused_move(place: Place) -> str:
    """What is said to one who takes it for a database that was moved whole."""
    place.wait_until_no_one_is_connected()
    done = place.cli("database", "moved", "--nothing-since", check=False)
    assert done.exit_code == 1
    return " ".join(done.output.split())


def _failed_checks(place: Place) -> set[str]:
    done = place.cli("doctor", "--json", check=False)
    return {one["check"] for one in json.loads(done.stdout) if not one["ok"]}


def _killed(kept: Kept, place: Place) -> int:
    """Kill a restore as soon as it loads the database; gives its exit code.

    One session asks for those of others: to open one takes longer than to ask.
    """
    words = ["restore", kept.file, "--identity", kept.key]
    run = ForkedProgram(words, {**os.environ, **place.environment})
    elsewhere = psycopg.connect(kept.of.url, dbname="elsewhere", autocommit=True)
    with elsewhere, run.stdout:
        until(lambda: "mudra backup" in _sessions(elsewhere, "cut_off"), every_s=0.005)
        run.kill()
        return run.wait(30)


def _sessions(elsewhere: psycopg.Connection[Any], database: str) -> list[str]:
    """The programs that are connected to a database."""
    query = "SELECT application_name FROM pg_stat_activity WHERE datname = %s"
    return [name for (name,) in elsewhere.execute(query, [database])]
