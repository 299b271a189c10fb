"""Write the generated pages of the reference: its own, and those of tools/pages.

    python tools/reference.py [--check]

With --check it writes nothing and exits 1 when a page is out of date.
"""

import sys
from dataclasses import fields
from pathlib import Path

from mudra.agent.host.config_reference import rows
from mudra.bootstrap.config import REFERENCE
from mudra.overview.retention_store import RULES, described
from mudra.settings.settings import Settings
from tools.pages.audit_events import audit_events_page
from tools.pages.audit_schema import audit_schema
from tools.pages.calls import calls_pages
from tools.pages.client import client_page
from tools.pages.commands import commands_page
from tools.pages.emails import emails_page
from tools.pages.metrics import metrics_page
from tools.pages.open_data import open_data_page
from tools.pages.regions import filled
from tools.pages.registry_payload import payload_fields
from tools.pages.samples.calls import PUSH_CALLS, REGISTRY_CALLS, TOKEN_CALLS
from tools.pages.samples.tabs import regions
from tools.pages.webhooks import webhooks_page

PAGES = Path(__file__).resolve().parent.parent / "docs" / "reference"


def main() -> int:
    """Write or compare the pages; gives the exit code."""
    pages = {
        "settings.md": settings_page(),
        "commands.md": commands_page(),
        "agent.md": agent_page(),
        "retention.md": retention_page(),
        "audit-events.md": audit_events_page(),
        "audit-event.schema.json": audit_schema(),
        **calls_pages(),
        "client.md": client_page(),
        "emails.md": emails_page(),
        "metrics.md": metrics_page(),
        "open-data.md": open_data_page(),
        "webhooks.md": webhooks_page(),
    }
    parts = {
        "token-service.md": regions(TOKEN_CALLS),
        "registry.md": {"payload": payload_fields(), **regions(REGISTRY_CALLS)},
        "metrics-push.md": regions(PUSH_CALLS),
    }
    pages |= {
        name: filled((PAGES / name).read_text(encoding="utf-8"), texts)
        for name, texts in parts.items()
    }
    stale = [
        name
        for name, text in pages.items()
        if not (PAGES / name).exists() or (PAGES / name).read_text(encoding="utf-8") != text
    ]
    if "--check" in sys.argv:
        for name in stale:
            print(f"docs/reference/{name} is out of date: run make docs")
        return 1 if stale else 0
    for name in stale:
        (PAGES / name).parent.mkdir(parents=True, exist_ok=True)
        (PAGES / name).write_text(pages[name], encoding="utf-8")
    return 0


def retention_page() -> str:
    """One row for each table of the database, from the rules that the job follows."""
    rows = [f"| `{table}` | {described(rule)} |" for table, rule in sorted(RULES.items())]
    return "\n".join(
        [
            "# Retention",
            "",
            "Made by `make docs` from `mudra.overview.retention_store`. The job `clear-out` runs",
            "every hour and deletes in batches of 2,000 rows; a test fails for a table without a",
            "rule.",
            "",
            "| table | how long its rows are kept |",
            "|---|---|",
            *rows,
            "",
        ]
    )


_OF_OTHER_READERS = [
    (
        "| `MUDRA_MASTER_KEY_COMMAND` | a command that prints the master key (a KMS, say) "
        "| a command line | |"
    ),
    (
        "| `MUDRA_POSTGRES_BIN` | folder of PostgreSQL 18's programs, for the embedded "
        "database and for backups of any; the newest of Debian's and of those that come "
        "with Mudra when not set | a directory | |"
    ),
    "| `MUDRA_PASSWORD` | password of `mudra login`, in place of the prompt | a text | |",
    (
        "| `MUDRA_CONFIG_DIR` | where member commands keep their tokens | a directory "
        "| the user's configuration directory |"
    ),
    (
        "| `MUDRA_PROFILE` | whose sign-ins member commands use: a profile has its own "
        "| letters, digits, `-`, `_` | |"
    ),
]
"""Rows of variables that other files read."""
_HEAD_OF_ROWS = ["| variable | what | allowed | default |", "|---|---|---|---|"]


def settings_page() -> str:
    """One row for each setting, from the settings object itself: what to set first, then others."""
    defaults = {field.name: field.default for field in fields(Settings)}

    def rows(*, first: bool) -> list[str]:
        return [
            f"| `{one.env}` | {one.meaning} | {one.allowed} | {_shown(defaults[name])} |"
            for name, one in REFERENCE.items()
            if one.first is first
        ]

    secret = ", ".join(f"`{one.env}`" for one in REFERENCE.values() if one.secret)
    return "\n".join(
        [
            "# Settings",
            "",
            "Made by `make docs` from `mudra.bootstrap.config`. A setting comes from the command",
            "line, else from the environment, else from its default. A wrong value ends the",
            "start with one line that names it; an unknown `MUDRA_…` name is warned of.",
            "",
            "## To go live",
            "",
            "`mudra setup` writes these, from its answers. All others have a default that works.",
            "",
            *_HEAD_OF_ROWS,
            *rows(first=True),
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
            *_HEAD_OF_ROWS,
            *rows(first=False),
            *_OF_OTHER_READERS,
            "",
        ]
    )


def agent_page() -> str:
    """One row for each key of agent.toml, from its structs."""
    table = [
        f"| `{row.key}` | {row.meaning} | {row.allowed} | {row.default or 'needed'} |"
        for row in rows()
    ]
    return "\n".join(
        [
            "# agent.toml",
            "",
            "Made by `make docs` from `mudra.agent.host.config`. An example is",
            "[deploy/agent.toml](../../deploy/agent.toml). An unknown key or a wrong value ends",
            "the start with one line that names it; `mudra agent check` looks at the rest.",
            "",
            "The part of a key before the dot is its table, written once above all its keys:",
            "`[credentials]`, then `id.value = \"AA-1\"` and `secret.file = \"/etc/mudra/secret\"`.",
            "`[fips]` has one line for each host: `\"fip.example\" = \"FIP-1\"`. Each log is a table",
            "of its own that begins with `[[log]]`.",
            "",
            "| key | what | allowed | default |",
            "|---|---|---|---|",
            *table,
            "",
        ]
    )


def _shown(default: object) -> str:
    if default is None or default in ("", ()):
        return ""
    if isinstance(default, tuple):
        return f"`{','.join(map(str, default))}`"
    return f"`{str(default).lower() if isinstance(default, bool) else default}`"


if __name__ == "__main__":
    sys.exit(main())
