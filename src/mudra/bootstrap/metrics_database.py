"""The database of the metrics, for the commands that are about it."""

from collections.abc import Callable
from typing import Final

import psycopg

from mudra.bootstrap.backup.place import alone, refuse_users
from mudra.bootstrap.config import Settings
from mudra.bootstrap.node.serve import (
    metrics_address,
    open_server,
    owner_of,
    prepare_database,
    prepare_metrics,
)
from mudra.cli.local.program import CommandFailed
from mudra.overview.administration import Distribution
from mudra.overview.backups import MetricsAfter
from mudra.storage.backup.restored_store import look
from mudra.storage.metrics.apart.distribution import distribution
from mudra.storage.metrics.apart.move import move_metrics
from mudra.storage.metrics.apart.pairing import (
    Kinship,
    MetricsMisplaced,
    MetricsUnreachable,
    pair_again,
    pairing_of,
    reaching,
    way_out,
)

_AFTER: Final = {
    Kinship.PAIRED: MetricsAfter.KEPT,
    Kinship.RELATED: MetricsAfter.KEPT,
    Kinship.NEW: MetricsAfter.KEPT,
    Kinship.EMPTY: MetricsAfter.EMPTY,
    Kinship.FOREIGN: MetricsAfter.FOREIGN,
}


def metrics_distribution(settings: Settings) -> Distribution:
    """Return what shares out the metrics to a cluster; reads the catalogue alone."""
    with open_server(settings) as (conninfo, _):
        address = metrics_address(settings) or conninfo
        with psycopg.connect(address, connect_timeout=5) as connection:
            return distribution(connection)


def move_to_second(settings: Settings, on_table: Callable[[str, int], None]) -> dict[str, int]:
    """Move the metrics to the second database, while no node runs; returns rows by table.

    Raises CommandFailed, MetricsMisplaced.
    """
    second = metrics_address(settings, owner=True)
    if second is None:
        raise CommandFailed("name the second database: MUDRA_METRICS_DATABASE_URL")
    prepare_database(settings)
    with open_server(settings) as (conninfo, _):
        return move_metrics(owner_of(settings, conninfo), second, on_table)


def pair_what_is_there(settings: Settings, first: str) -> MetricsAfter:
    """Pair a first database that was restored or recovered with the metrics that it finds.

    Metrics that are away, lost or another's are left as they are: sign-ins end without them.
    """
    second = metrics_address(settings, owner=True)
    if second is None or not pairing_of(first):
        return MetricsAfter.INCLUDED
    try:
        with reaching():
            found = look(second)
            if found.empty:
                return MetricsAfter.EMPTY
            if not found.cluster:
                return MetricsAfter.FOREIGN
            prepare_metrics(settings)
        return _AFTER[pair_again(first, second)]
    except MetricsUnreachable:
        return MetricsAfter.AWAY


def pair_metrics(settings: Settings, *, begin_empty: bool) -> bool:
    """Pair the databases of the settings, after one was recovered, or the second one was lost.

    Returns whether the metrics begin empty. Raises CommandFailed while anything else uses either,
    MetricsMisplaced when they do not fit, MetricsUnreachable.
    """
    second = metrics_address(settings, owner=True)
    if second is None:
        raise CommandFailed("name the second database: MUDRA_METRICS_DATABASE_URL")
    with alone(settings), open_server(settings) as (found, _):
        first = owner_of(settings, found)
        contents = look(first)
        if contents.empty:
            raise CommandFailed("the first database is empty: restore or recover it first")
        if settings.database_url is not None:
            refuse_users("MUDRA_DATABASE_URL", contents)
        with reaching():
            refuse_users("MUDRA_METRICS_DATABASE_URL", look(second))
        prepare_metrics(settings)
        kinship = pair_again(first, second, begin_empty=begin_empty)
        if kinship is Kinship.FOREIGN or (kinship is Kinship.EMPTY and not begin_empty):
            raise MetricsMisplaced(way_out(kinship))
        return kinship is Kinship.EMPTY
