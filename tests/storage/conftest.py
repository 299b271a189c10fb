"""A database of its own for each file that stores."""

import os
import uuid
from collections.abc import Iterator

import psycopg
import pytest
from tests.support.database.template_database import prepare

from mudra.storage.database.embedded.server import embedded_server
from mudra.storage.database.schema.migrate import migrate

SERVER = os.environ.get("MUDRA_TESTS_SERVER", "")
"""Address of another PostgreSQL, as its superuser: of another version, say."""


@pytest.fixture(scope="module")
def conninfo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    if SERVER:
        name = f"stored_{uuid.uuid4().hex}"
        with psycopg.connect(SERVER, autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}".encode())
        address = SERVER.replace("/postgres?", f"/{name}?")
        migrate(address)
        yield address
        return
    folder = tmp_path_factory.mktemp("stored") / "data"
    prepare(folder)
    with embedded_server(folder) as address:
        migrate(address)
        yield address
