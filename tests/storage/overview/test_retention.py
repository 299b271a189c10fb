"""Each table has a rule how long its rows are kept, and the job follows it."""

import asyncio
from datetime import timedelta
from pathlib import Path

import psycopg
import pytest

from mudra.bootstrap.dependencies import build_dependencies
from mudra.overview.purge_store import purge_expired
from mudra.overview.retention_store import RULES, Aged, Days
from mudra.settings.settings import Settings
from mudra.storage.crypto.encryption_keys import load_data_encryption
from mudra.storage.tables.schema import metadata

BATCH = 2000

DAYS = Days(mail=90, sums=3650)


def purge(conninfo: str, folder: Path) -> dict[str, int]:
    """Run the job once."""
    encryption = load_data_encryption(conninfo, folder, create=True)
    dependencies = build_dependencies(Settings(data_dir=folder), conninfo, encryption)

    async def act() -> dict[str, int]:
        try:
            return await purge_expired(dependencies.database, DAYS)
        finally:
            await dependencies.database.close()

    return asyncio.run(act())


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The data directory with the master key of the database."""
    return tmp_path_factory.mktemp("keys")


def test_every_table_of_the_database_has_a_rule(conninfo: str) -> None:
    with psycopg.connect(conninfo) as connection:
        found = connection.execute(
            "SELECT relname FROM pg_class WHERE relkind IN ('r', 'p') AND NOT relispartition"
            " AND relnamespace = 'public'::regnamespace"
        ).fetchall()

    assert {str(name) for (name,) in found} == set(RULES)


@pytest.mark.parametrize("name", [name for name, rule in RULES.items() if isinstance(rule, Aged)])
def test_a_rule_is_about_a_time_of_its_own_table(name: str) -> None:
    rule = RULES[name]
    assert isinstance(rule, Aged)

    assert rule.column is metadata.tables[name].c[rule.column.name]
    assert rule.period(DAYS) > timedelta()


def test_rows_over_age_are_deleted_in_batches_and_no_others(conninfo: str, keys: Path) -> None:
    """Emails that were never sent, disabled passwords and open incidents stay, however old."""
    many = 2 * BATCH + 100
    with psycopg.connect(conninfo, autocommit=True) as connection:
        connection.execute(
            "INSERT INTO mail_outbox (mail_id, recipient, subject, sealed_email, created_at,"
            " sent_at, next_attempt_at) SELECT gen_random_uuid(), 'a@b.example', made, '',"
            " now() - cast(age AS interval), CASE WHEN made = 'sent' THEN now() END,"
            " CASE WHEN made = 'waits' THEN now() END FROM (VALUES ('sent', '91 days'),"
            " ('sent', '89 days'), ('waits', '91 days'), ('refused', '91 days')) v (made, age)"
        )
        connection.execute(
            "INSERT INTO token_day SELECT 'E-' || n, current_date - 3651, 1"
            " FROM generate_series(1, %s) n",
            [many],
        )
        connection.execute("INSERT INTO token_day VALUES ('E-1', current_date - 3649, 1)")
        connection.execute(
            "INSERT INTO throttle SELECT sha256(v.n::text::bytea), v.n, now() - interval '366 days'"
            " FROM (VALUES (99), (100)) v (n)"
        )
        # A sign-in that its address's limit refuses leaves a row without a failure and a time.
        connection.execute("INSERT INTO throttle VALUES (sha256('none'), 0, NULL)")
        connection.execute(
            "INSERT INTO node VALUES (gen_random_uuid(), now() - interval '61 minutes'),"
            " (gen_random_uuid(), now() - interval '59 minutes')"
        )

        first, second = purge(conninfo, keys), purge(conninfo, keys)

        left = connection.execute(
            "SELECT (SELECT string_agg(subject, ' ' ORDER BY subject) FROM mail_outbox),"
            " (SELECT count(*) FROM token_day), (SELECT string_agg(failures::text, ' ')"
            " FROM throttle), (SELECT count(*) FROM node WHERE proven_at < now() - interval '1 minute')"
        ).fetchone()

    assert first == {"mail_outbox": 2, "token_day": many, "throttle": 2, "node": 1}
    assert second == {}
    assert left == ("sent waits", 1, "100", 1)


def test_marks_of_a_current_secret_stay_so_that_its_end_is_written_once(
    conninfo: str, keys: Path
) -> None:
    with psycopg.connect(conninfo, autocommit=True) as connection:
        connection.execute("INSERT INTO entity VALUES ('E', 'FIP', 'E', 'active', now())")
        connection.execute(
            "INSERT INTO entity_secret (entity_id, version, state, mac, created_at, expires_at)"
            " SELECT 'E', v, state, sha256(state::bytea), now() - interval '600 days',"
            " now() - interval '420 days' FROM (VALUES (1, 'ended'), (2, 'current')) s (v, state)"
        )
        connection.execute(
            "INSERT INTO secret_reminder SELECT 'E', v, 0, now() - interval '401 days', true"
            " FROM (VALUES (1), (2)) s (v)"
        )

        deleted = purge(conninfo, keys)

        left = connection.execute("SELECT version FROM secret_reminder").fetchall()

    assert deleted == {"secret_reminder": 1}
    assert left == [(2,)]


def test_the_job_of_a_service_deletes_by_its_settings(tmp_path: Path) -> None:
    """Through the front door: `MUDRA_MAIL_DAYS` decides, and the job says what it did."""
    from tests.support.members import new_member  # noqa: PLC0415
    from tests.support.process import running_service  # noqa: PLC0415

    from mudra.storage.database.embedded.server import embedded_server  # noqa: PLC0415

    data = tmp_path / "data"
    with running_service(data, MUDRA_MAIL_DAYS="7") as service:
        member = new_member(service)
        member.reset()
        with embedded_server(data) as url, psycopg.connect(url, autocommit=True) as connection:
            connection.execute("UPDATE mail_outbox SET created_at = now() - interval '8 days'")
            # As an hour later: the slot of this hour has not been done.
            connection.execute("DELETE FROM job_run WHERE name = 'clear-out'")
    with (
        running_service(data, MUDRA_MAIL_DAYS="7") as again,
        embedded_server(data) as url,
        psycopg.connect(url, autocommit=True) as connection,
    ):
        again.wait_until(
            lambda: connection.execute("SELECT count(*) FROM mail_outbox").fetchone() == (0,)
        )
        again.wait_until(lambda: '"mail_outbox"' in (data / "mudra.log").read_text())
