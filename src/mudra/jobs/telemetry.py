"""Prometheus metrics that the jobs set."""

from collections.abc import Iterable
from itertools import product

from prometheus_client import Counter, Gauge

MAILS_FAILING = Gauge(
    "mudra_mails_failing",
    "Mails of the last two days that the mail server refused for good, and mails that have waited"
    " for over a day",
    multiprocess_mode="livemostrecent",
)
SIGN_IN_FAILURES = Gauge(
    "mudra_sign_in_failures",
    "Failed sign-ins of the last five minutes, over all names and addresses",
    multiprocess_mode="livemostrecent",
)
AUDIT_UNSEALED = Gauge(
    "mudra_audit_unsealed_seconds",
    "Age of the oldest audit event that waits for its seal; above 900 sealing has stopped",
    multiprocess_mode="livemax",
)
AUDIT_CONTRADICTED = Gauge(
    "mudra_audit_contradicted",
    "1 when the second place has a checkpoint that the database contradicts",
    multiprocess_mode="livemax",
)
BACKUP_AGE = Gauge(
    "mudra_backup_age_seconds",
    "Age of the last finished mudra backup; before the first one, since MUDRA_BACKUP_RECIPIENTS "
    "was set, absent without it",
    multiprocess_mode="livemostrecent",
)
DISK_FREE = Gauge(
    "mudra_disk_free_bytes",
    "Room on the disk of the data directory, which has the embedded database",
    multiprocess_mode="livemostrecent",
)
JOB_RUNS = Counter("mudra_job_runs_total", "Runs of periodic jobs", ["job", "outcome"])
SUMS_MADE = Counter("mudra_metrics_sums_made_total", "Hours and days of sums made", ["grain"])
RECOUNTS = Counter(
    "mudra_metrics_recounted_total", "Sums compared with reports", ["grain", "outcome"]
)
RECOUNT_PARTS = Counter(
    "mudra_metrics_recount_parts_total",
    "Parts of a recount: compared with reports, or failed in a night",
    ["outcome"],
)
BLOCKS_DAMAGED = Counter(
    "mudra_metrics_damaged_blocks_total",
    "Reads of metrics that met a damaged block, by the grain of the block",
    ["grain"],
)
ALARMS = Counter("mudra_health_alarms_total", "Alarms raised and ended", ["kind", "change"])
ALARMS_SILENCED = Counter("mudra_health_alarms_silenced_total", "Alarms that a silence held back")
WEBHOOK_MESSAGES = Counter(
    "mudra_webhook_messages_total", "Messages of alarms sent to webhooks", ["outcome"]
)
STATUS_WEBHOOK_MESSAGES = Counter(
    "mudra_status_webhook_messages_total",
    "Messages of the public status sent to webhooks of strangers, challenges included",
    ["outcome"],
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
STANDBYS = Gauge(
    "mudra_standbys",
    "Standbys that follow the primary",
    multiprocess_mode="livemostrecent",
)
STANDBY_BEHIND = Gauge(
    "mudra_standby_behind_bytes",
    "Bytes of log that the slowest standby with a slot lacks, those included that do not follow",
    multiprocess_mode="livemostrecent",
)
STANDBY_FAULTS = Gauge(
    "mudra_standby_faults",
    "What is wrong with standbys, as mudra doctor says it: gone, far behind, none to wait for",
    multiprocess_mode="livemostrecent",
)
MAILS = Counter("mudra_mails_total", "Mails handed to the mail server", ["outcome"])


def count_damaged_block(grain: str) -> None:
    """Counts a read that met a damaged block."""
    BLOCKS_DAMAGED.labels(grain).inc()


def count_from_zero(counter: Counter, *labels: Iterable[str]) -> None:
    """Shows 0 for every combination of these values of its labels, in their order.

    Without a first value a dashboard would show "no data", and no rule would see the first
    count: a series that begins at 1 has not increased.
    """
    for values in product(*labels):
        counter.labels(*values).inc(0)
