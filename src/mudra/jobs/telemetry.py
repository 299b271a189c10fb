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
MAIL_OLDEST_WAITING = Gauge(
    "mudra_mail_oldest_waiting_seconds",
    "Age of the oldest email that the mail server has not taken yet; 0: none waits",
    multiprocess_mode="livemostrecent",
)
SIGN_IN_FAILURES = Gauge(
    "mudra_sign_in_failures",
    "Failed sign-ins of the last five minutes, over all names and addresses",
    multiprocess_mode="livemostrecent",
)
WEAK_KEYS = Gauge(
    "mudra_registry_weak_keys",
    "Keys of entries, live or waiting, that anyone can factor",
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
AUDIT_VERIFIED = Gauge(
    "mudra_audit_verified_timestamp_seconds",
    "When mudra audit verify last found the audit intact; before the first time, when this node"
    " began to watch",
    multiprocess_mode="livemostrecent",
)
AUDIT_VERIFY_FAILED = Gauge(
    "mudra_audit_verification_failed",
    "1 when the last verification of the audit found a fault",
    multiprocess_mode="livemostrecent",
)
AUDIT_EXPORT_WAITING = Gauge(
    "mudra_audit_export_waiting_seconds",
    "Age of the oldest sealed event that MUDRA_AUDIT_EXPORT has not taken; 0: none waits",
    multiprocess_mode="livemostrecent",
)
AUDIT_EXPORTED = Counter(
    "mudra_audit_exported_total", "Events that MUDRA_AUDIT_EXPORT has taken, those twice as two"
)
BACKUP_EVERY = Gauge(
    "mudra_backup_every_seconds",
    "How often a backup is to be made, by MUDRA_BACKUP_EVERY_HOURS",
    multiprocess_mode="livemostrecent",
)
BACKUP_AGE = Gauge(
    "mudra_backup_age_seconds",
    "Age of the last finished mudra backup; before the first one, since MUDRA_BACKUP_RECIPIENTS "
    "was set, absent without it",
    multiprocess_mode="livemostrecent",
)
DISK_FREE = Gauge(
    "mudra_disk_free_bytes",
    "Room on a disk: data (of the data directory, which has the embedded database), log, backup,"
    " and each directory of MUDRA_WATCHED_DISKS",
    ["disk"],
    multiprocess_mode="livemostrecent",
)
CERTIFICATE_DAYS = Gauge(
    "mudra_certificate_days",
    "Days until a certificate ends, of the public address and of databases; NaN: not seen",
    ["server"],
    multiprocess_mode="livemostrecent",
)
SIGNING_KEY_LATE = Gauge(
    "mudra_signing_key_late_seconds",
    "For how long a key that signs has been due for its successor; 0: none is late",
    multiprocess_mode="livemostrecent",
)
SECRETS_ENDING = Gauge(
    "mudra_secrets_ending",
    "Members with a secret that ends within a week, or has ended, so that they get no token",
    multiprocess_mode="livemostrecent",
)
CONNECTIONS = Gauge(
    "mudra_database_connections",
    "Connections to the database by state, of the service's role",
    ["state"],
    multiprocess_mode="livemostrecent",
)
CONNECTIONS_ALLOWED = Gauge(
    "mudra_database_connections_allowed",
    "Connections that PostgreSQL, or the role's own limit, allows the service's role",
    multiprocess_mode="livemostrecent",
)
JOB_RUNS = Counter("mudra_job_runs_total", "Runs of periodic jobs", ["job", "outcome"])
SUMS_MADE = Counter(
    "mudra_metrics_sums_made_total",
    "Sums made of reports, by the length of time that they sum",
    ["grain"],
)
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
    "mudra_health_incidents_open",
    "Incidents that are not over by the evidence, also those that were closed by hand",
    multiprocess_mode="livemostrecent",
)
WINDOWS_EXPECTED = Gauge(
    "mudra_metrics_windows_expected",
    "Payloads that AAs had to send of the last window whose time to report is over",
    multiprocess_mode="livemostrecent",
)
WINDOWS_MISSING = Gauge(
    "mudra_metrics_windows_missing",
    "Payloads not received of the last window whose time to report is over",
    multiprocess_mode="livemostrecent",
)
LAST_WINDOW = Gauge(
    "mudra_metrics_last_window_seconds",
    "End of the last closed window",
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
STANDBY_BEHIND_S = Gauge(
    "mudra_standby_behind_seconds",
    "How old the log is that the slowest standby with a slot lacks",
    multiprocess_mode="livemostrecent",
)
STANDBY_FAULTS = Gauge(
    "mudra_standby_faults",
    "Faults of standbys, as mudra doctor says them: gone, far behind, none to wait for",
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
