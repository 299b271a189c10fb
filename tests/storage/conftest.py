"""A database of its own for each file that stores."""

from collections.abc import Iterator

import pytest

from mudra.storage.embedded import embedded_server
from mudra.storage.migrate import migrate


@pytest.fixture(scope="module")
def conninfo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with embedded_server(tmp_path_factory.mktemp("stored") / "data") as address:
        migrate(address)
        yield address
