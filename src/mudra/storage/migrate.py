"""Bring the database to the schema of this version, one node at a time (issue 2, item 2)."""

from importlib.resources import files
from typing import Final

import psycopg
import sqlalchemy as sa
from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory

_LOCK: Final = 0x6D75647261


def migrate(conninfo: str) -> str:
    """Run the migrations that are missing, under an advisory lock; returns the revision."""
    engine = sa.create_engine(
        "postgresql+psycopg://", creator=lambda: _connect(conninfo), poolclass=sa.NullPool
    )
    config = _config()
    head = ScriptDirectory.from_config(config).get_current_head()
    assert head is not None
    with engine.connect() as connection:
        if MigrationContext.configure(connection).get_current_revision() == head:
            return head
    with engine.begin() as connection:
        connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_LOCK)))
        config.attributes["connection"] = connection
        command.upgrade(config, "head")
    return head


def _connect(conninfo: str) -> psycopg.Connection[tuple[object, ...]]:

    return psycopg.connect(conninfo, connect_timeout=5, options="-c lock_timeout=30000")


def _config() -> Config:
    config = Config()
    config.set_main_option("script_location", str(files("mudra.storage").joinpath("migrations")))
    return config
