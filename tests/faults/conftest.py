"""What files of fault tests share."""

from collections.abc import Iterator

import pytest
from tests.support.metrics.two_backups import Kept, backed_up


@pytest.fixture(scope="session")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kept]:
    """The backups of two databases; a test names its places as no other one does."""
    with backed_up(tmp_path_factory.mktemp("backups"), tmp_path_factory.mktemp("db")) as made:
        yield made
