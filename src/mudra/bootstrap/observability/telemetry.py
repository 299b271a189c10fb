"""Figures for Prometheus, gathered over all processes of this node.

In a node, import this module only after `use_places` of `shared_metrics.py`: where a value lives is
decided when its metric is made.
"""

import threading
from bisect import bisect_left
from collections import Counter as Counts
from collections.abc import Sequence
from pathlib import Path
from wsgiref.simple_server import WSGIServer

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, start_http_server
from prometheus_client.multiprocess import MultiProcessCollector

from mudra.bootstrap.observability.node_figures import NodeFigures
from mudra.jobs.network_figures import NetworkFiguresCollector
from mudra.shared.unavailable import Outage
from mudra.storage.database.replica import Place

REQUESTS = Counter("mudra_requests_total", "Requests answered", ["path", "method", "status"])


class GatheredHistogram(Histogram):
    """A histogram that takes many values at once: a call for each costs 10 µs."""

    def observe_all(self, values: Sequence[float]) -> None:
        """Observe all of them; a reader sees them as if observed one by one."""
        self._sum.inc(sum(values))
        places = Counts(bisect_left(self._upper_bounds, value) for value in values)
        for place, number in places.items():
            self._buckets[place].inc(number)


SECONDS = GatheredHistogram(
    "mudra_request_seconds",
    "Time to answer a request",
    ["path"],
    buckets=(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5),
)

LOOP_HOLDS = GatheredHistogram(
    "mudra_loop_hold_seconds",
    "How long a worker was kept from its other requests, looked at 20 times a second"
    " while requests arrive",
    buckets=(0.005, 0.01, 0.02, 0.03, 0.05, 0.075, 0.1, 0.25, 0.5, 1, 2.5, 5),
)


RESTARTS = Counter(
    "mudra_process_restarts_total",
    "Processes of this node that were started again, because they died or were hung",
    ["process", "cause"],
)
BUILD_INFO = Gauge(
    "mudra_build_info",
    "Always 1; its labels say which build this node runs, on which schema and PostgreSQL",
    ["version", "schema", "postgresql"],
    multiprocess_mode="livemax",
)
CLOCK_AHEAD = Gauge(
    "mudra_clock_ahead_seconds",
    "How far this machine's clock is ahead of the database's; negative when behind",
    multiprocess_mode="livemostrecent",
)
WITHOUT_DATABASE = Gauge(
    "mudra_tokens_without_database_seconds",
    "For how long entity tokens have been issued from memory since the database went away; 0: not",
    multiprocess_mode="livemax",
)
DATABASE_FAILURES = Counter(
    "mudra_database_failures_total",
    "Transactions that the database did not do, by the cause that /readyz names",
    ["cause"],
)
REPLICA_READS = Counter(
    "mudra_replica_reads_total",
    "Reads for which a replica is set, by where they went: replica, or primary and why",
    ["place"],
)
REPLICA_BEHIND = Gauge(
    "mudra_replica_behind_bytes",
    "Bytes of the primary's log that the replica lacked when the last read began",
    multiprocess_mode="livemostrecent",
)


CREDENTIALS_REFUSED = Counter(
    "mudra_credentials_refused_total",
    "Entity secrets and client assertions that were refused, by reason",
    ["reason"],
)

ISSUES_LOST = Counter(
    "mudra_token_issues_lost_total",
    "Issued entity tokens and refused credentials that the audit lost, since too many waited for"
    " the database",
    ["kind"],
)


def count_refused(reason: str) -> None:
    """Count a refused credential; the reasons are those of the audit."""
    CREDENTIALS_REFUSED.labels(reason).inc()


def count_lost(kind: str) -> None:
    """Count a token or a refusal that its audit lost."""
    ISSUES_LOST.labels(kind).inc()


def count_database_failure(cause: Outage) -> None:
    """Count a transaction that the database did not do."""
    DATABASE_FAILURES.labels(cause.value).inc()


def observe_replica(place: Place, behind: int) -> None:
    """Count a read for which a replica is set."""
    REPLICA_READS.labels(place.value).inc()
    if place in {Place.REPLICA, Place.LATE}:
        REPLICA_BEHIND.set(behind)


def serve_metrics(
    host: str, port: int, telemetry_dir: Path, figures: NodeFigures
) -> tuple[WSGIServer, threading.Thread]:
    """Serve /metrics; raises OSError when the port is taken."""
    registry = CollectorRegistry()
    MultiProcessCollector(registry)  # type: ignore[no-untyped-call]  # the library has no types
    registry.register(NetworkFiguresCollector(telemetry_dir))
    registry.register(figures)
    return start_http_server(port, host, registry)
