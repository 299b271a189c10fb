"""A restore that was cut off: the next one finishes it, and no one uses the database before."""

import json
import os
import signal
from pathlib import Path

import psycopg
import pytest
from tests.support.database.own_postgres import as_superuser
from tests.support.metrics.two_backups import RECEIPTS, Kept
from tests.support.metrics.two_databases import AAS, FIPS, TwoDatabases, a_copy
from tests.support.preloaded_program import ForkedProgram
from tests.support.service import running_service
from tests.support.until import until

pytestmark = pytest.mark.slow

RESTORED = "SELECT detail->>'database' FROM audit_event WHERE event = 'database:backup:restore'"
UNFINISHED = (
    "a restore of this database was not finished: run mudra restore again, or mudra database "
    "recovered --to TIME"
)
FROM_ELSEWHERE = "this database came here from another server: if it was moved whole"


def test_a_restore_killed_at_any_step_is_finished_by_the_next_one(kept: Kept) -> None:
    place = kept.place("killed")

    reached = [
        _killed(kept, place, "killed_first"),
        _killed(kept, place, "killed_second"),
    ]
    # The first database is whole, and nothing has ended that ended since: no one may use it.
    refused = [_refused_start(place), *_refused_backups(kept, place), _refused_move(place)]
    done = json.loads(kept.restore(place, kept.first, kept.metrics).stdout)
    again = json.loads(kept.restore(place, kept.first, kept.metrics).stdout)

    assert reached == [-signal.SIGKILL] * 2
    assert all(UNFINISHED in said for said in refused), refused
    assert (done["already"], again["already"]) == (False, True)
    assert place.rows(place.first, RESTORED) == [(None,), ("metrics",)]
    assert place.rows(place.second, RECEIPTS) == [(kept.receipts,)]
    assert done["membersNotified"] == len(AAS) + len(FIPS)

    # As if the kill had come between the rollback and the record of the metrics.
    as_superuser(place.first, "DELETE FROM service_fact WHERE name = 'metrics-restored'")
    late = json.loads(kept.restore(place, kept.first, kept.metrics).stdout)
    assert (late["already"], late["membersNotified"]) == (False, 0)
    assert place.rows(place.first, RESTORED) == [(None,), ("metrics",), ("metrics",)]
    place.cli("mail", "list")


def _refused_start(place: TwoDatabases) -> str:
    """What a node says that does not start."""
    folder = Path(place.environment["MUDRA_DATA_DIR"])
    with pytest.raises(AssertionError) as said, running_service(folder, **place.environment):
        pass
    return " ".join(str(said.value).split())


def _refused_backups(kept: Kept, place: TwoDatabases) -> list[str]:
    """What backups of both databases and of either say, none of which is made."""
    folder = kept.home / "unfinished"
    words = ("backup", "create", "--to", str(folder), "--recipient", kept.public())
    done = [
        place.cli(*words, *only, check=False)
        for only in ((), ("--only", "first"), ("--only", "metrics"))
    ]
    assert list(folder.iterdir()) == []
    assert [one.exit_code for one in done] == [1, 1, 1]
    return [" ".join(one.output.split()) for one in done]


def _refused_move(place: TwoDatabases) -> str:
    """What is said to one who takes it for a database that was moved whole."""
    done = place.cli("database", "moved", "--nothing-since", check=False)
    assert done.exit_code == 1
    return " ".join(done.output.split())


def _failed_checks(place: TwoDatabases) -> set[str]:
    done = place.cli("doctor", "--json", check=False)
    return {one["check"] for one in json.loads(done.stdout) if not one["ok"]}


def test_a_copy_made_by_hand_is_used_once_its_recovery_was_dealt_with(kept: Kept) -> None:
    first, second = a_copy(kept.of.first, "by_hand"), a_copy(kept.of.second, "by_hand_metrics")
    place = kept.place("hand", first=first, second=second)
    refused = [_refused_start(place), *_refused_backups(kept, place)]
    failed = _failed_checks(place)
    place.cli("database", "recovered", "--to", "2026-11-23T08:00:00Z")
    # As after a fail-over, which begins another timeline of the same tables.
    timeline = "UPDATE service_fact SET value = replace(value, '/00000001/', '/00000000/')"
    as_superuser(first, f"{timeline} WHERE name = 'backup-restored'")
    with running_service(Path(place.environment["MUDRA_DATA_DIR"]), **place.environment):
        pass
    words = ("backup", "create", "--to", str(kept.home / "hand" / "kept"), "--recipient")
    made = place.cli(*words, kept.public(), "--json")

    assert all(FROM_ELSEWHERE in said for said in refused), refused
    assert "restore" in failed
    assert json.loads(made.stdout)["metrics"]
    assert place.rows(first, RESTORED) == [(None,)]
    assert "restore" not in _failed_checks(place)


def _killed(kept: Kept, place: TwoDatabases, loading: str) -> int:
    """Kill a restore as soon as it loads a database; gives its exit code once its sessions are gone.

    One session asks for those of others: to open one takes longer than to ask.
    """
    words = ["restore", kept.first, kept.metrics, "--identity", kept.key]
    run = ForkedProgram(words, {**os.environ, **place.environment})
    with psycopg.connect(kept.of.first, dbname="postgres", autocommit=True) as elsewhere:
        with run.stdout:
            until(lambda: "mudra backup" in _sessions(elsewhere, loading), every_s=0.005)
            run.kill()
            code = run.wait(30)
        until(lambda: not _sessions(elsewhere, "killed_first", "killed_second"))
    return code


def _sessions(elsewhere: psycopg.Connection[tuple[str]], *databases: str) -> list[str]:
    """The programs that are connected to these databases."""
    query = "SELECT application_name FROM pg_stat_activity WHERE datname = ANY(%s)"
    return [name for (name,) in elsewhere.execute(query, [list(databases)])]
