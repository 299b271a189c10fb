"""What the console's menu offers, to whom. One row per page."""

from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from mudra.identity.operators.operator import Scope
from mudra.localization.language import gettext, translatable

CONSOLE: Final = "/console"
ACCOUNT: Final = f"{CONSOLE}/account"
SECOND_FACTOR: Final = f"{ACCOUNT}/second-factor"
SANDBOX_ITEM: Final = "sandbox"
FAULTS_ITEM: Final = "faults"


class MemberItem(Struct, frozen=True):
    """A page of a member: `word` is the last part of its address, empty for the overview.

    `types` are the kinds of entity that have the page; empty for all.
    """

    word: str
    title: str
    types: frozenset[str] = frozenset()
    sandbox: bool = False
    """Whether only a sandbox has the page."""


class OperatorItem(Struct, frozen=True):
    """A page of operators: its path under /console/operator, and the scope that opens it.

    Without a scope it is open to every operator.
    """

    word: str
    title: str
    scope: Scope | None
    sandbox: bool = False
    """Whether only a sandbox has the page."""


class Link(Struct, frozen=True):
    """A line of the menu as a page shows it."""

    title: str
    path: str
    current: bool


MEMBER_ITEMS: Final = (
    MemberItem("", translatable("Overview")),
    MemberItem("secret", translatable("Secret")),
    MemberItem("addresses", translatable("Addresses")),
    MemberItem("try", translatable("Try it")),
    MemberItem("health", translatable("Health")),
    MemberItem("webhooks", translatable("Webhooks")),
    MemberItem("registration", translatable("Registration")),
    MemberItem("people", translatable("People")),
    MemberItem("activity", translatable("Activity")),
    MemberItem(FAULTS_ITEM, translatable("Faults"), sandbox=True),
)

_TRANSLATED: Final = frozenset({"account", "entity"})
"""The parts of the console whose pages, and what answers their forms, are translated: members'."""

OPERATOR_ITEMS: Final[Sequence[OperatorItem]] = (
    OperatorItem("board", "Board", None),
    OperatorItem("health", "Network health", Scope.HEALTH),
    OperatorItem("incidents", "Incidents", Scope.HEALTH),
    OperatorItem("webhooks", "Webhooks", Scope.HEALTH),
    OperatorItem("held-reports", "Held reports", Scope.HEALTH),
    OperatorItem("members", "Members", Scope.MEMBERS),
    OperatorItem("approvals", "Approvals", Scope.REGISTRY),
    OperatorItem("mails", "Mail", Scope.MEMBERS),
    OperatorItem("keys", "Signing keys", Scope.KEYS),
    OperatorItem("audit", "Audit", Scope.AUDIT),
    OperatorItem("people", "Operators", Scope.MEMBERS),
    OperatorItem("settings", "Settings", None),
    OperatorItem(SANDBOX_ITEM, "Mailbox and time machine", None, sandbox=True),
    OperatorItem(FAULTS_ITEM, "Faults", Scope.MEMBERS, sandbox=True),
)


def member_path(entity_id: str, word: str = "") -> str:
    """Address of a page of an entity."""
    return f"{CONSOLE}/entity/{entity_id}" + (f"/{word}" if word else "")


def is_translated(path: str) -> bool:
    """Return whether the page at this address is translated, and what answers its forms."""
    return path == CONSOLE or path.removeprefix(f"{CONSOLE}/").partition("/")[0] in _TRANSLATED


def is_of_operators(path: str) -> bool:
    """Return whether the page at this address is one of operators."""
    return path.startswith(f"{CONSOLE}/operator/")


def operator_path(word: str) -> str:
    """Address of a page of operators."""
    return f"{CONSOLE}/operator/{word}"


def member_links(
    entity_id: str, entity_type: str, here: str, *, sandbox: bool = False
) -> list[Link]:
    """The menu of an entity; `here` is the address of the page that shows it."""
    return [
        _link(gettext(item.title), member_path(entity_id, item.word), here, exact=not item.word)
        for item in MEMBER_ITEMS
        if not item.types or entity_type in item.types
        if sandbox or not item.sandbox
    ]


def operator_links(scopes: frozenset[Scope], here: str, *, sandbox: bool = False) -> list[Link]:
    """The menu of an operator."""
    return [
        _link(item.title, operator_path(item.word), here, exact=False)
        for item in OPERATOR_ITEMS
        if scopes and (item.scope is None or item.scope in scopes)
        if sandbox or not item.sandbox
    ]


def pages_named(links: Sequence[Link], text: str) -> list[Link]:
    """The pages of a menu whose title has each of these words."""
    words = text.casefold().split()
    return [one for one in links if words and all(word in one.title.casefold() for word in words)]


def _link(title: str, path: str, here: str, *, exact: bool) -> Link:
    under = here == path or (not exact and here.startswith(path + "/"))
    return Link(title, path, under)
