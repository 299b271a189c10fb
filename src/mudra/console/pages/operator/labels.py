"""Labels, colors and links that several operator pages share."""

from collections.abc import Iterable
from typing import Final
from urllib.parse import quote

from mudra.console.framework.navigation import Link, operator_path
from mudra.identity.memberships.member_search_store import MemberSearch
from mudra.identity.operators.operator import Scope
from mudra.localization.language import gettext, translatable
from mudra.overview.board.dashboard_rows import DashboardRow, Kind, Urgency
from mudra.shared.entity_type import EntityType
from mudra.storage.database.transaction import Transaction

_USER: Final = "user:"
STATUS_TONES: Final = {
    translatable("active"): "good",
    translatable("live"): "good",
    translatable("sent"): "good",
    translatable("kept here"): "quiet",
    translatable("success"): "good",
    translatable("suspended"): "warn",
    translatable("submitted"): "warn",
    translatable("approved"): "warn",
    translatable("waiting"): "warn",
    translatable("invited"): "warn",
    translatable("pending"): "warn",
    translatable("refused"): "warn",
    translatable("admitted"): "quiet",
    translatable("given-up"): "bad",
    translatable("failed"): "bad",
    translatable("rejected"): "bad",
    translatable("disabled"): "bad",
    translatable("retired"): "quiet",
}

KINDS: Final = {
    Kind.SILENT_AA: translatable("Silent AAs"),
    Kind.INCIDENT: translatable("Incidents"),
    Kind.SECRET: translatable("Expiring secrets"),
    Kind.APPROVAL: translatable("Approvals"),
    Kind.HELD_REPORT: translatable("Held reports"),
    Kind.MAIL: translatable("Failed mail"),
    Kind.SUBSCRIPTIONS: translatable("Subscriptions"),
    Kind.NO_ADMIN: translatable("No admin"),
    Kind.BUDGET: translatable("Error budgets"),
    Kind.DISPUTE: translatable("Disputes"),
    Kind.WEAK_KEY: translatable("Weak keys"),
    Kind.WEBHOOK: translatable("Webhooks"),
}

URGENCIES: Final = {
    Urgency.BROKEN: (translatable("Broken"), "bad"),
    Urgency.SOON: (translatable("Soon"), "warn"),
    Urgency.WAITS: (translatable("Waiting"), "quiet"),
}


_REFUSALS: Final = (
    translatable("it was closed more than 90 days ago and can no longer be reopened"),
    translatable("no target of this ID holds or will"),
    translatable("500 rules are stored: replace one that has not begun"),
    translatable("500 targets are stored: end one first"),
    translatable("the incident is announced already: add an update to its announcement"),
    translatable("the announcement is not published yet: change it instead"),
    translatable("no current or scheduled announcement of this ID"),
    translatable(
        "20 announcements are shown or scheduled, or 20 were made in 24 hours: end one, or wait"
    ),
    translatable("the incident is over or was closed before, so nothing was changed"),
    translatable(
        "the incident is open, withdrawn or part of another one: there is nothing to reopen"
    ),
    translatable(
        "10 maintenances are active or scheduled, or began within 24 hours: end one "
        "that has not begun, or wait"
    ),
    translatable(
        "the maintenances of some 7 days would be more than 24 hours: announce a "
        "shorter or later one"
    ),
    translatable("no active or scheduled silence of this ID"),
    translatable("the AA has reported this window again; the later report counts"),
    translatable("no implausible report has this receipt"),
)
"""What the rules refuse an operator: a page shows it in the language of its reader."""


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
        (Scope.MEMBERS, gettext("Member and admins"), member_link(quoted)),
        *(
            [(Scope.HEALTH, gettext("Health"), health)]
            if entity_type != EntityType.FIU.value
            else []
        ),
        (Scope.AUDIT, gettext("Audit"), operator_path(f"audit?entity={quoted}")),
    ]
    return [
        Link(title, path, current=False)
        for scope, title, path in found
        if scope in scopes and path != here
    ]


def approval_link(entity_id: str) -> str:
    """Return the address of the page on which an entry is approved or rejected."""
    return operator_path(f"approvals/{entity_id}")


_PAGE_OF: Final = {
    Kind.HELD_REPORT: "held-reports",
    Kind.MAIL: "mails?failed=true",
    Kind.BUDGET: "levels#budgets",
    Kind.SUBSCRIPTIONS: "announcements",
}
"""The page of kinds whose rows have none of their own; of others it is the member's."""


def row_link(row: DashboardRow) -> str:
    """Return the address of the page for a row's next action."""
    match row.kind:
        case Kind.SILENT_AA | Kind.INCIDENT:
            return operator_path(f"incidents/{row.subject}")
        case Kind.APPROVAL:
            return approval_link(row.entity_id)
        case Kind.DISPUTE:
            return operator_path(f"disputes/{row.subject}")
        case Kind.WEBHOOK:
            return operator_path(f"webhooks#{row.subject}")
        case _:
            page = _PAGE_OF.get(row.kind)
            return operator_path(page) if page else member_link(row.entity_id)


async def names_of(actors: Iterable[str], tx: Transaction) -> dict[str, str]:
    """Give the address of each actor that is a person (`user:ID`); of others nothing."""
    ids = {one.removeprefix(_USER) for one in actors if one.startswith(_USER)}
    addresses = await MemberSearch(tx).addresses(ids)
    return {f"{_USER}{user_id}": email for user_id, email in addresses.items()}
