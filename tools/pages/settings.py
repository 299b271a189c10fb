"""docs/reference/settings.md: every setting, what to set first, then the others by area."""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Final

from mudra.bootstrap.config import REFERENCE
from mudra.settings.parse import DATABASE
from mudra.settings.settings import Settings

_OF_OTHER_READERS: Final = {
    "MUDRA_MASTER_KEY_COMMAND": (
        "a command that prints the master key (a KMS, say)", "a command line", ""
    ),
    "MUDRA_POSTGRES_BIN": (
        (
            "folder of PostgreSQL 18's programs, for the embedded database and for backups of any; "
            "the newest of Debian's and of those that come with Mudra when not set"
        ),
        "a directory", "",
    ),
    "MUDRA_PASSWORD": ("password of `mudra login`, in place of the prompt", "a text", ""),
    "MUDRA_CONFIG_DIR": (
        "where member commands keep their tokens", "a directory",
        "the user's configuration directory",
    ),
    "MUDRA_PROFILE": (
        "whose sign-ins member commands use: a profile has its own", "letters, digits, `-`, `_`", ""
    ),
}  # fmt: skip
"""Variables that other files read: their meaning, what is allowed, and the default."""
_AREAS: Final[Mapping[str, Sequence[str]]] = {
    "Address, proxy and processes": (
        *("HOST", "PORT", "PLAIN_HTTP", "FORWARDED_HEADER", "PUBLIC_ORIGINS", "REALM_PATHS"),
        *("STOP_PAUSE_S", "SANDBOX"),
    ),
    "Data, database and backups": (
        *("DATA_DIR", "DATABASE_", "TOKENS_WITHOUT_DATABASE_S", "POSTGRES_BIN"),
        *("MASTER_KEY_COMMAND", "BACKUP_", "WATCHED_DISKS"),
    ),
    "How long data is kept": (
        *("METRICS_RAW_DAYS", "METRICS_HOUR_DAYS", "METRICS_DAY_DAYS", "MAIL_DAYS"),
        *("AUDIT_TOKEN_DAYS", "AUDIT_ARCHIVED_DAYS"),
    ),
    "Tokens and keys": (
        *("ADDRESS_BINDING", "TOKEN_", "ENTITY_TOKEN_RATE", "PROOF_RATE", "SIGNING_KEY_BITS"),
        *("KEY_ROTATION_DAYS", "ARGON2_"),
    ),
    "People and sign-in": (
        *("SIGN_IN_", "SECOND_FACTOR", "STEP_UP_", "SSO_", "OPERATOR_LOCAL_SIGN_IN"),
    ),
    "Registry": ("REGISTRY_",),
    "Metrics, alarms and webhooks": ("METRICS_", "HEALTH_", "WEBHOOK_"),
    "Email, public status and languages": (
        *("MAIL_", "STATUS_", "LANGUAGE", "TIME_ZONE", "LOCALES_DIR"),
    ),
    "Audit": ("AUDIT_",),
    "Logs, metrics and traces of the service": ("LOG_LEVEL", "TELEMETRY_", "OTLP_", "TRACE_"),
    "Commands of people": ("PASSWORD", "CONFIG_DIR", "PROFILE"),
}
"""Headings, and how the names below each begin; a name is below the longest that fits."""
_HEAD_OF_ROWS: Final = ("| variable | what | allowed | default |", "|---|---|---|---|")
_PREFIX: Final = "MUDRA_"
_ADDRESS: Final = "the address of a database"
"""In the rows: the address itself is so long that it puts the next column out of sight."""


def settings_page() -> str:
    """Returns the page; raises ValueError for a setting that no heading takes."""
    defaults = {field.name: field.default for field in fields(Settings)}
    rows = {
        one.env: f"| `{one.env}` | {one.meaning} | {one.allowed.replace(DATABASE, _ADDRESS)} | "
        f"{_shown(defaults[name])} |"
        for name, one in REFERENCE.items()
    }
    first = [rows.pop(one.env) for one in REFERENCE.values() if one.first]
    rows |= {
        env: f"| `{env}` | {meaning} | {allowed} | {default} |"
        for env, (meaning, allowed, default) in _OF_OTHER_READERS.items()
    }
    secret = ", ".join(f"`{one.env}`" for one in REFERENCE.values() if one.secret)
    return "\n".join(
        [
            "# Settings",
            "",
            "Made by `make docs` from `mudra.bootstrap.config`. A setting comes from the command",
            "line, else from the environment, else from its default. A wrong value ends the",
            "start with one line that names it. The start and `mudra doctor` name `MUDRA_…`",
            "variables that are none; `mudra config show` lists each setting and where it comes",
            "from.",
            "",
            "## To go live",
            "",
            "`mudra setup` writes those of these for which it has",
            "[an answer](commands.md#mudra-setup). All others have a default that works.",
            f"In the tables, {_ADDRESS} is {DATABASE}.",
            "",
            *_HEAD_OF_ROWS,
            *first,
            (
                "| `MUDRA_MASTER_KEY` | the master key, in place of the file `master.key` in the "
                "data directory | `2:base64,1:base64`, the first is active | |"
            ),
            "",
            "## Secrets in files",
            "",
            "Each setting with a secret has a twin whose name ends in `_FILE`: it names a file",
            "that has the value, at most 64 KiB, whose line end is left out. Set one of the two.",
            "This is for secrets of containers, a mounted Secret of Kubernetes and",
            "`LoadCredential=` of systemd: `MUDRA_MASTER_KEY_FILE=/run/secrets/master-key`.",
            "The settings are",
            f"{secret}, `MUDRA_MASTER_KEY` and `MUDRA_PASSWORD`.",
            "",
            "## Advanced",
            "",
            *_areas(rows),
        ]
    )


def _areas(rows: Mapping[str, str]) -> Sequence[str]:
    """Returns a heading and a table for each area, its names in alphabetical order."""
    of = {env: _area_of(env) for env in sorted(rows)}
    return [
        line
        for area in _AREAS
        for line in (
            *(f"### {area}", "", *_HEAD_OF_ROWS),
            *(rows[env] for env, its in of.items() if its == area),
            "",
        )
    ]


def _area_of(env: str) -> str:
    name = env.removeprefix(_PREFIX)
    found = max(
        (
            (len(begin), area)
            for area, begins in _AREAS.items()
            for begin in begins
            if name.startswith(begin)
        ),
        default=None,
    )
    if found is None:
        raise ValueError(f"{env} is below no heading of the page of settings")
    return found[1]


def _shown(default: object) -> str:
    if default is None or default in ("", ()):
        return ""
    if isinstance(default, tuple):
        return f"`{','.join(map(str, default))}`"
    return f"`{str(default).lower() if isinstance(default, bool) else default}`"
