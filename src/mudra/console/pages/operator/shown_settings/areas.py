"""The areas of settings, as their page and the reference group them."""

from collections.abc import Mapping, Sequence
from typing import Final

from mudra.localization.language import translatable

_PREFIX: Final = "MUDRA_"
AREAS: Final[Mapping[str, Sequence[str]]] = {
    translatable("Address, proxy and processes"): (
        *("HOST", "PORT", "PLAIN_HTTP", "FORWARDED_HEADER", "PUBLIC_ORIGINS", "REALM_PATHS"),
        *("STOP_PAUSE_S", "SANDBOX", "BASE_URL", "WORKERS", "TRUSTED_PROXIES", "SECURITY_CONTACT"),
    ),
    translatable("Data, database and backups"): (
        *("DATA_DIR", "DATABASE_", "TOKENS_WITHOUT_DATABASE_S", "POSTGRES_BIN"),
        *("MASTER_KEY_COMMAND", "BACKUP_", "WATCHED_DISKS"),
    ),
    translatable("How long data is kept"): (
        *("METRICS_RAW_DAYS", "METRICS_HOUR_DAYS", "METRICS_DAY_DAYS", "MAIL_DAYS"),
        *("AUDIT_TOKEN_DAYS", "AUDIT_ARCHIVED_DAYS"),
    ),
    translatable("Tokens and keys"): (
        *("ADDRESS_BINDING", "TOKEN_", "ENTITY_TOKEN_RATE", "PROOF_RATE", "SIGNING_KEY_BITS"),
        *("KEY_ROTATION_DAYS", "ARGON2_"),
    ),
    translatable("People and sign-in"): (
        *("SIGN_IN_", "SECOND_FACTOR", "STEP_UP_", "SSO_", "OPERATOR_LOCAL_SIGN_IN"),
    ),
    translatable("Registry"): ("REGISTRY_",),
    translatable("Metrics, alarms and webhooks"): ("METRICS_", "HEALTH_", "WEBHOOK_"),
    translatable("Email, public status and languages"): (
        *("MAIL_", "SMTP_URL", "CONTACT", "NETWORK_NAME", "STATUS_"),
        *("LANGUAGE", "TIME_ZONE", "LOCALES_DIR"),
    ),
    translatable("Audit"): ("AUDIT_",),
    translatable("Logs, metrics and traces of the service"): (
        *("LOG_LEVEL", "TELEMETRY_", "OTLP_", "TRACE_"),
    ),
    "Commands of people": ("PASSWORD", "CONFIG_DIR", "PROFILE"),
}
"""Titles, and how the names of each area begin; a name belongs to the longest that fits."""


def area_of(env: str) -> str:
    """Returns the title of a setting's area; raises ValueError for one that no area takes."""
    name = env.removeprefix(_PREFIX)
    found = max(
        (
            (len(begin), area)
            for area, begins in AREAS.items()
            for begin in begins
            if name.startswith(begin)
        ),
        default=None,
    )
    if found is None:
        raise ValueError(f"{env} is in no area: add it to AREAS in {__name__}")
    return found[1]
