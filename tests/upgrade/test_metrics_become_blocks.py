"""The upgrade from 1.0.0 turns metrics into blocks: no sum changes, whatever interrupts it."""

import itertools
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import partial
from multiprocessing import get_context
from pathlib import Path

import psycopg
import pytest
import structlog
from tests.support.database.own_postgres import as_superuser
from tests.support.small_disk import small_disk
from tests.support.until import PATIENCE_S, until
from tests.upgrade.rows_and_blocks import (
    Block,
    Key,
    blocks_in,
    cells_of,
    fill,
    held_reports,
    keys_of,
    new_held,
    new_reports,
    new_sums,
    not_good,
    old_sums,
    recounted,
    replaced_reports,
    reported,
    stale_marks,
    values_of,
    without_late,
    without_versions,
)

from mudra.metrics.payload.catalogue import FIRST_5XX
from mudra.metrics.sums.percentiles import percentile
from mudra.storage.database.embedded.server import DATABASE, embedded_server
from mudra.storage.database.schema.migrate import (
    HEAD,
    Revisions,
    SchemaNeedsMore,
    migrate,
    revisions,
)
from mudra.storage.database.schema.upgrade import alembic_config, migrations

NO_REPORTS = ("metrics_raw_20260123", "metrics_raw_20260303")
"""Days whose reports retention has dropped: of them the sums are all that there is."""
FIRST = datetime(2026, 3, 4, tzinfo=UTC)
"""The first day with reports."""
_numbers = itertools.count(1)


@pytest.fixture(scope="module")
def filled_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server with a database of 1.0.0 to copy."""
    with embedded_server(tmp_path_factory.mktemp("old") / "data") as url:
        fill(url)
        yield url


def a_copy(filled_server: str) -> str:
    """Make a database of 1.0.0 with metrics; gives its address."""
    name = f"old_{next(_numbers)}"
    as_superuser(
        filled_server.replace(f"/{DATABASE}?", "/template1?"),
        f"CREATE DATABASE {name} TEMPLATE {DATABASE}",
    )
    return filled_server.replace(f"/{DATABASE}?", f"/{name}?")


@pytest.fixture
def copy_of_old(filled_server: str) -> Callable[[], str]:
    """Makes databases of 1.0.0 with metrics; gives the address of each."""
    return partial(a_copy, filled_server)


@pytest.fixture
def url(copy_of_old: Callable[[], str]) -> str:
    """The address of a database of 1.0.0 with metrics."""
    return copy_of_old()


@pytest.fixture(scope="module")
def rows(filled_server: str) -> list[Block]:
    """All blocks of a database that was upgraded as it was."""
    return upgraded(a_copy(filled_server))


def drop_old_reports(url: str) -> None:
    """Drop what retention drops first."""
    with psycopg.connect(url, autocommit=True) as connection:
        for name in NO_REPORTS:
            connection.execute(f"DROP TABLE {name}".encode())


def upgraded(url: str) -> list[Block]:
    """All blocks after an upgrade, as they are stored."""
    migrate(url)
    with psycopg.connect(url) as connection:
        return blocks_in(connection)


def test_reports_and_sums_are_those_of_before(url: str) -> None:
    with psycopg.connect(url) as connection:
        every = recounted(reported(connection))
    drop_old_reports(url)
    with psycopg.connect(url) as connection:
        reports = reported(connection)
        of_rows, marks = old_sums(connection), stale_marks(connection)

    rows = upgraded(url)

    assert new_reports(rows) == {key: values_of(block) for key, block in reports.items()}
    found = new_sums(rows)
    # Of days with reports, what was to be made again is new as well.
    assert {key: one for key, one in found.items() if key.at >= FIRST} == recounted(reports)
    outdated = {
        (who, tag, at.date()) for grain, aa, tag, at in marks if grain == "hour" for who in (aa, "")
    }
    valid = {
        key: one
        for key, one in of_rows.items()
        if (key.aa_id, key.tag, key.at.date()) not in outdated
    }
    assert len(valid) > 1000
    assert {key: one for key, one in without_late(found).items() if key in valid} == valid
    # Of days without, all calls of a pair too; the late ones are known by the old cells alone.
    before = {key for key in found if key.at < FIRST}
    assert before == {key for key in every if key.at < FIRST}
    for key in before:
        assert without_late({key: found[key]}) == without_late({key: every[key]})
        assert found[key].late_lower <= every[key].late_lower, key
        assert found[key].late_upper >= every[key].late_upper, key
    assert sum(found[key] == every[key] for key in before) > len(before) * 3 / 4
    with psycopg.connect(url) as connection:
        assert stale_marks(connection) == marks
        left = connection.execute(
            "SELECT count(*) FROM pg_class WHERE relname ~ 'metrics_(raw|hour|day|pair|window)'"
        ).fetchone()
    assert left == (0,)


def test_calls_that_are_not_good_are_stored_besides(rows: list[Block]) -> None:
    found, sums = not_good(rows), new_sums(rows)
    calls = {
        key: one
        for key, one in sums.items()
        if key.tag == "req" and key.aa_id and key.type not in {"sfireqnot", "ffireqnot"}
    }
    failed = {key for key, one in calls.items() if sum(one.counts[FIRST_5XX:]) * 10 > one.counts[0]}
    good = {
        key
        for key, one in calls.items()
        if one.counts[1] == one.counts[0] > 0 and not one.late_upper
    }
    kept = {key._replace(tag="req"): one for key, one in found.items()}
    assert failed
    assert good
    assert failed <= kept.keys()
    assert not good & kept.keys()
    assert {key: one.counts for key, one in kept.items()} == {
        key: calls[key].counts for key in kept
    }


def test_percentiles_of_old_sums_are_near_those_of_their_reports(
    rows: list[Block], url: str
) -> None:
    drop_old_reports(url)

    percentiles = [percentiles_of(found, FIRST) for found in (rows, upgraded(url))]

    assert percentiles[0].keys() == percentiles[1].keys()
    assert len(percentiles[0]) > 500
    near = 0
    for key, (p50, p95, longest) in percentiles[0].items():
        assert percentiles[1][key][2] == longest
        near += percentiles[1][key][:2] == pytest.approx((p50, p95), rel=0.03, abs=1)
    # 1.0.0 estimated the middle of few calls in another way, which its sums still have.
    assert near > len(percentiles[0]) * 0.9


def percentiles_of(rows: list[Block], before: datetime) -> dict[Key, tuple[int, int, int]]:
    """The estimates of p50 and p95 of sums, and their longest times."""
    found = {}
    for row, cells, names in cells_of(rows):
        if row[1] != "window" and row[5] == "req" and row[3] < before:
            estimates = (percentile(cells, percent).tolist() for percent in (50, 95))
            values = zip(*estimates, cells.longest.tolist(), strict=True)
            found |= dict(zip(keys_of(row, cells, names), values, strict=True))
    return found


def test_replaced_and_held_reports_are_kept(url: str) -> None:
    with psycopg.connect(url) as connection:
        replaced = replaced_reports(connection)
        held = held_reports(connection)
    assert {version for version, _ in replaced} == {1, 2}
    assert len(held) > 10

    migrate(url)

    with psycopg.connect(url) as connection:
        found = {
            (version, key): values
            for version in (1, 2)
            for key, values in new_reports(
                connection.execute(
                    "SELECT * FROM metrics_block_previous WHERE report_version = %s", [version]
                ).fetchall()
            ).items()
        }
        assert found == {key: values_of(block) for key, block in replaced.items()}
        assert new_held(connection) == {key: values_of(block) for key, block in held.items()}


def test_sums_over_all_aas_of_the_last_windows_are_to_be_made(url: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(
            "SELECT metrics_partition_make('metrics_raw', now() - interval '1 hour')"
        )
        connection.execute("SELECT metrics_partition_make('metrics_raw', now() - interval '1 day')")
        for age in ("1 hour", "10 hours"):
            connection.execute(
                "INSERT INTO metrics_raw SELECT date_trunc('hour', now() - %s::interval), aa_id,"
                " tag, fip_id, type, counts, pxx, status, data_bytes FROM metrics_raw"
                " WHERE window_at = '2026-03-04 00:00+00'",
                [age],
            )
        row = connection.execute("SELECT date_trunc('hour', now() - interval '1 hour')").fetchone()
        assert row is not None
        before = stale_marks(connection)

    migrate(url)

    with psycopg.connect(url) as connection:
        added = stale_marks(connection) - before
    assert added == {("window", "", tag, row[0]) for tag in ("req", "not")}


def test_hours_and_days_are_those_of_utc_whatever_the_zone_of_the_database(
    rows: list[Block], url: str
) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        name = connection.info.dbname
        connection.execute(f"ALTER DATABASE {name} SET timezone TO 'Asia/Kolkata'".encode())

    assert without_versions(upgraded(url)) == without_versions(rows)


STOP = """
CREATE TABLE stop (at integer);
CREATE SEQUENCE steps;
CREATE FUNCTION stop_there() RETURNS trigger LANGUAGE plpgsql AS $body$
BEGIN
    IF nextval('steps') = (SELECT at FROM stop) THEN
        PERFORM pg_sleep(600);
    END IF;
    RETURN NULL;
END
$body$;
CREATE TRIGGER stop_there AFTER INSERT ON metrics_block EXECUTE FUNCTION stop_there();
CREATE FUNCTION stop_before_drop() RETURNS event_trigger LANGUAGE plpgsql AS $body$
BEGIN
    IF nextval('steps') = (SELECT at FROM stop) THEN
        PERFORM pg_sleep(600);
    END IF;
END
$body$;
CREATE EVENT TRIGGER stop_before_drop ON ddl_command_start WHEN TAG IN ('DROP TABLE')
    EXECUTE FUNCTION stop_before_drop();
"""
GO_ON = """
DROP EVENT TRIGGER stop_before_drop;
DROP TRIGGER stop_there ON metrics_block;
DROP TABLE stop;
"""
SLEEPS = (
    "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'PgSleep'"
)


@pytest.mark.slow
def test_an_upgrade_that_is_killed_again_and_again_goes_on_where_it_was(
    copy_of_old: Callable[[], str],
) -> None:
    whole, url = copy_of_old(), copy_of_old()
    for one in (whole, url):
        drop_old_reports(one)
    expected = upgraded(whole)
    change_the_schema(url)
    with psycopg.connect(url) as connection:
        assert revisions(connection) == Revisions("0011", HEAD)  # 1.0.0 starts on it no more
    stored = []

    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(STOP)
        # In the first piece, in the next, after pieces, before a partition goes, later.
        for steps in (1, 2, 1, 3, 2, 4, 5):
            connection.execute("SELECT setval('steps', 1, false)")
            connection.execute("DELETE FROM stop")
            connection.execute("INSERT INTO stop VALUES (%s)", [steps])
            kill_in_a_step(url, connection)
            stored.append(len(blocks_in(connection)))
        connection.execute(GO_ON)

    assert without_versions(upgraded(url)) == without_versions(expected)
    assert stored == sorted(stored)
    assert len(set(stored)) > 3
    assert stored[0] == 0 < stored[-1] < len(expected)


def kill_in_a_step(url: str, connection: psycopg.Connection) -> None:
    """Start an upgrade and kill it where it stops; its session ends too."""
    upgrade = get_context("fork").Process(target=migrate, args=(url,))
    upgrade.start()
    try:
        until(lambda: not upgrade.is_alive() or connection.execute(SLEEPS).rowcount > 0)
        assert upgrade.is_alive()
    finally:
        upgrade.kill()
        upgrade.join()
    connection.execute(f"SELECT pg_terminate_backend(pid) FROM ({SLEEPS}) one".encode())
    until(lambda: connection.execute(SLEEPS).rowcount == 0)


def change_the_schema(url: str) -> None:
    """Do what an upgrade does that is killed before its first piece."""
    module = migrations(alembic_config())[-1].module
    module.convert = lambda _: None
    with psycopg.connect(url, autocommit=True) as connection:
        module.before(connection)


def test_nodes_that_start_at_once_convert_once_and_another_start_changes_nothing(
    copy_of_old: Callable[[], str],
) -> None:
    expected, url = upgraded(copy_of_old()), copy_of_old()
    failures: list[BaseException] = []

    def start() -> None:
        try:
            migrate(url)
        except BaseException as error:  # noqa: BLE001  # handed to the test's thread
            failures.append(error)

    nodes = [threading.Thread(target=start) for _ in range(3)]
    for node in nodes:
        node.start()
    for node in nodes:
        node.join(PATIENCE_S)

    assert failures == []
    with psycopg.connect(url) as connection:
        first = blocks_in(connection)
    assert without_versions(first) == without_versions(expected)
    assert upgraded(url) == first


def test_its_progress_is_in_the_log(url: str) -> None:
    with structlog.testing.capture_logs() as lines:
        migrate(url)

    steps = [one for one in lines if "done_mb" in one]
    assert "metrics_raw_20260304" in {one["table"] for one in steps}
    assert all(one["piece"] <= one["of_pieces"] and one["left_s"] >= 0 for one in steps)
    assert steps[-1]["done_mb"] == steps[-1]["of_mb"]


@pytest.fixture
def full_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of two megabytes; only root may have one."""
    with small_disk(tmp_path, 2) as disk:
        yield disk


def test_without_room_it_is_refused_before_anything_changes(url: str, full_disk: Path) -> None:
    with psycopg.connect(url) as connection:
        before = revisions(connection)

    with pytest.raises(
        SchemaNeedsMore, match=r"needs 0\.0\d GB on the disk of .* 0\.00 GB are free"
    ):
        migrate(url, full_disk)

    with psycopg.connect(url) as connection:
        assert revisions(connection) == before
        assert len(reported(connection)) > 900
    migrate(url, Path("/"))
