"""What is wrong with standbys is a metric."""

import asyncio

from prometheus_client import REGISTRY
from tests.support.database.own_postgres import as_superuser

from mudra.bootstrap.watching.watch_jobs import StandbyWatch


def faults_of(conninfo: str) -> float | None:
    asyncio.run(StandbyWatch(conninfo).note())
    return REGISTRY.get_sample_value("mudra_standby_faults")


def test_a_standby_that_is_gone_is_a_fault(conninfo: str) -> None:
    assert faults_of(conninfo) == 0

    as_superuser(conninfo, "SELECT pg_create_physical_replication_slot('gone', true)")
    try:
        assert faults_of(conninfo) == 1
    finally:
        as_superuser(conninfo, "SELECT pg_drop_replication_slot('gone')")
