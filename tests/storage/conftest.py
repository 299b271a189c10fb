"""A database of its own for each file that stores."""

from collections.abc import Iterator

import pytest
from tests.support.database.template_database import prepare

from mudra.storage.database.embedded.server import embedded_server
from mudra.storage.database.migrate import migrate


@pytest.fixture(scope="module")
def conninfo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("stored") / "data"
    prepare(folder)
    with embedded_server(folder) as address:
        migrate(address)
        yield address
