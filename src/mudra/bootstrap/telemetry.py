"""Figures for Prometheus, gathered over all processes of this node.

Import this module only after `PROMETHEUS_MULTIPROC_DIR` is set: the library
decides at import where its values live.
"""

import threading
from bisect import bisect_left
from collections import Counter as Counts
from collections.abc import Sequence
from wsgiref.simple_server import WSGIServer

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, start_http_server
from prometheus_client.multiprocess import MultiProcessCollector

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
MAILS_FAILING = Gauge(
    "mudra_mails_failing",
    "Mails that the mail server refused for good or that have waited for over a day",
    multiprocess_mode="livemax",
)
SIGN_IN_FAILURES = Gauge(
    "mudra_sign_in_failures",
    "Failed sign-ins of the last five minutes, over all names and addresses",
    multiprocess_mode="livemax",
)
JOB_RUNS = Counter("mudra_job_runs_total", "Runs of periodic jobs", ["job", "outcome"])
SUMS_MADE = Counter("mudra_metrics_sums_made_total", "Hours and days of sums made", ["grain"])
RECOUNTS = Counter(
    "mudra_metrics_recounted_total", "Sums compared with raw rows", ["grain", "outcome"]
)
ALARMS = Counter("mudra_health_alarms_total", "Alarms raised and ended", ["kind", "change"])
ALARMS_SILENCED = Counter("mudra_health_alarms_silenced_total", "Alarms that a silence held back")
WEBHOOK_MESSAGES = Counter(
    "mudra_webhook_messages_total", "Messages of alarms sent to webhooks", ["outcome"]
)
_OF_API = ["fip", "api"]
API_REQUESTS = Gauge(
    "mudra_fip_api_requests",
    "Requests of all AAs in the last closed window",
    _OF_API,
    multiprocess_mode="livemostrecent",
)
API_SUCCESS = Gauge(
    "mudra_fip_api_success_ratio",
    "Share of success in the last closed window, 4xx left out",
    _OF_API,
    multiprocess_mode="livemostrecent",
)
API_P50 = Gauge(
    "mudra_fip_api_p50_seconds",
    "Estimated median response time in the last closed window",
    _OF_API,
    multiprocess_mode="livemostrecent",
)
INCIDENTS_OPEN = Gauge(
    "mudra_health_incidents_open", "Incidents not over", multiprocess_mode="livemostrecent"
)
WINDOWS_MISSING = Gauge(
    "mudra_metrics_windows_missing",
    "Payloads of the last closed window not received",
    multiprocess_mode="livemostrecent",
)
LAST_WINDOW = Gauge(
    "mudra_metrics_last_window_seconds",
    "End of the last closed window, seconds since the epoch",
    multiprocess_mode="livemostrecent",
)
MAILS = Counter("mudra_mails_total", "Mails handed to the mail server", ["outcome"])


def serve_metrics(host: str, port: int) -> tuple[WSGIServer, threading.Thread]:
    """Serve /metrics; raises OSError when the port is taken."""
    registry = CollectorRegistry()
    MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
    return start_http_server(port, host, registry)
