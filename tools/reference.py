"""Write the generated pages of the reference: its own, and those of tools/pages.

    python tools/reference.py [--check]

With --check it writes nothing and exits 1 when a page is out of date.
"""

import sys
from pathlib import Path

from mudra.agent.host.config_reference import rows
from mudra.overview.retention_store import RULES, described
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
from tools.pages.settings import settings_page
from tools.pages.webhooks import webhooks_page, webhooks_schema

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
        "webhooks.schema.json": webhooks_schema(),
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
            '`[credentials]`, then `id.value = "AA-1"` and `secret.file = "/etc/mudra/secret"`.',
            '`[fips]` has one line for each host: `"fip.example" = "FIP-1"`. Each log is a table',
            "of its own that begins with `[[log]]`.",
            "",
            "| key | what | allowed | default |",
            "|---|---|---|---|",
            *table,
            "",
        ]
    )


if __name__ == "__main__":
    sys.exit(main())
