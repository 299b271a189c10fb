"""The migrations make what storage/ queries, and may be run twice and by two nodes at once."""

import itertools
import re
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import LiteralString

import psycopg
import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from tests.support.database.own_postgres import as_superuser, own_postgres
from tests.support.until import PATIENCE_S, until

from mudra.storage.database.embedded.server import DATABASE, embedded_server
from mudra.storage.database.schema.migrate import HEAD, SchemaBusy, SchemaUnknown, migrate
from mudra.storage.database.schema.upgrade import alembic_config, migrations, upgrade, works_with
from mudra.storage.tables.schema import metadata

LOCK_MS = 1200

RELEASED = sorted((Path(__file__).parent / "released").glob("*.sql"))
RELEASED_HEAD = [
    re.findall(r"public\.(?:alembic|schema)_version VALUES \('(\d+)'\)", file.read_text())[-1]
    for file in RELEASED
]
GIVEN_TO_NO_ONE = "0027"
"""No one runs a release with this schema or an older one: from the next migration on, the release
before works on the schema of each (decision 0134)."""
TAKES_AWAY = re.compile(
    r"DROP (?:TABLE|COLUMN|CONSTRAINT|FUNCTION)|RENAME|SET NOT NULL|ALTER COLUMN \w+ TYPE"
    r"|ADD COLUMN \w+ (?:(?!DEFAULT)[^,;])*NOT NULL(?![^,;]*DEFAULT)",
    re.IGNORECASE,
)
SLOW_VACUUM: tuple[LiteralString, ...] = (
    "ALTER SYSTEM SET autovacuum_naptime = 1",
    "SELECT pg_reload_conf()",
    "SET search_path = public",
    # A page for each row, and a pause of 100 ms for each page.
    "ALTER TABLE status_subscription ALTER language SET STORAGE PLAIN",
    """ALTER TABLE status_subscription SET (
        autovacuum_vacuum_threshold = 1, autovacuum_vacuum_scale_factor = 0,
        autovacuum_vacuum_cost_delay = 100, autovacuum_vacuum_cost_limit = 1
    )""",
    """INSERT INTO status_subscription
       SELECT gen_random_uuid(), n::text, '', repeat('x', 7000), int4send(n), '', false, 0, now()
       FROM generate_series(1, 600) n""",
    "DELETE FROM status_subscription",
)
_MADE_BY_HAND = {"xid", "audit_event_written"}
"""A column, and its index, that only the sealer reads."""
_numbers = itertools.count(1)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server without roles, in which each test has a database."""
    with embedded_server(tmp_path_factory.mktemp("empty") / "data") as url:
        yield url


@pytest.fixture(scope="module")
def migrated_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server with a migrated database to copy."""
    with own_postgres(tmp_path_factory.mktemp("migrated") / "data") as url:
        yield url


@pytest.fixture
def url(server: str) -> str:
    """The address of an empty database."""
    return _own_database(server, "template1")


@pytest.fixture
def migrated(migrated_server: str) -> str:
    """The address of a migrated database."""
    return _own_database(migrated_server, DATABASE)


def _own_database(server: str, template: str) -> str:
    name = f"own_{next(_numbers)}"
    as_superuser(
        server.replace(f"/{DATABASE}?", "/postgres?"), f"CREATE DATABASE {name} TEMPLATE {template}"
    )
    return server.replace(f"/{DATABASE}?", f"/{name}?")


def differences(url: str) -> list[object]:
    engine = sa.create_engine(
        "postgresql+psycopg://", creator=lambda: psycopg.connect(url), poolclass=sa.NullPool
    )

    def ours(thing: object, name: str | None, kind: str, _: bool, __: object) -> bool:
        known = kind != "table" or name in metadata.tables
        return known and not (kind in {"column", "index"} and name in _MADE_BY_HAND)

    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"include_object": ours})
        return list(compare_metadata(context, metadata))


STATUS_INDEX = (
    "CREATE INDEX ix_audit_event_status_change ON public.audit_event (entity_id, seq)"
    " WHERE event = 'entity:status:change'"
)


def test_the_revision_that_a_start_compares_with_is_that_of_the_newest_migration() -> None:
    assert ScriptDirectory.from_config(alembic_config()).get_current_head() == HEAD


def test_the_migrations_make_exactly_the_tables_that_are_queried(url: str) -> None:
    migrate(url)

    assert differences(url) == []


@pytest.mark.parametrize("released", RELEASED, ids=lambda file: file.stem)
def test_a_database_of_each_release_becomes_that_of_this_one(url: str, released: Path) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(released.read_bytes())

    migrate(url)

    assert differences(url) == []


CATALOG = """
SELECT 'function', proname, pg_get_functiondef(oid) FROM pg_proc
WHERE pronamespace = 'public'::regnamespace AND prokind = 'f'
UNION ALL SELECT 'index', indexrelid::regclass::text, pg_get_indexdef(indexrelid) FROM pg_index
JOIN pg_class c ON c.oid = indrelid WHERE c.relnamespace = 'public'::regnamespace
UNION ALL SELECT 'constraint', conrelid::regclass || '.' || conname, pg_get_constraintdef(oid)
FROM pg_constraint WHERE connamespace = 'public'::regnamespace AND contype <> 'n'
UNION ALL SELECT 'column', attrelid::regclass || '.' || attname, attstorage::text
FROM pg_attribute JOIN pg_class c ON c.oid = attrelid
WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND attnum > 0
    AND NOT attisdropped
"""


@pytest.mark.parametrize("released", RELEASED, ids=lambda file: file.stem)
def test_a_database_that_was_upgraded_is_like_a_new_one(
    url: str, migrated: str, released: Path
) -> None:
    """Functions, indexes, constraints and how columns are stored too."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(released.read_bytes())
    migrate(url)

    found = []
    for one in (url, migrated):
        with psycopg.connect(one, options="-c search_path=public") as connection:
            rows = connection.execute(CATALOG).fetchall()
            found.append({row for row in rows if "_20" not in row[1]})  # partitions of days
    assert found[0] == found[1]


def test_a_function_that_runs_as_its_owner_looks_in_no_caller_s_schema(migrated: str) -> None:
    with psycopg.connect(migrated) as connection:
        found = connection.execute(
            "SELECT proname, proconfig FROM pg_proc WHERE prosecdef"
            " AND pronamespace = 'public'::regnamespace"
        ).fetchall()

    assert len(found) == 5
    assert [name for name, settings in found if settings != ["search_path=public, pg_temp"]] == []


@pytest.mark.parametrize("revision", ["0009", "0013", "0026", "0042"])
def test_the_schema_of_a_build_that_was_never_released_is_refused(
    migrated: str, revision: str
) -> None:
    with psycopg.connect(migrated) as connection:
        connection.execute("UPDATE schema_version SET version_num = %s", [revision])
        connection.execute("UPDATE alembic_version SET version_num = '0012'")

    with pytest.raises(SchemaUnknown, match=rf"revision {revision}, .*never released"):
        migrate(migrated)


def test_this_version_s_schema_is_kept_once_it_is_released() -> None:
    changes = Path("CHANGELOG.md").read_text(encoding="utf-8")
    released = set(re.findall(r"^## \[(\d+\.\d+\.\d+)\]", changes, re.MULTILINE))

    assert {file.stem for file in RELEASED} == released


def test_the_release_before_works_on_each_new_schema() -> None:
    new = [one for one in migrations(alembic_config()) if one.revision > GIVEN_TO_NO_ONE]

    late = {one.revision: works_with(one) for one in new if works_with(one) > before(one.revision)}
    assert late == {}


def before(revision: str) -> str:
    """The newest revision of the newest release that did not have this one."""
    return max([GIVEN_TO_NO_ONE, *(head for head in RELEASED_HEAD if head < revision)])


def test_a_new_schema_takes_nothing_away_from_the_release_before() -> None:
    new = [one for one in migrations(alembic_config()) if one.revision > GIVEN_TO_NO_ONE]

    assert [one.revision for one in new if TAKES_AWAY.search(Path(one.path).read_text())] == []


@pytest.mark.parametrize(
    ("statement", "takes_away"),
    [
        ("ALTER TABLE t ADD COLUMN c text NOT NULL", True),
        ("ALTER TABLE t ADD COLUMN c text NOT NULL DEFAULT ''", False),
        ("ALTER TABLE t ADD COLUMN c text", False),
        ("ALTER TABLE t DROP CONSTRAINT k", True),
        ("ALTER TABLE t RENAME COLUMN c TO d", True),
        ("CREATE TABLE t (c text NOT NULL)", False),
    ],
)
def test_what_takes_away_is_recognized(statement: str, *, takes_away: bool) -> None:
    assert bool(TAKES_AWAY.search(statement)) is takes_away


def test_nodes_that_start_at_once_migrate_once(url: str) -> None:
    failures: list[BaseException] = []

    def start() -> None:
        try:
            migrate(url)
        except BaseException as error:  # noqa: BLE001  # handed to the test's thread
            failures.append(error)

    nodes = [threading.Thread(target=start) for _ in range(4)]
    for node in nodes:
        node.start()
    for node in nodes:
        node.join(PATIENCE_S)

    assert failures == []


def test_a_migration_that_gets_no_lock_holds_up_no_one_and_names_who_is_in_the_way(
    url: str,
) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(RELEASED[0].read_bytes())
    with psycopg.connect(url, application_name="pg_dump") as reading:
        reading.execute("SELECT count(*) FROM status_subscription")

        with pytest.raises(SchemaBusy, match=r"in a transaction: process \d+ \(pg_dump, for"):
            upgrade(lambda: _impatient(url), give_up_s=0)

        assert reading.execute("SELECT version_num FROM alembic_version").fetchone() == (
            RELEASED_HEAD[0],
        )
    migrate(url)

    assert differences(url) == []


AN_EVENT = (
    "INSERT INTO public.audit_event (at, event, outcome, actor, entity_id, address, txn_id, reason,"
    " detail) VALUES (now(), 'entity:status:change', 'success', 'a', 'E', '', '', '', '{}')"
)


@pytest.mark.parametrize("left", [False, True], ids=["new", "half built before"])
def test_an_index_of_the_audit_is_built_while_the_audit_is_written(url: str, *, left: bool) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(RELEASED[0].read_bytes())
        if left:
            connection.execute(STATUS_INDEX)
            connection.execute(
                "UPDATE pg_index SET indisvalid = false"
                " WHERE indexrelid = 'public.ix_audit_event_status_change'::regclass"
            )
    with psycopg.connect(url) as earlier, psycopg.connect(url, autocommit=True) as other:
        earlier.execute(AN_EVENT)
        migration = threading.Thread(target=migrate, args=[url])
        migration.start()
        building = (
            "SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
            " AND query ~ '(CREATE|DROP) INDEX CONCURRENTLY'"
        )
        until(lambda: other.execute(building).rowcount > 0)
        other.execute("SET lock_timeout = 500")
        other.execute(AN_EVENT)
        earlier.commit()
        migration.join(PATIENCE_S)

    assert not migration.is_alive()
    assert differences(url) == []
    with psycopg.connect(url) as connection:
        valid = "SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass(%s)"
        name = "public.ix_audit_event_status_change"
        assert connection.execute(valid, [name]).fetchone() == (True,)


def test_an_automatic_vacuum_in_the_way_is_ended_by_the_first_try(tmp_path: Path) -> None:
    """A table with many changes has one under way most of the time, for minutes."""
    with (
        embedded_server(tmp_path / "data") as url,
        psycopg.connect(url, autocommit=True) as connection,
    ):
        connection.execute(RELEASED[0].read_bytes())
        for statement in SLOW_VACUUM:
            connection.execute(statement)
        until(lambda: _is_vacuumed(connection))

        upgrade(lambda: _impatient(url), give_up_s=0)

        assert differences(url) == []


def _is_vacuumed(connection: psycopg.Connection) -> bool:
    found = connection.execute(
        "SELECT count(*) FROM pg_stat_progress_vacuum"
        " WHERE relid = 'public.status_subscription'::regclass"
    ).fetchone()
    return found != (0,)


def test_a_migration_ends_a_deadlock_before_a_request_does_and_is_tried_again(url: str) -> None:
    """It changes status_subscription, then health_webhook; a request locks them the other way."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(RELEASED[0].read_bytes())
    with psycopg.connect(url) as request, psycopg.connect(url, autocommit=True) as other:
        # A request that waits 10 ms less than the migration would look for a deadlock 10 ms after it.
        request.execute("SET deadlock_timeout = '5s'")
        request.execute("SELECT FROM public.health_webhook")
        migration = threading.Thread(target=migrate, args=[url])
        migration.start()
        until(lambda: _waits(other, "health_webhook"), every_s=0.01)
        request.execute("SELECT FROM public.status_subscription")
        request.rollback()
        migration.join(PATIENCE_S)

    assert not migration.is_alive()
    assert differences(url) == []


def _waits(connection: psycopg.Connection, table: str) -> bool:
    """Whether a session waits for a lock on a table."""
    found = connection.execute(
        "SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = to_regclass(%s)",
        [f"public.{table}"],
    ).fetchone()
    return found != (0,)


def _impatient(url: str) -> psycopg.Connection:
    """A connection as a start's, for a migration that gives up after its first try."""
    return psycopg.connect(url, options=f"-c lock_timeout={LOCK_MS}")


@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO entity_secret SELECT 'E', 2, 'current', '', '', now(), now()",
        "INSERT INTO entity_secret SELECT 'E', 2, 'ended', '', '', now(), now() + interval '181 days'",
        (
            "INSERT INTO entity_secret (entity_id, version, state, mac, created_at, expires_at,"
            " grace_days) SELECT 'E', 2, 'grace', '', now(), now(), 8"
        ),
    ],
    ids=["two current secrets", "a secret of 181 days", "a grace of 8 days"],
)
def test_the_database_itself_refuses(migrated: str, statement: str) -> None:
    with psycopg.connect(migrated, autocommit=True) as connection:
        connection.execute("INSERT INTO entity VALUES ('E', 'FIP', 'E', 'active', now())")
        connection.execute(
            "INSERT INTO entity_secret SELECT 'E', 1, 'current', '', '', now(), now()"
        )

        with pytest.raises(psycopg.IntegrityError):
            connection.execute(statement.encode())
