"""The migrations themselves, by Alembic: loaded only where one is missing."""

from collections.abc import Callable
from importlib.resources import files
from typing import Final

import psycopg
import sqlalchemy as sa
from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory

_LOCK: Final = 0x6D75647261


def upgrade(connect: Callable[[], psycopg.Connection[tuple[object, ...]]]) -> None:
    """Bring the database to the newest revision; nodes that start together wait in turn."""
    engine = sa.create_engine("postgresql+psycopg://", creator=connect, poolclass=sa.NullPool)
    with engine.begin() as transaction:
        transaction.execute(sa.select(sa.func.pg_advisory_xact_lock(_LOCK)))
        config = alembic_config()
        config.attributes["connection"] = transaction
        command.upgrade(config, "head")


def known_revisions() -> frozenset[str]:
    """Every revision that a migration of this release makes."""
    scripts = ScriptDirectory.from_config(alembic_config()).walk_revisions()
    return frozenset(script.revision for script in scripts)


def alembic_config() -> Config:
    """Return where the migrations are."""
    config = Config()
    config.set_main_option(
        "script_location", str(files("mudra.storage.database").joinpath("migrations"))
    )
    return config
