"""Labels, colors and links that several operator pages share."""

from collections.abc import Iterable
from typing import Final
from urllib.parse import quote

from mudra.console.framework.navigation import Link, operator_path
from mudra.identity.memberships.member_search_store import MemberSearch
from mudra.identity.operators.operator import Scope
from mudra.overview.operator_dashboard import DashboardRow, Kind, Urgency
from mudra.shared.entity_type import EntityType
from mudra.storage.database.transaction import Transaction

_USER: Final = "user:"
STATUS_TONES: Final = {
    "active": "good",
    "live": "good",
    "sent": "good",
    "success": "good",
    "suspended": "warn",
    "submitted": "warn",
    "approved": "warn",
    "waiting": "warn",
    "invited": "warn",
    "pending": "warn",
    "refused": "warn",
    "given-up": "bad",
    "failed": "bad",
    "rejected": "bad",
    "disabled": "bad",
    "retired": "quiet",
}

KINDS: Final = {
    Kind.SILENT_AA: "Silent AAs",
    Kind.INCIDENT: "Incidents",
    Kind.SECRET: "Expiring secrets",
    Kind.APPROVAL: "Approvals",
    Kind.HELD_REPORT: "Held reports",
    Kind.MAIL: "Failed mail",
    Kind.SUBSCRIPTIONS: "Subscriptions",
    Kind.NO_ADMIN: "No admin",
    Kind.BUDGET: "Error budgets",
    Kind.DISPUTE: "Disputes",
    Kind.WEAK_KEY: "Weak keys",
}

URGENCIES: Final = {
    Urgency.BROKEN: ("Broken", "bad"),
    Urgency.SOON: ("Soon", "warn"),
    Urgency.WAITS: ("Waiting", "quiet"),
}


def tone(state: str) -> str:
    """Return the color of a state; neutral states are quiet."""
    return STATUS_TONES.get(state, "quiet")


def member_link(entity_id: str) -> str:
    """Return the address of a member's page for operators."""
    return operator_path(f"members/{entity_id}")


def pages_of_member(
    entity_id: str, entity_type: str, scopes: frozenset[Scope], *, here: str = ""
) -> list[Link]:
    """Return the pages about a member that these scopes open, but for the one at `here`."""
    quoted = quote(entity_id, safe="")
    health = operator_path(f"health/{entity_type.lower()}/{quoted}")
    found = [
        (Scope.MEMBERS, "Member and admins", member_link(quoted)),
        *([(Scope.HEALTH, "Health", health)] if entity_type != EntityType.FIU.value else []),
        (Scope.AUDIT, "Audit", operator_path(f"audit?entity={quoted}")),
    ]
    return [
        Link(title, path, current=False)
        for scope, title, path in found
        if scope in scopes and path != here
    ]


def approval_link(entity_id: str) -> str:
    """Return the address of the page on which an entry is approved or rejected."""
    return operator_path(f"approvals/{entity_id}")


def row_link(row: DashboardRow) -> str:
    """Return the address of the page for a row's next action."""
    match row.kind:
        case Kind.SILENT_AA | Kind.INCIDENT:
            return operator_path(f"incidents/{row.subject}")
        case Kind.APPROVAL:
            return approval_link(row.entity_id)
        case Kind.HELD_REPORT:
            return operator_path("held-reports")
        case Kind.MAIL:
            return operator_path("mails?failed=true")
        case Kind.BUDGET:
            return operator_path("levels#budgets")
        case Kind.DISPUTE:
            return operator_path(f"disputes/{row.subject}")
        case Kind.SUBSCRIPTIONS:
            return operator_path("announcements")
        case _:
            return member_link(row.entity_id)


async def names_of(actors: Iterable[str], tx: Transaction) -> dict[str, str]:
    """Give the address of each actor that is a person (`user:ID`); of others nothing."""
    ids = {one.removeprefix(_USER) for one in actors if one.startswith(_USER)}
    addresses = await MemberSearch(tx).addresses(ids)
    return {f"{_USER}{user_id}": email for user_id, email in addresses.items()}
