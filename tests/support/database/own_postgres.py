"""A PostgreSQL as an operator runs it: named by MUDRA_DATABASE_URL, not held by the service."""

import contextlib
import threading
from collections.abc import Iterator
from pathlib import Path

import psycopg
from tests.support.database.template_database import prepare

from mudra.storage.database.embedded.server import EmbeddedServer


@contextlib.contextmanager
def own_postgres(folder: Path) -> Iterator[str]:
    """Run a migrated, empty database until the end of the block; gives its address.

    It is started again when it ends meanwhile, as a service manager does it.
    """
    prepare(folder, with_templates=True)
    server = EmbeddedServer(folder)
    over = threading.Event()

    def keep() -> None:
        while not over.wait(0.1):
            server.restart()

    url = server.hold()
    keeping = threading.Thread(target=keep, name="keeps PostgreSQL")
    keeping.start()
    try:
        yield url
    finally:
        over.set()
        keeping.join()
        server.leave()


def as_superuser(url: str, *statements: str) -> None:
    """Execute statements, each by itself."""
    with psycopg.connect(url, autocommit=True) as connection:
        for statement in statements:
            connection.execute(statement)
