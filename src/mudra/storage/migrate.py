"""Bring the database to the schema of this version, one node at a time (issue 2, item 2)."""

from functools import cache
from importlib.resources import files
from typing import Final

import psycopg
import sqlalchemy as sa
from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory

_LOCK: Final = 0x6D75647261


def migrate(conninfo: str) -> str:
    """Run the migrations that are missing, under an advisory lock; returns the revision."""
    head = _head()
    with _connect(conninfo) as connection:
        if _revision(connection) == head:
            return head
    engine = sa.create_engine(
        "postgresql+psycopg://", creator=lambda: _connect(conninfo), poolclass=sa.NullPool
    )
    with engine.begin() as transaction:
        transaction.execute(sa.select(sa.func.pg_advisory_xact_lock(_LOCK)))
        config = _config()
        config.attributes["connection"] = transaction
        command.upgrade(config, "head")
    return head


@cache
def _head() -> str:
    """The newest revision of this version."""
    head = ScriptDirectory.from_config(_config()).get_current_head()
    assert head is not None
    return head


def _revision(connection: psycopg.Connection[tuple[object, ...]]) -> object:
    """The revision that the database is at, None when empty; every command asks it first."""
    table = connection.execute("SELECT to_regclass('alembic_version')").fetchone()
    if table is None or table[0] is None:
        return None
    row = connection.execute("SELECT version_num FROM alembic_version").fetchone()
    return row[0] if row else None


def _connect(conninfo: str) -> psycopg.Connection[tuple[object, ...]]:
    return psycopg.connect(conninfo, connect_timeout=5, options="-c lock_timeout=30000")


def _config() -> Config:
    config = Config()
    config.set_main_option("script_location", str(files("mudra.storage").joinpath("migrations")))
    return config
