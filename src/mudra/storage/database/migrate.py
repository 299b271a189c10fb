"""Bring the database to the schema of this version, one node at a time (issue 2, item 2)."""

from typing import Final

import psycopg

HEAD: Final = "0012"
"""The newest revision: named here, since finding it loads Alembic and every migration."""


class SchemaUnknown(Exception):
    """The database is at a revision that this release does not know: a newer one was here."""


def migrate(conninfo: str) -> str:
    """Run the migrations that are missing, under an advisory lock; returns the revision.

    Raises SchemaUnknown when the database is at a revision that no migration here makes.
    """
    with _connect(conninfo) as connection:
        present = _revision(connection)
    if present == HEAD:
        return HEAD
    from mudra.storage.database.upgrade import known_revisions, upgrade  # noqa: PLC0415  # loads all of Alembic

    if present is not None and present not in known_revisions():
        raise SchemaUnknown(
            f"the database is at schema revision {present}, and this release of Mudra knows "
            f"up to {HEAD}: start the release that was last used with it, or a newer one"
        )
    upgrade(lambda: _connect(conninfo))
    return HEAD


def _revision(connection: psycopg.Connection[tuple[object, ...]]) -> object:
    """The revision that the database is at, None when empty; every command asks it first."""
    table = connection.execute("SELECT to_regclass('alembic_version')").fetchone()
    if table is None or table[0] is None:
        return None
    row = connection.execute("SELECT version_num FROM alembic_version").fetchone()
    return row[0] if row else None


def _connect(conninfo: str) -> psycopg.Connection[tuple[object, ...]]:
    return psycopg.connect(conninfo, connect_timeout=5, options="-c lock_timeout=30000")
