"""What a node does around a fail-over: of a primary that was replaced it believes nothing."""

import asyncio
import os
import signal
import time
from collections.abc import Iterator
from datetime import timedelta

import psycopg
import pytest
from psycopg.conninfo import make_conninfo
from tests.support.database.own_postgres import as_superuser, own_postgres
from tests.support.nodes import Node, Nodes, two_nodes
from tests.support.until import until

from mudra.shared.unavailable import DatabaseUnavailable
from mudra.storage.caching.cache_invalidation import entity_key
from mudra.storage.database.job_runs import PostgresJobRuns
from mudra.storage.database.primary import Lineage, Timeline, connect_to_primary
from mudra.storage.database.schema.roles import SERVICE, as_role
from mudra.storage.database.server.standbys import read_standbys
from mudra.tokens.authentication.secret_check import AuthenticatedEntity
from mudra.tokens.secrets.secret_service import SecretDetails


@pytest.fixture(scope="module")
def nodes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nodes]:
    with two_nodes(tmp_path_factory.mktemp("nodes") / "data") as running:
        yield running


@pytest.fixture
def trading(nodes: Nodes) -> Iterator[Node]:
    """A node that may issue tokens for a minute without a database."""
    with nodes.one_more("trading", tokens_without_database_s=60) as node:
        yield node


def remembered(nodes: Nodes, node: Node, entity_id: str) -> str:
    """Make an entity whose credentials a node has in memory; gives its secret."""
    secret = nodes.do(nodes.a.onboard(entity_id))

    def kept() -> bool:
        assert isinstance(nodes.do(node.check(entity_id, secret)), AuthenticatedEntity)
        return node.cache.get_cached(entity_id) is not None

    until(kept)
    return secret


def backends(nodes: Nodes, application: str) -> list[int]:
    with psycopg.connect(nodes.conninfo) as connection:
        asked = "SELECT pid FROM pg_stat_activity WHERE application_name = %s"
        return [pid for (pid,) in connection.execute(asked, [application])]


@pytest.fixture(scope="module")
def deserted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Nodes, str]]:
    """Two nodes on a server of an operator, and the server's superuser."""
    home = tmp_path_factory.mktemp("deserted")
    with own_postgres(home / "database") as url, two_nodes(home / "nodes", url) as running:
        yield running, url


def test_a_primary_that_its_standby_has_left_proves_nothing(deserted: tuple[Nodes, str]) -> None:
    """As after a fail-over that it does not know of: it answers reads and can commit nothing."""
    nodes, url = deserted
    key = entity_key("F-left-FIP")
    secret = remembered(nodes, nodes.b, "F-left-FIP")

    as_superuser(
        url, "ALTER SYSTEM SET synchronous_standby_names = 'gone'", "SELECT pg_reload_conf()"
    )
    try:
        until(
            lambda: not nodes.b.dependencies.invalidation.is_valid(key), within_s=10, every_s=0.01
        )
        with pytest.raises(DatabaseUnavailable):
            nodes.do(nodes.b.check("F-left-FIP", secret))
    finally:
        as_superuser(url, "ALTER SYSTEM RESET synchronous_standby_names", "SELECT pg_reload_conf()")

    until(lambda: nodes.b.dependencies.invalidation.is_valid(key))
    assert isinstance(nodes.do(nodes.b.check("F-left-FIP", secret)), AuthenticatedEntity)


def test_the_services_role_sees_who_follows(deserted: tuple[Nodes, str]) -> None:
    _, url = deserted
    as_superuser(url, "SELECT pg_create_physical_replication_slot('pg3', true)")
    try:
        found = read_standbys(as_role(url, SERVICE))
    finally:
        as_superuser(url, "SELECT pg_drop_replication_slot('pg3')")

    assert [(slot.name, slot.is_active) for slot in found.slots] == [("pg3", False)]
    assert found.following == 0
    assert "pg3 does not follow" in found.faults()[0]


def test_a_copy_that_is_being_made_is_no_standby(deserted: tuple[Nodes, str]) -> None:
    """It would be missed for a week after it is finished."""
    _, url = deserted
    for name, counted in (("pg_basebackup", 0), ("pg3", 1)):
        replicating = make_conninfo(url, replication="true", application_name=name)
        with psycopg.connect(replicating, autocommit=True):
            until(lambda name=name: name in senders(url))
            assert read_standbys(as_role(url, SERVICE)).following == counted, name


def senders(url: str) -> list[str]:
    with psycopg.connect(url) as connection:
        rows = connection.execute("SELECT application_name FROM pg_stat_replication").fetchall()
    return [str(name) for (name,) in rows]


def test_without_a_database_a_node_that_may_goes_on_from_memory(
    nodes: Nodes, trading: Node
) -> None:
    secret = remembered(nodes, trading, "F-trade-FIP")
    assert isinstance(nodes.do(nodes.b.check("F-trade-FIP", secret)), AuthenticatedEntity)
    away = trading.dependencies.invalidation.without_database
    key = entity_key("F-trade-FIP")

    pids = backends(nodes, "trading")
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)  # as a network that swallows everything
    try:
        until(lambda: not trading.dependencies.invalidation.is_valid(key))
        until(lambda: away.seconds() > 0 or trading.cache.get_cached("F-trade-FIP") is not None)
        verdict = nodes.do(trading.check("F-trade-FIP", secret))
        assert not nodes.b.dependencies.invalidation.without_database.seconds()
    finally:
        for pid in pids:
            os.kill(pid, signal.SIGCONT)

    assert isinstance(verdict, AuthenticatedEntity)
    until(lambda: away.seconds() == 0)
    assert isinstance(nodes.do(nodes.a.reset("F-trade-FIP")), SecretDetails)
    assert not isinstance(nodes.do(trading.check("F-trade-FIP", secret)), AuthenticatedEntity)


def test_the_jobs_do_not_wait_for_a_server_that_hangs(nodes: Nodes) -> None:
    runs = PostgresJobRuns(make_conninfo(nodes.conninfo, application_name="runs"))
    every = timedelta(microseconds=1)  # due each time

    async def run() -> None:
        slot = await runs.begin("fail-over", every, timedelta(0))
        assert slot is not None
        await runs.end("fail-over", slot, "")

    nodes.do(run())
    (pid,) = backends(nodes, "runs")
    os.kill(pid, signal.SIGSTOP)
    try:
        with pytest.raises(DatabaseUnavailable):
            nodes.do(asyncio.wait_for(run(), 10))
    finally:
        os.kill(pid, signal.SIGCONT)
    nodes.do(run())
    nodes.do(runs.close())


def test_a_former_primary_is_refused(nodes: Nodes) -> None:
    """As one of many hosts of an address that still takes sessions."""

    async def connected(lineage: Lineage) -> Timeline:
        connection = await connect_to_primary(nodes.conninfo, lineage, connect_timeout=2)
        await connection.close()
        assert connection.timeline is not None
        return connection.timeline

    here = nodes.do(connected(Lineage()))
    lineage = Lineage()
    lineage.admit(Timeline(here.cluster, (here.number or 0) + 1))

    here_alone = Lineage()
    here_alone.doubted = here
    assert nodes.do(connected(here_alone)) == here  # there is no other

    with pytest.raises(psycopg.OperationalError, match="was followed by"):
        nodes.do(connected(lineage))


def test_a_pool_drops_its_connections_to_a_former_primary(nodes: Nodes) -> None:
    database, lineage = nodes.b.dependencies.database, nodes.b.dependencies.invalidation.lineage
    assert nodes.do(database.outage()) is None
    known = lineage.newest
    assert known is not None

    lineage.admit(Timeline(known.cluster, (known.number or 0) + 1))
    try:
        refused = nodes.do(database.outage())
        took_s = fenced_for(nodes)
    finally:
        lineage.newest = known
        lineage.changed_at = float("-inf")

    assert refused is not None
    assert refused.cause == "superseded"
    assert took_s > 1
    assert nodes.do(database.outage()) is None


def fenced_for(nodes: Nodes) -> float:
    """How long a fence takes that a node raises."""
    invalidation = nodes.b.dependencies.invalidation
    invalidation.lineage.newest = None  # its connection may be this one again
    began = time.monotonic()
    nodes.do(invalidation.fence("entity:F-fence-FIP"))
    return time.monotonic() - began
