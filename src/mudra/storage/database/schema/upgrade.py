"""The migrations themselves, by Alembic: loaded only where one is missing.

Besides `upgrade` the module of a migration may have

| name | of |
|---|---|
| `works_with` | the newest revision of the oldest release that works on it; else its own |
| `indexes` | indexes by name, built next to what is written, before the first migration |
| `missing` | `(connection, folder)`: says what it lacks, such as room, before anything is changed |
| `before` | `(connection)`: work that commits in pieces, by one node, and goes on after a kill |
"""

import time
from collections.abc import Callable, Mapping
from importlib.resources import files
from pathlib import Path
from typing import Final

import psycopg
import sqlalchemy as sa
import structlog
from alembic import command
from alembic.config import Config
from alembic.script import Script, ScriptDirectory

from mudra.storage.database.schema.concurrent_index import build_missing
from mudra.storage.database.schema.migrate import Revisions, SchemaBusy, SchemaNeedsMore, revisions

GIVE_UP_S: Final = 300.0
_LONGEST_PAUSE_S: Final = 10.0
_LOCK: Final = 0x6D75647261
_ASK_EVERY_S: Final = 2.0
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


Connection = psycopg.Connection[tuple[object, ...]]


def upgrade(
    connect: Callable[[], Connection], give_up_s: float = GIVE_UP_S, folder: Path | None = None
) -> None:
    """Bring the database to the newest revision; nodes that start together wait in turn.

    Each migration is a transaction of its own, which is tried again when it gets no lock in the
    `lock_timeout` of its connection, or was in a deadlock. Indexes of large tables are built
    before the first. Raises SchemaBusy when it had no lock for `give_up_s` seconds, and
    SchemaNeedsMore where a migration lacks something. `folder` is on the disk of the database.
    """
    engine = sa.create_engine("postgresql+psycopg://", creator=connect, poolclass=sa.NullPool)
    config = alembic_config()
    try:
        _require_all(connect, config, folder)
        build_missing(connect, _indexes(connect, config), give_up_s)
    except psycopg.errors.LockNotAvailable as error:
        raise SchemaBusy(_who_is_in_the_way(connect, give_up_s)) from error
    pause_s, end = 0.5, time.monotonic() + give_up_s
    more = True
    while more:
        try:
            worked = _work_before(connect, config)
            if worked:
                end = time.monotonic() + give_up_s
            with engine.begin() as transaction:
                more = _migrate_once(transaction, config, worked)
            pause_s, end = 0.5, time.monotonic() + give_up_s
        except (sa.exc.OperationalError, psycopg.OperationalError) as error:
            said = error.orig if isinstance(error, sa.exc.OperationalError) else error
            if not isinstance(said, _IN_THE_WAY):
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


def _missing(connection: Connection, config: Config) -> list[Script]:
    """Return the migrations that an existing schema lacks; none of an empty database."""
    present = revisions(connection).present
    if present is None:
        return []
    return [one for one in migrations(config) if one.revision > present]


def _indexes(connect: Callable[[], Connection], config: Config) -> Mapping[str, str]:
    """Return the indexes that missing migrations want to be built before."""
    with connect() as connection:
        missing = _missing(connection, config)
    found: dict[str, str] = {}
    for one in missing:
        found |= getattr(one.module, "indexes", {})
    return found


def _require_all(connect: Callable[[], Connection], config: Config, folder: Path | None) -> None:
    """Raise SchemaNeedsMore where a missing migration lacks something."""
    with connect() as connection:
        for one in _missing(connection, config):
            lacks = getattr(one.module, "missing", None)
            if lacks is not None and (said := lacks(connection, folder)):
                raise SchemaNeedsMore(said)


def _work_before(connect: Callable[[], Connection], config: Config) -> str | None:
    """Do what the next migration wants to be done before it; returns its revision if it does.

    Other nodes wait as long as it takes, without a transaction, which would keep old rows.
    """
    connection = connect()
    try:
        connection.autocommit = True
        if _next_work(connection, config) is None:
            return None
        while connection.execute("SELECT pg_try_advisory_lock(%s)", [_LOCK]).fetchone() == (False,):
            _log.info("another node changes the schema", again_in_s=_ASK_EVERY_S)
            time.sleep(_ASK_EVERY_S)
        script = _next_work(connection, config)
        if script is None:
            return None
        script.module.before(connection)
        return script.revision
    finally:
        connection.close()


def _next_work(connection: Connection, config: Config) -> Script | None:
    missing = _missing(connection, config)
    return missing[0] if missing and _wants_work(missing[0]) else None


def _wants_work(script: Script) -> bool:
    return hasattr(script.module, "before")


def alembic_config() -> Config:
    """Return where the migrations are."""
    config = Config()
    config.set_main_option(
        "script_location", str(files("mudra.storage.database").joinpath("migrations"))
    )
    return config


def _migrate_once(transaction: sa.Connection, config: Config, worked: str | None) -> bool:
    """Run the next migration, of an empty database all; returns whether there are more.

    Not one that wants work before it but that of `worked`: another node may have run those before
    it meanwhile.
    """
    transaction.execute(sa.select(sa.func.pg_advisory_xact_lock(_LOCK)))
    driver = transaction.connection.driver_connection
    assert isinstance(driver, psycopg.Connection)
    found = revisions(driver)
    missing = [one for one in migrations(config) if one.revision > (found.present or "")]
    now = missing if found.present is None else missing[:1]
    if not now:
        return False
    if found.present is not None and _wants_work(now[0]) and now[0].revision != worked:
        return True
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


def _who_is_in_the_way(connect: Callable[[], Connection], waited_s: float) -> str:
    with connect() as connection:
        sessions = connection.execute(_OLD_SESSIONS).fetchall()
    named = ", ".join(f"process {pid} ({name}, for {age} s)" for pid, name, age in sessions)
    return (
        "the schema cannot be changed: other sessions held locks on its tables for "
        f"{waited_s:.0f} s{f'; in a transaction: {named}' if named else ''}. Let a backup end, or "
        "end the session with pg_terminate_backend, then start again; nodes that run go on"
    )
