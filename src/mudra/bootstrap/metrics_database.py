"""The database of the metrics, for the commands that are about it."""

from collections.abc import Callable

import psycopg

from mudra.bootstrap.config import Settings
from mudra.bootstrap.node.serve import metrics_address, open_server, owner_of, prepare_database
from mudra.cli.local.program import CommandFailed
from mudra.overview.administration import Distribution
from mudra.storage.metrics.apart.distribution import distribution
from mudra.storage.metrics.apart.move import move_metrics


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
