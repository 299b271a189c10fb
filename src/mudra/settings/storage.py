"""Settings of what is kept: database, data directory, periods, audit and backups."""

from dataclasses import dataclass
from pathlib import Path

from mudra.audit.export.exported_event import ExportDestination, ExportKind
from mudra.settings import parse
from mudra.settings.setting import setting
from mudra.shared.secret_text import SecretText


@dataclass(frozen=True, kw_only=True)
class StorageSettings:
    """Where data is kept, and for how long."""

    # fmt: off
    data_dir: Path = setting("DATA_DIR", Path("var"), Path, "a directory",
        "embedded database, master key, logs")
    database_url: SecretText | None = setting("DATABASE_URL", None,
        parse.secret_url, parse.DATABASE,
        "PostgreSQL 15 or later to use instead of the embedded one", secret=True, first=True)
    database_owner_url: SecretText | None = setting("DATABASE_OWNER_URL", None,
        parse.secret_url, parse.DATABASE,
        "the same database as the role that owns the schema: migrations run as it, "
        "and the role of MUDRA_DATABASE_URL can then neither change the schema nor "
        "the audit", secret=True, first=True)
    database_direct_url: SecretText | None = setting("DATABASE_DIRECT_URL", None,
        parse.secret_url, parse.DATABASE,
        "the same database and user without PgBouncer, for what listens and locks; "
        "with it MUDRA_DATABASE_URL may lead to PgBouncer in transaction mode", secret=True)
    database_replica_url: SecretText | None = setting("DATABASE_REPLICA_URL", None,
        parse.secret_url, parse.DATABASE,
        "a replica of the same database for health pages, audit searches, feeds and "
        "the directory", secret=True)
    database_replica_lag_ms: int = setting("DATABASE_REPLICA_LAG_MS", 200, parse.whole(0, 2000),
        "0 to 2000",
        "how far a replica may be behind: a read waits so long for it to have all that was "
        "committed before, then goes to the primary")
    tokens_without_database_s: int = setting("TOKENS_WITHOUT_DATABASE_S", 0, parse.whole(0, 3600),
        "0 to 3600",
        "how long entity tokens are issued from memory while the database is away; a secret that "
        "was reset, or a suspended entity, may get tokens for so long")
    database_admin_url: SecretText | None = setting("DATABASE_ADMIN_URL", None,
        parse.secret_url, parse.DATABASE,
        "the same database as a superuser, for mudra database prepare alone", secret=True)
    metrics_raw_days: int = setting("METRICS_RAW_DAYS", 90, parse.whole(8, 3650), "8 to 3650",
        "how long reports are kept")
    metrics_hour_days: int = setting("METRICS_HOUR_DAYS", 400, parse.whole(8, 3650), "8 to 3650",
        "how long sums by hour are kept; as long as reports at least")
    metrics_day_days: int = setting("METRICS_DAY_DAYS", 3650, parse.whole(400, 36500),
        "400 to 36500",
        "how long sums by day, closed incidents and counts of tokens by day are kept")
    mail_days: int = setting("MAIL_DAYS", 90, parse.whole(7, 3650), "7 to 3650",
        "how long sent and refused emails are kept")
    audit_token_days: int = setting("AUDIT_TOKEN_DAYS", 400, parse.whole(30, 3650), "30 to 3650",
        "how long the audit keeps each issued entity token; counts by day are kept longer")
    audit_archived_days: int | None = setting("AUDIT_ARCHIVED_DAYS", None, parse.whole(30, 36500),
        "30 to 36500",
        "how long the audit keeps what mudra audit archive has written to a file; always, when "
        "not set")
    audit_checkpoints: str = setting("AUDIT_CHECKPOINTS", "file", parse.second_place,
        "file, file:PATH, directory:PATH, syslog:SOCKET or syslog:HOST:PORT",
        "second place of the audit's checkpoints: a file in the data directory or elsewhere, a "
        "directory such as a mounted object store, or a system log")
    audit_export: ExportDestination | None = setting("AUDIT_EXPORT", None, parse.audit_export,
        "syslog+tls://HOST:PORT, otlp+https://HOST or webhook+https://HOST/PATH; http instead of "
        "https for this machine alone",
        "where events of the audit are sent to as well: syslog (RFC 5424 over TLS), a collector of "
        "OpenTelemetry, or a signed webhook")
    audit_export_ca: Path | None = setting("AUDIT_EXPORT_CA", None, Path, "a file in PEM form",
        "authorities of MUDRA_AUDIT_EXPORT's certificate, in place of those of the system")
    audit_export_identity: Path | None = setting("AUDIT_EXPORT_IDENTITY", None, Path,
        "a file in PEM form",
        "certificate and private key by which the service proves itself to MUDRA_AUDIT_EXPORT")
    audit_export_secret: SecretText | None = setting("AUDIT_EXPORT_SECRET", None, parse.webhook_key,
        "whsec_ and 24 to 64 bytes in base64",
        "key that signs what a webhook of MUDRA_AUDIT_EXPORT is sent", secret=True)
    backup_dir: Path | None = setting("BACKUP_DIR", None, Path, "a directory",
        "where mudra backup create puts backups, unless its option --to says it")
    backup_every_hours: int = setting("BACKUP_EVERY_HOURS", 6, parse.whole(1, 168), "1 to 168",
        "how often a backup is made, by a timer or another way: the alarm of an old one waits an "
        "hour longer")
    watched_disks: tuple[Path, ...] = setting("WATCHED_DISKS", (), parse.directories,
        "absolute paths, separated by commas",
        "whose disks are watched as well, such as that of PostgreSQL's data on this machine")
    backup_recipients: tuple[str, ...] = setting("BACKUP_RECIPIENTS", (), parse.public_keys,
        "keys age1…, separated by commas",
        "public keys to which backups are encrypted, unless the option --recipient names them; "
        "mudra backup key makes a pair", first=True)
    # fmt: on


def storage_fault(settings: StorageSettings) -> str:
    """Return what is wrong with these settings together, empty for nothing."""
    to = settings.audit_export
    if to is not None and to.kind is ExportKind.WEBHOOK and settings.audit_export_secret is None:
        return (
            "MUDRA_AUDIT_EXPORT to a webhook needs MUDRA_AUDIT_EXPORT_SECRET; make one with: "
            "echo whsec_$(openssl rand -base64 32)"
        )
    return ""
