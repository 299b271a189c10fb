"""Figures for Prometheus, gathered over all processes of this node.

Import this module only after `PROMETHEUS_MULTIPROC_DIR` is set: the library
decides at import where its values live.
"""

import threading
from wsgiref.simple_server import WSGIServer

from prometheus_client import CollectorRegistry, Counter, Histogram, start_http_server
from prometheus_client.multiprocess import MultiProcessCollector, mark_process_dead

REQUESTS = Counter("mudra_requests_total", "Requests answered", ["path", "method", "status"])
SECONDS = Histogram(
    "mudra_request_seconds",
    "Time to answer a request",
    ["path"],
    buckets=(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5),
)
MAILS = Counter("mudra_mails_total", "Mails handed to the mail server", ["outcome"])


def serve_figures(host: str, port: int) -> tuple[WSGIServer, threading.Thread]:
    """Serve /metrics; raises OSError when the port is taken."""
    registry = CollectorRegistry()
    MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
    return start_http_server(port, host, registry)


def forget_process(pid: int) -> None:
    """Drop the live values of a process that has ended."""
    mark_process_dead(pid)  # type: ignore[no-untyped-call]
