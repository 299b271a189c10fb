"""Metrics apart: a backup of both databases, and a restore of both or of either alone."""

import json
import shutil
from pathlib import Path

import psycopg
import pytest
from tests.support.database.open_store import OpenStore
from tests.support.database.own_postgres import as_superuser
from tests.support.metrics.health_network import at_fip
from tests.support.metrics.two_backups import ACCEPTED, RECEIPTS, Kept
from tests.support.metrics.two_databases import (
    AAS,
    FIPS,
    TwoDatabases,
    a_copy,
    a_network,
)

from mudra.bootstrap.config import load_settings

pytestmark = pytest.mark.slow

HOW_TO = "docs/how-to/metrics-apart.md"
RESTORED = "SELECT detail->>'database' FROM audit_event WHERE event = 'database:backup:restore'"
WAITS = "SELECT count(*) FROM handover"
TABLES = "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'"
ENDED = "SELECT count(*) FROM user_token WHERE revoked_at IS NOT NULL"


def test_a_backup_has_both_databases_and_each_file_says_which(kept: Kept) -> None:
    words = ("--identity", kept.key, "--json")
    first = json.loads(kept.of.cli("backup", "verify", kept.first, *words).stdout)
    metrics = json.loads(kept.of.cli("backup", "verify", kept.metrics, *words).stdout)

    assert (first["intact"], first["metricsIncluded"], first["metricsOnly"]) == (True, False, False)
    assert (metrics["intact"], metrics["metricsOnly"]) == (True, True)
    assert kept.metrics == kept.first.replace(".dump.age", ".metrics.dump.age")


def test_both_are_restored_and_what_was_under_way_arrives_once(kept: Kept) -> None:
    place = kept.place("both")
    report = json.loads(kept.restore(place, kept.metrics, kept.first).stdout)
    again = json.loads(kept.restore(place, kept.first, kept.metrics).stdout)

    assert (report["metrics"], report["already"], again["already"]) == ("restored", False, True)
    assert report["tokensEnded"] > 0
    assert report["membersNotified"] == len(AAS) + len(FIPS)
    assert place.rows(place.first, RESTORED) == [(None,), ("metrics",)]
    assert place.rows(place.second, RECEIPTS) == [(kept.receipts,)]
    assert place.rows(place.first, ACCEPTED) == [(kept.accepted,)]
    _carry_over(place)
    assert place.rows(place.second, WAITS) == [(0,)]
    assert place.rows(place.first, ACCEPTED) == [(kept.accepted + 1,)]
    refused = place.cli("mail", "list", check=False, MUDRA_METRICS_DATABASE_URL=kept.of.second)
    assert "of another pairing" in refused.output


def _carry_over(place: TwoDatabases) -> None:
    """Hand over what waits, as the job does."""
    store = OpenStore(load_settings(place.environment, {}))
    try:
        store.act(lambda dependencies: dependencies.carry_over())
    finally:
        store.close()


def test_the_first_is_restored_next_to_the_metrics_that_are_there(kept: Kept) -> None:
    second = a_copy(kept.of.second, "there")
    place = kept.place("next_to", second=second)
    receipts = place.rows(second, RECEIPTS)
    report = json.loads(kept.restore(place, kept.first).stdout)

    assert report["metrics"] == "kept"
    assert place.rows(second, RECEIPTS) == receipts
    assert place.rows(place.first, RESTORED) == [(None,)]
    found = f"SELECT count(*) FROM metrics_incident WHERE entity_id = '{FIPS[1]}'"
    assert place.rows(place.first, found) == [(0,)]
    with a_network(place.environment) as network:
        network.advance(10)
        network.report([1], at_fip(FIPS[1], "cns", failing=0.9))
        network.detect()
    assert place.rows(place.first, found) == [(1,)]
    old = place.cli("mail", "list", check=False, MUDRA_DATABASE_URL=kept.of.first)
    assert "of another pairing" in old.output


def test_with_the_second_lost_the_first_is_restored_and_says_how_to_go_on(kept: Kept) -> None:
    place = kept.place("lost")
    away = {"MUDRA_METRICS_DATABASE_URL": place.second.replace("_second?", "_missing?")}
    aside = kept.place("aside")
    unreached = json.loads(kept.restore(aside, kept.first, **away).stdout)
    assert unreached["metrics"] == "away"
    aside.cli("mail", "list", **away)  # as a node, which starts without them

    report = json.loads(kept.restore(place, kept.first).stdout)
    refused = place.cli("mail", "list", check=False)

    assert report["metrics"] == "empty"
    assert refused.exit_code == 1
    assert "restore it by mudra restore" in refused.output
    assert "mudra database pair-metrics --begin-empty" in refused.output

    # The refused start made tables there: the metrics are restored all the same.
    ended = place.rows(place.first, ENDED)
    metrics = json.loads(kept.restore(place, kept.metrics).stdout)
    assert metrics["metrics"] == "restored"
    assert place.rows(place.second, RECEIPTS) == [(kept.receipts,)]
    assert place.rows(place.first, ENDED) == ended
    assert place.rows(place.first, RESTORED) == [(None,), ("metrics",)]
    place.cli("mail", "list")


def test_with_the_second_lost_for_good_the_metrics_begin_empty(kept: Kept) -> None:
    first = kept.another_first("alone")
    place = kept.place("begun", first=first)
    early = place.cli("database", "pair-metrics", check=False)
    assert "is empty" in early.output
    place.cli("database", "pair-metrics", "--begin-empty")

    with a_network(place.environment) as network:
        network.report([2, 1])
        network.detect()
        found = network.ask("/operator/v1/incidents")
    assert found.status_code == 200, found.text
    assert place.rows(place.second, RECEIPTS) == [(2 * 2 * len(AAS),)]
    lost = place.cli("mail", "list", check=False, MUDRA_METRICS_DATABASE_URL=kept.of.second)
    assert "of another pairing" in lost.output
    words = ("backup", "create", "--only", "metrics", "--to", str(kept.home), "--recipient")
    stale = place.cli(*words, kept.public(), check=False, MUDRA_METRICS_DATABASE_URL=kept.of.second)
    assert "of another pairing" in " ".join(stale.output.split())
    late = kept.restore(place, kept.metrics, check=False)
    assert "holds a database already" in late.output


def test_restored_metrics_are_judged_again_and_no_one_gets_a_second_email(kept: Kept) -> None:
    place = kept.place("second", first=a_copy(kept.of.first, "newer"))
    of_fip = "SELECT incident_id, ended IS NULL FROM metrics_incident WHERE entity_id = '{}'"
    known = {fip: place.rows(place.first, of_fip.format(fip)) for fip in FIPS}
    ended = place.rows(place.first, ENDED)
    kept.restore(place, kept.metrics)

    with a_network(place.environment) as network:
        before = network.mails(FIPS[0])
        network.detect()
        assert network.mails(FIPS[0]) == before
        assert network.ask("/operator/v1/incidents").status_code == 200
        network.advance(10)
        network.detect()
        sent = network.mails(FIPS[1])
    assert place.rows(place.first, ENDED) == ended
    assert place.rows(place.first, of_fip.format(FIPS[0])) == known[FIPS[0]]
    # What was seen of the other in windows since is lost with them.
    ((since, is_open),) = known[FIPS[1]]
    assert (is_open, place.rows(place.first, of_fip.format(FIPS[1]))) == (True, [(since, False)])
    assert [one for one in sent if "withdrawn" in one] == sent[-1:]


def test_an_event_that_waited_long_is_sealed_in_its_place(kept: Kept) -> None:
    """Else the proof of the audit would call it dated back."""
    place = kept.place("waited")
    kept.restore(place, kept.first, kept.metrics)
    with psycopg.connect(place.second) as connection:
        connection.execute(
            "UPDATE handover SET body = convert_to(regexp_replace(convert_from(body, 'UTF8'),"
            " '\"at\":\"....', '\"at\":\"2020'), 'UTF8')"
        )
    _carry_over(place)
    late = f"{ACCEPTED} AND at > now() - interval '5 minutes' AND detail->>'noted' LIKE '2020%'"
    assert place.rows(place.first, late) == [(1,)]


@pytest.mark.parametrize("part", ["first", "metrics"])
def test_a_damaged_file_of_either_changes_neither_database(
    kept: Kept, tmp_path: Path, part: str
) -> None:
    files = {"first": Path(kept.first), "metrics": Path(kept.metrics)}
    for name, file in files.items():
        whole = file.read_bytes()
        (tmp_path / file.name).write_bytes(whole[:-200] if name == part else whole)
        description = file.name.replace(".dump.age", ".json")
        shutil.copy(file.with_name(description), tmp_path)
    place = kept.place(f"damaged_{part}")
    given = [str(tmp_path / file.name) for file in files.values()]
    done = kept.restore(place, *given, check=False)

    assert done.exit_code == 1
    assert "another checksum" in done.output
    for address in (place.first, place.second):
        assert place.rows(address, TABLES) == [(0,)]


def test_what_does_not_fit_is_refused_before_anything_changes(kept: Kept) -> None:
    place = kept.place("refused")
    used = kept.place("used")
    refusals = {
        "also when it is away or empty": kept.restore(
            place, kept.first, check=False, MUDRA_METRICS_DATABASE_URL=""
        ),
        "the same database": kept.restore(place, kept.first, kept.first, check=False),
        "leads to the first database": kept.restore(
            place, kept.first, kept.metrics, check=False, MUDRA_METRICS_DATABASE_URL=place.first
        ),
        "the first database is empty": kept.restore(place, kept.metrics, check=False),
        "MUDRA_METRICS_DATABASE_URL holds a database already": kept.restore(
            place, kept.first, kept.metrics, check=False, MUDRA_METRICS_DATABASE_URL=kept.of.second
        ),
        "MUDRA_DATABASE_URL holds a database already": kept.restore(
            place, kept.first, kept.metrics, check=False, MUDRA_DATABASE_URL=kept.of.first
        ),
        "the metrics database did not answer": kept.restore(
            place,
            *(kept.first, kept.metrics),
            check=False,
            MUDRA_METRICS_DATABASE_URL=place.second.replace("_second?", "_missing?"),
        ),
    }
    with psycopg.connect(used.second):
        refusals["1 other sessions use the database of MUDRA_METRICS_DATABASE_URL"] = kept.restore(
            used, kept.first, kept.metrics, check=False
        )
    with psycopg.connect(kept.of.first):
        refusals["1 other sessions use the database of MUDRA_DATABASE_URL"] = kept.restore(
            used, kept.metrics, check=False, MUDRA_DATABASE_URL=kept.of.first
        )

    for text, done in refusals.items():
        assert done.exit_code != 0, text
        assert text in " ".join(done.output.split())
    for address in (place.first, place.second, used.first, used.second):
        assert place.rows(address, TABLES) == [(0,)]


def test_metrics_of_another_service_are_refused(kept: Kept) -> None:
    first = kept.another_first("another")
    as_superuser(first, "UPDATE service_fact SET value = 'other' WHERE name = 'metrics-database'")
    place = kept.place("foreign", first=first)
    done = kept.restore(place, kept.metrics, check=False)
    made = place.cli(
        *("backup", "create", "--to", str(kept.home / "foreign"), "--recipient", kept.public()),
        check=False,
        MUDRA_METRICS_DATABASE_URL=kept.of.second,
    )

    assert "another service than the first database" in " ".join(done.output.split())
    assert place.rows(place.second, TABLES) == [(0,)]
    assert "belongs to another service" in " ".join(made.output.split())
    assert len(list((kept.home / "foreign").glob("*.dump.age"))) == 1


def test_with_the_metrics_away_the_first_is_backed_up_and_the_command_fails(
    kept: Kept, tmp_path: Path
) -> None:
    words = ("backup", "create", "--to", str(tmp_path), "--recipient", kept.public())
    away = {"MUDRA_METRICS_DATABASE_URL": kept.of.second.replace("/metrics?", "/missing?")}
    done = kept.of.cli(*words, check=False, **away)
    unset = kept.of.cli(*words, check=False, MUDRA_METRICS_DATABASE_URL="")
    alone = kept.of.cli(*words, "--only", "metrics", "--json")

    said = " ".join(done.output.split())
    assert done.exit_code == 5
    assert "the metrics are in no backup" in said
    assert "the metrics database did not answer" in said
    assert "set MUDRA_METRICS_DATABASE_URL" in " ".join(unset.output.split())
    assert json.loads(alone.stdout)["metricsOnly"] is True
    assert {one.name.partition(".")[2] for one in tmp_path.iterdir()} == {
        *("dump.age", "json"),
        *("metrics.dump.age", "metrics.json"),
    }


def test_a_fail_over_since_the_backup_makes_no_copy_of_it(kept: Kept) -> None:
    """Else a restore into it would do the rollback alone."""
    mark = "UPDATE service_fact SET value = replace(value, '{}', '{}') WHERE name = 'backup'"
    before, after = "/00000001/", "/00000000/"
    as_superuser(kept.of.first, mark.format(before, after))
    try:
        done = kept.restore(kept.of, kept.first, check=False)
    finally:
        as_superuser(kept.of.first, mark.format(after, before))

    assert "holds a database already" in " ".join(done.output.split())


def test_nothing_is_set_aside_for_a_restore_that_is_refused(kept: Kept) -> None:
    place = kept.place("aside_not")
    cluster = Path(place.environment["MUDRA_DATA_DIR"]) / "postgres"
    cluster.mkdir()
    embedded = {"MUDRA_DATABASE_URL": "", "MUDRA_METRICS_DATABASE_URL": kept.of.second}
    done = kept.restore(place, kept.first, kept.metrics, "--replace", check=False, **embedded)

    assert "MUDRA_METRICS_DATABASE_URL holds a database already" in " ".join(done.output.split())
    assert list(cluster.parent.glob("postgres.before*")) == []


def test_a_description_that_names_the_other_database_is_found_out(
    kept: Kept, tmp_path: Path
) -> None:
    """The dump itself says which database it is of: people would else be among the metrics."""
    file = tmp_path / Path(kept.first).name
    shutil.copy(kept.first, file)
    described = json.loads(Path(kept.first.replace(".dump.age", ".json")).read_text())
    text = json.dumps(described | {"metricsOnly": True})
    Path(str(file).replace(".dump.age", ".json")).write_text(text)
    place = kept.place("mistaken", first=a_copy(kept.of.first, "mistaken_as"))
    done = kept.restore(place, str(file), check=False)

    assert "another backup than the description" in " ".join(done.output.split())
