"""The migrations themselves, by Alembic: loaded only where one is missing."""

import time
from collections.abc import Callable, Mapping
from importlib.resources import files
from typing import Final

import psycopg
import sqlalchemy as sa
import structlog
from alembic import command
from alembic.config import Config
from alembic.script import Script, ScriptDirectory

from mudra.storage.database.concurrent_index import build_missing
from mudra.storage.database.migrate import Revisions, SchemaBusy, revisions

GIVE_UP_S: Final = 300.0
_LONGEST_PAUSE_S: Final = 10.0
_LOCK: Final = 0x6D75647261
_IN_THE_WAY: Final = (psycopg.errors.LockNotAvailable, psycopg.errors.DeadlockDetected)
_OLD_SESSIONS: Final = """
SELECT pid, coalesce(nullif(application_name, ''), usename::text),
       extract(epoch FROM clock_timestamp() - xact_start)::int
FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid()
  AND xact_start < clock_timestamp() - interval '1 second'
ORDER BY xact_start LIMIT 3
"""

_log = structlog.get_logger()


def upgrade(
    connect: Callable[[], psycopg.Connection[tuple[object, ...]]], give_up_s: float = GIVE_UP_S
) -> None:
    """Bring the database to the newest revision; nodes that start together wait in turn.

    Each migration is a transaction of its own, which is tried again when it gets no lock in the
    `lock_timeout` of its connection, or was in a deadlock. Indexes of large tables are built
    before the first. Raises SchemaBusy when it had no lock for `give_up_s` seconds.
    """
    engine = sa.create_engine("postgresql+psycopg://", creator=connect, poolclass=sa.NullPool)
    config = alembic_config()
    try:
        build_missing(connect, _indexes(connect, config), give_up_s)
    except psycopg.errors.LockNotAvailable as error:
        raise SchemaBusy(_who_is_in_the_way(connect, give_up_s)) from error
    pause_s, end = 0.5, time.monotonic() + give_up_s
    more = True
    while more:
        try:
            with engine.begin() as transaction:
                more = _migrate_once(transaction, config)
            pause_s, end = 0.5, time.monotonic() + give_up_s
        except sa.exc.OperationalError as error:
            if not isinstance(error.orig, _IN_THE_WAY):
                raise
            if time.monotonic() > end:
                raise SchemaBusy(_who_is_in_the_way(connect, give_up_s)) from error
            _log.warning("a migration waits for a lock", again_in_s=pause_s)
            time.sleep(pause_s)
            pause_s = min(_LONGEST_PAUSE_S, pause_s * 2)


def known_revisions() -> frozenset[str]:
    """Every revision that a migration of this release makes."""
    return frozenset(script.revision for script in migrations(alembic_config()))


def migrations(config: Config) -> list[Script]:
    """Return the migrations, the first of all first."""
    return list(ScriptDirectory.from_config(config).walk_revisions())[::-1]


def works_with(script: Script) -> str:
    """Return the newest revision of the oldest release that works on what a migration makes."""
    return str(getattr(script.module, "works_with", script.revision))


def _indexes(
    connect: Callable[[], psycopg.Connection[tuple[object, ...]]], config: Config
) -> Mapping[str, str]:
    """Return the indexes that missing migrations want to be built before; none if it is empty."""
    with connect() as connection:
        present = revisions(connection).present
    found: dict[str, str] = {}
    for one in migrations(config) if present is not None else ():
        if one.revision > (present or ""):
            found |= getattr(one.module, "indexes", {})
    return found


def alembic_config() -> Config:
    """Return where the migrations are."""
    config = Config()
    config.set_main_option(
        "script_location", str(files("mudra.storage.database").joinpath("migrations"))
    )
    return config


def _migrate_once(transaction: sa.Connection, config: Config) -> bool:
    """Run the next migration, of an empty database all; returns whether there are more."""
    transaction.execute(sa.select(sa.func.pg_advisory_xact_lock(_LOCK)))
    driver = transaction.connection.driver_connection
    assert isinstance(driver, psycopg.Connection)
    found = revisions(driver)
    missing = [one for one in migrations(config) if one.revision > (found.present or "")]
    now = missing if found.present is None else missing[:1]
    if not now:
        return False
    _begin(transaction, found)
    config.attributes["connection"] = transaction
    command.upgrade(config, now[-1].revision)
    oldest = max(found.oldest or "", *(works_with(one) for one in now))
    transaction.execute(sa.text("DELETE FROM alembic_version"))
    transaction.execute(sa.text("INSERT INTO alembic_version VALUES (:oldest)"), {"oldest": oldest})
    if found.present is not None:
        _log.info("schema changed", schema=now[-1].revision, left=len(missing) - len(now))
    return len(missing) > len(now)


def _begin(transaction: sa.Connection, found: Revisions) -> None:
    """Make the two tables of revisions where they are not there yet."""
    for table in ("alembic_version", "schema_version"):
        transaction.execute(
            sa.text(
                f"CREATE TABLE IF NOT EXISTS {table} (version_num varchar(32) NOT NULL"
                f" CONSTRAINT {table}_pkc PRIMARY KEY)"
            )
        )
    if found.present is not None:
        transaction.execute(
            sa.text(
                "INSERT INTO schema_version SELECT :present"
                " WHERE NOT EXISTS (SELECT FROM schema_version)"
            ),
            {"present": found.present},
        )


def _who_is_in_the_way(
    connect: Callable[[], psycopg.Connection[tuple[object, ...]]], waited_s: float
) -> str:
    with connect() as connection:
        sessions = connection.execute(_OLD_SESSIONS).fetchall()
    named = ", ".join(f"process {pid} ({name}, for {age} s)" for pid, name, age in sessions)
    return (
        "the schema cannot be changed: other sessions held locks on its tables for "
        f"{waited_s:.0f} s{f'; in a transaction: {named}' if named else ''}. Let a backup end, or "
        "end the session with pg_terminate_backend, then start again; nodes that run go on"
    )
