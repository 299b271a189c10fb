"""A PostgreSQL as an operator runs it: named by MUDRA_DATABASE_URL, not held by the service."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

import psycopg
from tests.support.database.template_database import prepare

from mudra.storage.database.embedded.server import embedded_server


@contextlib.contextmanager
def own_postgres(folder: Path) -> Iterator[str]:
    """Run a migrated, empty database until the end of the block; gives its address."""
    prepare(folder, with_templates=True)
    with embedded_server(folder) as url:
        yield url


def as_superuser(url: str, *statements: str) -> None:
    """Execute statements, each by itself."""
    with psycopg.connect(url, autocommit=True) as connection:
        for statement in statements:
            connection.execute(statement)  # type: ignore[arg-type]  # written in the test
