"""docs/reference/settings.md: every setting, what to set first, then the others by area."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Final

from mudra.bootstrap.config import REFERENCE
from mudra.console.pages.operator.shown_settings.areas import AREAS, area_of
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
        "`~/.config/mudra`, of macOS `~/Library/Application Support/mudra`",
    ),
    "MUDRA_PROFILE": (
        "whose sign-ins member commands use: a profile has its own", "letters, digits, `-`, `_`", ""
    ),
}  # fmt: skip
"""Variables that other files read: their meaning, what is allowed, and the default."""
_TASKS: Final[Mapping[str, Sequence[str]]] = {
    "put the service behind a proxy": ("BASE_URL", "TRUSTED_PROXIES", "FORWARDED_HEADER"),
    "use a PostgreSQL of your own": ("DATABASE_URL", "DATABASE_OWNER_URL", "DATABASE_DIRECT_URL"),
    "make backups": ("BACKUP_DIR", "BACKUP_RECIPIENTS", "BACKUP_EVERY_HOURS"),
    "keep the master key elsewhere": ("MASTER_KEY", "MASTER_KEY_COMMAND"),
    "send emails": ("SMTP_URL", "MAIL_FROM", "CONTACT", "NETWORK_NAME"),
    "have operators sign in by your own provider": ("SSO_ISSUER", "SSO_CLIENT_ID", "SSO_SCOPES"),
    "ask for a second factor": ("SECOND_FACTOR", "SECOND_FACTOR_TOKENS", "STEP_UP_MINUTES"),
    "refuse credentials from addresses that are not listed": ("ADDRESS_BINDING",),
    "send webhooks into your own network": ("WEBHOOK_NETWORKS", "WEBHOOK_PORTS"),
    "have incidents escalated": ("HEALTH_ESCALATION_MINUTES", "HEALTH_ESCALATION_TO"),
    "keep data longer": ("METRICS_RAW_DAYS", "METRICS_HOUR_DAYS", "METRICS_DAY_DAYS"),
    "watch the service itself": ("TELEMETRY_HOST", "TELEMETRY_PORT", "OTLP_URL", "LOG_LEVEL"),
    "run a sandbox, or its commands": ("SANDBOX", "DATA_DIR"),
}
"""What people want to do, and the settings of it."""
_WORKED_OUT: Final = {"MUDRA_BASE_URL": "http://HOST:PORT/iam", "MUDRA_TELEMETRY_PORT": "9464"}
"""Defaults that depend on others."""
_INTRO: Final = (Path(__file__).parent / "settings_intro.md").read_text(encoding="utf-8")
_HEAD_OF_ROWS: Final = ("| variable, default | what | allowed |", "|---|---|---|")
_PREFIX: Final = "MUDRA_"
_NAMED: Final = re.compile(rf"{_PREFIX}[A-Z_]+")
_ADDRESSES: Final = re.compile(r"(?<!`)\b[a-z+]+:(?://)?[A-Z@a-z][^\s,;]*(?!`)")
_ADDRESS: Final = "the address of a database"
"""In the rows: the address itself is so long that it puts the next column out of sight."""


def settings_page() -> str:
    """Returns the page; raises ValueError for a setting that no heading takes."""
    defaults = {field.name: field.default for field in fields(Settings)}
    rows = {
        one.env: _row(
            one.env,
            one.meaning,
            one.allowed.replace(DATABASE, _ADDRESS),
            _shown(_WORKED_OUT.get(one.env) or defaults[name]),
        )
        for name, one in REFERENCE.items()
    }
    first = [rows.pop(one.env) for one in REFERENCE.values() if one.first]
    rows |= {env: _row(env, *others) for env, others in _OF_OTHER_READERS.items()}
    secret = (*(one.env for one in REFERENCE.values() if one.secret), "MUDRA_PASSWORD")
    first.append(
        _row(
            f"{_PREFIX}MASTER_KEY",
            "the [master key](#the-master-key)",
            "`2:base64,1:base64`, the first is active",
            "",
        )
    )
    known = "".join((*first, *rows.values()))
    return _INTRO.format(
        tasks="\n".join(_task(task, names, known) for task, names in _TASKS.items()),
        address=f"{_ADDRESS} is {DATABASE}",
        first="\n".join((*_HEAD_OF_ROWS, *first)),
        secret=", ".join(_link(env) for env in secret),
        areas="\n".join(_areas(rows)),
    )


def _row(env: str, meaning: str, allowed: str, default: str) -> str:
    """Returns a row, to which other pages can lead by the name of the variable."""
    shown = f"default {default}" if default else "*not set*"
    meaning = _NAMED.sub(lambda one: _link(one[0]), meaning)
    allowed = _ADDRESSES.sub(r"`\g<0>`", allowed)
    return f'| <a id="{env}"></a>`{env}`<br>{shown} | {meaning} | {allowed} |'


def _task(task: str, names: Sequence[str], known: str) -> str:
    """Returns a row of the index; raises ValueError for a setting that is gone."""
    for name in names:
        if f'"{_PREFIX}{name}"' not in known:
            raise ValueError(f"{_PREFIX}{name} is no setting")
    return f"| {task} | {', '.join(_link(_PREFIX + name) for name in names)} |"


def _link(env: str) -> str:
    return f"[`{env}`](#{env})"


def _areas(rows: Mapping[str, str]) -> Sequence[str]:
    """Returns a heading and a table for each area, its names in alphabetical order."""
    of = {env: area_of(env) for env in sorted(rows)}
    return [
        line
        for area in AREAS
        for line in (
            *(f"### {area}", "", *_HEAD_OF_ROWS),
            *(rows[env] for env, its in of.items() if its == area),
            "",
        )
    ]


def _shown(default: object) -> str:
    if default is None or default in ("", ()):
        return ""
    if isinstance(default, tuple):
        return f"`{','.join(map(str, default))}`"
    return f"`{str(default).lower() if isinstance(default, bool) else default}`"
