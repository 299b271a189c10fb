"""Bring the database to the schema of this release; the release before goes on (decision 0134).

`schema_version` holds the revision of the schema. `alembic_version` holds the revision of the
oldest release that works on it: a release starts where that is one of its own, so that nodes of
the release before may start again during an upgrade, and after one that is taken back.
"""

from pathlib import Path
from typing import Final, NamedTuple

import psycopg
import structlog

HEAD: Final = "0027"
"""The newest revision: named here, since finding it loads Alembic and every migration."""

LOCK_MS: Final = 1200
"""How long a migration waits for a lock: meanwhile all others wait behind it, who have 1.5 s.

More than the `deadlock_timeout` of PostgreSQL, 1 s: only a session that has waited for so long
ends an automatic vacuum that is in its way, and finds a deadlock before those of requests do.
"""

_log = structlog.get_logger()


class SchemaUnknown(Exception):
    """This release does not work on the schema: a newer one was here that says so."""


class SchemaBusy(Exception):
    """Other sessions held locks on tables that a migration changes, for too long."""


class SchemaNeedsMore(Exception):
    """A migration needs what is not there, such as room on a disk; nothing was changed."""


class Revisions(NamedTuple):
    """The revisions of a database's schema; both None when it is empty."""

    present: str | None
    oldest: str | None
    """The newest revision of the oldest release that works on it."""


def migrate(conninfo: str, folder: Path | None = None) -> None:
    """Run the migrations that are missing, one node at a time.

    `folder` is on the disk of the database, where that is known. A schema of a newer release stays
    as it is where that release says that this one works on it. Raises SchemaUnknown where it does
    not, SchemaBusy after minutes without the locks, and SchemaNeedsMore before anything changes.
    """
    with for_schema(conninfo) as connection:
        found = revisions(connection)
    if found.present == HEAD:
        return
    from mudra.storage.database.schema.upgrade import known_revisions, upgrade  # noqa: PLC0415  # loads all of Alembic

    known = known_revisions()
    if found.present is None or found.present in known:
        upgrade(lambda: for_schema(conninfo), folder=folder)
    elif found.present > HEAD and found.oldest in known:
        _log.warning("the schema is of a newer release", schema=found.present, ours=HEAD)
    else:
        raise SchemaUnknown(
            f"the database is at schema revision {found.present}, which this release of Mudra "
            f"does not know (its own is {HEAD}): start the release that was last used with it, or "
            "a newer one; no release upgrades the database of a build that was never released"
        )


def revisions(connection: psycopg.Connection[tuple[object, ...]]) -> Revisions:
    """Read the revisions of a database; before decision 0134 one table had both."""
    oldest = _revision(connection, "alembic_version")
    return Revisions(_revision(connection, "schema_version") or oldest, oldest)


def _revision(connection: psycopg.Connection[tuple[object, ...]], table: str) -> str | None:
    found = connection.execute("SELECT to_regclass(%s)", [table]).fetchone()
    if found is None or found[0] is None:
        return None
    named = psycopg.sql.Identifier(table)
    query = psycopg.sql.SQL("SELECT version_num FROM {}").format(named)
    row = connection.execute(query).fetchone()
    return str(row[0]) if row else None


def for_schema(conninfo: str) -> psycopg.Connection[tuple[object, ...]]:
    """Connect as one who waits for locks no longer than a migration does."""
    # As an option of the session, which PgBouncer refuses: migrations need the server itself.
    return psycopg.connect(conninfo, connect_timeout=5, options=f"-c lock_timeout={LOCK_MS}")
