"""The metrics of standbys are of both databases."""

import asyncio
from collections.abc import Iterator

import pytest
from prometheus_client import REGISTRY
from tests.support.database.own_postgres import as_superuser, own_postgres

from mudra.bootstrap.node.standby_watch import note_standbys


@pytest.fixture(scope="module")
def second(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A second database, with a slot of a standby that does not follow."""
    with own_postgres(tmp_path_factory.mktemp("second") / "data") as url:
        as_superuser(url, "SELECT pg_create_physical_replication_slot('gone', true)")
        yield url


def faults_after(first: str, other: str | None) -> float | None:
    asyncio.run(note_standbys(first, other))
    return REGISTRY.get_sample_value("mudra_standby_faults")


def test_a_standby_of_the_second_database_that_is_gone_is_a_fault(
    conninfo: str, second: str
) -> None:
    assert faults_after(conninfo, None) == 0
    assert faults_after(conninfo, second) == 1
    assert faults_after(second, conninfo) == 1


def test_a_second_database_that_does_not_answer_hides_no_fault_of_the_first(second: str) -> None:
    assert faults_after(second, "host=127.0.0.1 port=1 dbname=none") == 1
