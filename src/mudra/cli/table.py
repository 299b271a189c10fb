"""The commands of `mudra` in one table: where each is, what it does, which extra it needs.

Imports nothing that an extra brings: it is read where none is installed, to say so.
"""

import enum
from collections.abc import Sequence
from importlib.util import find_spec
from typing import Final, NamedTuple

from mudra import DISTRIBUTION

NOT_INSTALLED: Final = 6
"""Exit code of a command whose extra is not installed."""


class Extra(enum.StrEnum):
    """Packages that the client library alone does not need, as pyproject.toml names them."""

    CLI = "cli"
    AGENT = "agent"
    SERVER = "server"

    @property
    def requirement(self) -> str:
        """Return what pip is asked for."""
        return f"{DISTRIBUTION}[{self}]"

    @property
    def is_installed(self) -> bool:
        """Return whether a module is here that no smaller extra has."""
        return find_spec(_SIGNS[self]) is not None


_SIGNS: Final = {Extra.CLI: "typer", Extra.AGENT: "hdrh", Extra.SERVER: "sqlalchemy"}


class Row(NamedTuple):
    """A noun with commands of its own, or with an `example` a command of one word."""

    module: str
    """The one of `commands/` that has its `app`, or the function of its name."""
    help: str
    extra: Extra
    """What its help needs; a command of it that opens the store needs that of the service too."""
    example: str = ""


ROWS: Final = {
    "serve": Row(
        "node.serve",
        "Start the service; it brings its own PostgreSQL unless MUDRA_DATABASE_URL is set.",
        Extra.SERVER,
        "mudra serve --sandbox --demo · MUDRA_DATABASE_URL=postgresql://… mudra serve --workers 4",
    ),
    "setup": Row(
        "node.setup",
        "Set a machine up: settings, master key, backup key, units, database and first operator.",
        Extra.SERVER,
        "mudra setup · mudra setup --answers answers.toml",
    ),
    "login": Row(
        "account.login",
        "Sign in: get a User Access Token (180 days) and save it in a file that only you can read.",
        Extra.CLI,
        "mudra login lakshmi@kaveribank.example",
    ),
    "logout": Row(
        "account.logout",
        "Sign out: revoke the saved User Access Token, and delete it.",
        Extra.CLI,
        "mudra logout",
    ),
    "doctor": Row(
        "node.doctor",
        "Check settings, disk, master key, database, clock, signing keys, email and invariants.",
        Extra.SERVER,
        "mudra doctor --json",
    ),
    "restore": Row(
        "node.restore",
        "Restore a backup into an empty data directory or database, whole or not at all.",
        Extra.SERVER,
        "mudra restore mudra-20261122T023000Z.dump.age --identity backup.key --data-dir /srv/mudra",
    ),
    "board": Row(
        "network.board",
        "Show what needs attention this week, the worst first, each with the next step.",
        Extra.SERVER,
        "mudra board --json",
    ),
    "member": Row("network.member", "Members of the network.", Extra.SERVER),
    "migrate": Row("network.migrate", "Move a network in from other software.", Extra.SERVER),
    "mail": Row("node.mail", "Email: the development mailbox and the outbox.", Extra.SERVER),
    "admin": Row("network.admin", "Admins of entities, and their accounts.", Extra.SERVER),
    "operator": Row("network.operator", "People who operate the network.", Extra.SERVER),
    "password": Row(
        "account.password",
        "Request a link by email if you forgot your password, and set a new one with it.",
        Extra.CLI,
    ),
    "entity": Row("entity.entity", "The status of an entity that you administer.", Extra.CLI),
    "maintenance": Row(
        "entity.maintenance", "Planned maintenance of an entity that you administer.", Extra.CLI
    ),
    "secret": Row("entity.secret", "The secret of an entity that you administer.", Extra.CLI),
    "token": Row("entity.token", "Access tokens: get, inspect, verify.", Extra.CLI),
    "session": Row("account.session", "Your own sessions of the console.", Extra.CLI),
    "alarms": Row(
        "account.alarms",
        "Your alarms about incidents: channel, webhook, severity, quiet hours.",
        Extra.CLI,
    ),
    "webhook": Row(
        "account.webhook",
        "Events of a webhook: list, send again, forward to a program of yours.",
        Extra.CLI,
    ),
    "keys": Row("node.keys", "Signing keys of the service.", Extra.SERVER),
    "database": Row("node.database", "Roles, schema and rights of the database.", Extra.SERVER),
    "metrics": Row("node.metrics", "Stored metrics: check, repair, export.", Extra.SERVER),
    "backup": Row("node.backup", "Backups of the database, encrypted.", Extra.SERVER),
    "agent": Row(
        "entity.agent",
        "The monitoring agent: counts calls, pushes a window every ten minutes.",
        Extra.AGENT,
    ),
    "sandbox": Row("node.sandbox", "The sandbox: its past, its clock, its faults.", Extra.CLI),
    "audit": Row("network.audit", "The audit: what happened, provably.", Extra.SERVER),
    "registry": Row(
        "registry.entries", "The registry's entries: submit, decide, export.", Extra.CLI
    ),
    "health": Row(
        "network.health",
        "Health of the network: pictures, incidents, silences, webhooks.",
        Extra.SERVER,
    ),
    "report": Row(
        "levels.report",
        "Service levels: monthly reports, their proof, and the targets.",
        Extra.CLI,
    ),
    "announcement": Row(
        "network.announcement",
        "Announcements of the operator on the public status.",
        Extra.SERVER,
    ),
    "dispute": Row(
        "history.dispute",
        "Contest or comment on a figure of your entity, with evidence; answer and decide.",
        Extra.CLI,
    ),
    "timeline": Row(
        "history.timeline",
        "What happened, over all areas, and what changed before an incident.",
        Extra.CLI,
    ),
    "conformance": Row(
        "conformance.conformance",
        "Check an implementation of the specification, or a member.",
        Extra.CLI,
    ),
    "jwk": Row("registry.jwk", "Keys for registration payloads.", Extra.CLI),
    "config": Row("node.config", "The settings in force.", Extra.CLI),
}


def sentence_about(module: str, words: Sequence[str]) -> str:
    """Return why a command of these words cannot run without a module, with the way out."""
    row = ROWS.get(words[0]) if words else None
    if row is None:
        return (
            "only the client library is installed; the command needs an extra: "
            f"pip install '{Extra.CLI.requirement}' for a member, "
            f"'{Extra.AGENT.requirement}' for the agent, '{Extra.SERVER.requirement}' for a service"
        )
    command, extra = f"mudra {words[0]}", row.extra
    if extra.is_installed:
        command, extra = f"this command of mudra {words[0]}", Extra.SERVER
    return (
        f"{command} needs the extra [{extra}], as there is no module {module}: "
        f"pip install '{extra.requirement}'"
    )
