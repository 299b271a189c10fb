"""A change waits for a node that has just died; that is no time of the database."""

import asyncio
from pathlib import Path

import psycopg
import pytest
import sqlalchemy as sa

from mudra.bootstrap.dependencies import build_dependencies
from mudra.settings.settings import Settings
from mudra.shared.unavailable import DatabaseUnavailable
from mudra.storage.crypto.encryption_keys import load_data_encryption

ALLOWED_S = 3.0
"""For a transaction."""
DEAD = (
    "INSERT INTO node (node_id, proven_at)"
    " VALUES ('00000000-0000-4000-8000-000000000044', clock_timestamp())"
    " ON CONFLICT (node_id) DO UPDATE SET proven_at = clock_timestamp()"
)


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("keys")


async def change(
    conninfo: str, keys: Path, *, fences: int, work_s: float, before_s: float = 0
) -> float:
    """Change what must not be missed next to a node that died just now; give the seconds waited."""
    dependencies = build_dependencies(
        Settings(data_dir=keys), conninfo, load_data_encryption(conninfo, keys, create=True)
    )
    loop, waited = asyncio.get_running_loop(), 0.0
    try:
        await dependencies.invalidation.start()
        async with dependencies.database.transaction() as transaction:
            for _ in range(4):
                await transaction.connection.execute(sa.select(sa.func.pg_sleep(before_s / 4)))
            for number in range(fences):
                with psycopg.connect(conninfo, autocommit=True) as other:
                    other.execute(DEAD)
                began = loop.time()
                await transaction.changing(f"entity:X-{number}", must_not_be_missed=True)
                waited += loop.time() - began
            for _ in range(4):
                await transaction.connection.execute(sa.select(sa.func.pg_sleep(work_s / 4)))
    finally:
        await dependencies.invalidation.stop()
        await dependencies.database.close()
    return waited


def test_the_wait_for_a_dead_node_is_not_taken_from_the_time_of_the_change(
    conninfo: str, keys: Path
) -> None:
    assert asyncio.run(change(conninfo, keys, fences=4, work_s=0)) > ALLOWED_S


def test_nor_is_it_where_most_of_that_time_is_over(conninfo: str, keys: Path) -> None:
    """Of a busy machine: the time would be over while it waits."""
    before_s = ALLOWED_S * 2 / 3

    waited_s = asyncio.run(change(conninfo, keys, fences=1, work_s=0, before_s=before_s))

    assert before_s + waited_s > ALLOWED_S


def test_a_change_that_takes_too_long_by_itself_is_cut_off(conninfo: str, keys: Path) -> None:
    with pytest.raises(DatabaseUnavailable):
        asyncio.run(change(conninfo, keys, fences=1, work_s=2 * ALLOWED_S))
