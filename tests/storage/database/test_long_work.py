"""Work that takes long elsewhere, reading a file say, keeps its transaction."""

import asyncio
from pathlib import Path

import pytest
import sqlalchemy as sa

from mudra.bootstrap.dependencies import build_dependencies
from mudra.settings.settings import Settings
from mudra.storage.crypto.encryption_keys import load_data_encryption


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The data directory with the master key of the database."""
    return tmp_path_factory.mktemp("keys")


@pytest.mark.parametrize(("within_s", "idle"), [(3, "30s"), (1800, "30min")])
def test_a_transaction_may_be_idle_as_long_as_it_may_take(
    conninfo: str, keys: Path, within_s: float, idle: str
) -> None:
    encryption = load_data_encryption(conninfo, keys, create=True)
    dependencies = build_dependencies(Settings(data_dir=keys), conninfo, encryption)

    async def shown() -> object:
        async with dependencies.database.transaction(within_s=within_s) as transaction:
            found = await transaction.connection.scalar(
                sa.text("SHOW idle_in_transaction_session_timeout")
            )
        await dependencies.database.close()
        return found

    assert asyncio.run(shown()) == idle
