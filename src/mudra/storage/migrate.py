"""Bring the database to the schema of this version, one node at a time (issue 2, item 2)."""

from typing import Final

import psycopg

HEAD: Final = "0041"
"""The newest revision: named here, since finding it loads Alembic and every migration."""


def migrate(conninfo: str) -> str:
    """Run the migrations that are missing, under an advisory lock; returns the revision."""
    with _connect(conninfo) as connection:
        if _revision(connection) == HEAD:
            return HEAD
    from mudra.storage.upgrade import upgrade  # noqa: PLC0415  # loads all of Alembic

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
