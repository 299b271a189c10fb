"""The console's menu, by reader. One row per page."""

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

    `help` is the page of the documentation about using it. `types` are the kinds of
    entity that have the page; empty for all.
    """

    word: str
    title: str
    help: str
    types: frozenset[str] = frozenset()
    sandbox: bool = False
    """Whether only a sandbox has the page."""
    readers: bool = False
    """Whether it is open to the entity's readers, too."""
    group: int = 0
    """Pages of one group follow each other in the menu; a line is between groups."""
    title_of_fiu: str = ""
    """What a FIU reads in place of `title`, where the page is something else to it."""


class OperatorItem(Struct, frozen=True):
    """A page of operators: its path under /console/operator, and the scope that opens it.

    Without a scope it is open to every operator. `help` is as of a member's page.
    """

    word: str
    title: str
    scope: Scope | None
    help: str
    sandbox: bool = False
    """Whether only a sandbox has the page."""
    group: int = 0
    """As of a member's page."""


class Link(Struct, frozen=True):
    """A line of the menu as a page shows it."""

    title: str
    path: str
    current: bool
    group: int = 0


MEMBER_ITEMS: Final = (
    MemberItem("", translatable("Overview"), "how-to/manage-your-entity.html", readers=True),
    MemberItem("secret", translatable("Secret"), "how-to/rotate-a-secret.html"),
    MemberItem(
        "addresses",
        translatable("Addresses"),
        "how-to/manage-your-entity.html#accept-the-secret-from-your-addresses-only",
    ),
    MemberItem("try", translatable("Try it"), "tutorials/first-token.html"),
    MemberItem(
        "health",
        translatable("Health"),
        "how-to/monitor-the-network.html#what-an-incident-is",
        readers=True,
        group=1,
    ),
    MemberItem(
        "maintenance",
        translatable("Maintenance"),
        "how-to/monitor-the-network.html#announce-maintenance",
        readers=True,
        group=1,
    ),
    MemberItem(
        "levels",
        translatable("Service levels"),
        "how-to/service-levels.html",
        readers=True,
        group=1,
    ),
    MemberItem(
        "funnel",
        translatable("Funnel"),
        "how-to/read-the-funnel.html",
        types=frozenset({"AA", "FIP"}),
        readers=True,
        group=1,
    ),
    MemberItem(
        "volume",
        translatable("Volume"),
        "how-to/read-the-funnel.html#see-what-is-expected",
        types=frozenset({"AA", "FIP"}),
        readers=True,
        group=1,
    ),
    MemberItem(
        "timeline",
        translatable("Timeline"),
        "how-to/find-what-changed.html",
        readers=True,
        group=1,
    ),
    MemberItem(
        "disputes",
        translatable("Disputes"),
        "how-to/dispute-a-figure.html",
        readers=True,
        group=1,
        title_of_fiu=translatable("Comments"),
    ),
    MemberItem(
        "webhooks",
        translatable("Webhooks"),
        "how-to/monitor-the-network.html#send-alarms-to-your-own-system",
        group=1,
    ),
    MemberItem(
        "registration", translatable("Registration"), "how-to/registry.html#as-a-member", group=2
    ),
    MemberItem(
        "people",
        translatable("People"),
        "how-to/manage-your-entity.html#other-admins",
        readers=True,
        group=2,
    ),
    MemberItem(
        "activity",
        translatable("Activity"),
        "how-to/manage-your-entity.html#your-tokens",
        readers=True,
        group=2,
    ),
    MemberItem(
        FAULTS_ITEM, translatable("Faults"), "how-to/test-your-client.html", sandbox=True, group=2
    ),
)

OPERATOR_ITEMS: Final[Sequence[OperatorItem]] = (
    OperatorItem("board", translatable("Board"), None, "how-to/console.html#as-an-operator"),
    OperatorItem(
        "health", translatable("Network health"), Scope.HEALTH, "how-to/monitor-the-network.html"
    ),
    OperatorItem(
        "incidents",
        translatable("Incidents"),
        Scope.HEALTH,
        "how-to/monitor-the-network.html#work-on-an-incident",
    ),
    OperatorItem(
        "held-reports",
        translatable("Held reports"),
        Scope.HEALTH,
        "explanation/whose-fault.html#reports-that-are-not-plausible",
    ),
    OperatorItem(
        "announcements",
        translatable("Announcements"),
        Scope.HEALTH,
        "how-to/monitor-the-network.html#announce-something-on-the-public-status",
    ),
    OperatorItem(
        "levels",
        translatable("Service levels"),
        Scope.HEALTH,
        "how-to/service-levels.html",
        group=1,
    ),
    OperatorItem(
        "funnel", translatable("Funnel"), Scope.HEALTH, "how-to/read-the-funnel.html", group=1
    ),
    OperatorItem(
        "volume",
        translatable("Volume"),
        Scope.HEALTH,
        "how-to/read-the-funnel.html#see-what-is-expected",
        group=1,
    ),
    OperatorItem(
        "timeline", translatable("Timeline"), Scope.HEALTH, "how-to/find-what-changed.html", group=1
    ),
    OperatorItem(
        "disputes",
        translatable("Disputes"),
        Scope.HEALTH,
        "how-to/dispute-a-figure.html#decide",
        group=1,
    ),
    OperatorItem(
        "members", translatable("Members"), Scope.MEMBERS, "how-to/onboard-a-member.html", group=2
    ),
    OperatorItem(
        "approvals",
        translatable("Approvals"),
        Scope.REGISTRY,
        "how-to/registry.html#as-an-operator",
        group=2,
    ),
    OperatorItem(
        "webhooks",
        translatable("Webhooks"),
        Scope.HEALTH,
        "how-to/monitor-the-network.html#send-alarms-to-your-own-system",
        group=3,
    ),
    OperatorItem(
        "mails",
        translatable("Email"),
        Scope.MEMBERS,
        "operations/runbooks/mail-failing.html",
        group=3,
    ),
    OperatorItem(
        "keys",
        translatable("Signing keys"),
        Scope.KEYS,
        "operations/running.html#every-day",
        group=3,
    ),
    OperatorItem(
        "audit", translatable("Audit"), Scope.AUDIT, "operations/running.html#the-audit", group=3
    ),
    OperatorItem(
        "people",
        translatable("Operators"),
        Scope.MEMBERS,
        "how-to/console.html#as-an-operator",
        group=3,
    ),
    OperatorItem("settings", translatable("Settings"), None, "reference/settings.html", group=3),
    OperatorItem(
        SANDBOX_ITEM,
        translatable("Mailbox and time machine"),
        None,
        "how-to/console.html#as-an-operator",
        sandbox=True,
        group=3,
    ),
    OperatorItem(
        FAULTS_ITEM,
        translatable("Faults"),
        Scope.MEMBERS,
        "how-to/test-your-client.html",
        sandbox=True,
        group=3,
    ),
)


_DOCS: Final = "/docs"
_FIU: Final = "FIU"
_OF_ENTITY: Final = 2
"""The place of the word of a member's page, after `entity` and its ID."""
_DEEPER: Final = {
    f"{CONSOLE}/operator/import": "how-to/onboard-a-member.html#many-members-from-a-file",
    f"{CONSOLE}/operator/onboard": "how-to/onboard-a-member.html#a-new-member",
    f"{CONSOLE}/operator/bulk": "how-to/onboard-a-member.html#one-act-on-many-members",
    SECOND_FACTOR: "how-to/second-factor.html",
    f"{ACCOUNT}/webhooks": "how-to/monitor-the-network.html#choose-your-alarms",
    ACCOUNT: "how-to/console.html",
}
"""The documentation of pages that are not in the menu, or deeper than its."""


def member_path(entity_id: str, word: str = "") -> str:
    """Returns the address of an entity's page."""
    return f"{CONSOLE}/entity/{entity_id}" + (f"/{word}" if word else "")


def operator_path(word: str) -> str:
    """Returns the address of an operators' page."""
    return f"{CONSOLE}/operator/{word}"


def member_links(
    entity_id: str, entity_type: str, here: str, *, sandbox: bool = False, reads_only: bool = False
) -> list[Link]:
    """The menu of an entity; `here` is the address of the page that shows it."""
    return [
        _link(
            gettext((entity_type == _FIU and item.title_of_fiu) or item.title),
            member_path(entity_id, item.word),
            here,
            exact=not item.word,
            group=item.group,
        )
        for item in MEMBER_ITEMS
        if not item.types or entity_type in item.types
        if sandbox or not item.sandbox
        if item.readers or not reads_only
    ]


def operator_links(scopes: frozenset[Scope], here: str, *, sandbox: bool = False) -> list[Link]:
    """The menu of an operator."""
    return [
        _link(gettext(item.title), operator_path(item.word), here, exact=False, group=item.group)
        for item in OPERATOR_ITEMS
        if scopes and (item.scope is None or item.scope in scopes)
        if sandbox or not item.sandbox
    ]


def help_path(here: str) -> str:
    """The address of the how-to of the page at `here`; of the console, where it has none."""
    for path, page in _DEEPER.items():
        if here == path or here.startswith(path + "/"):
            return f"{_DOCS}/{page}"
    word = here.removeprefix(f"{CONSOLE}/").split("/")
    if word[0] == "operator":
        own = {item.word: item.help for item in OPERATOR_ITEMS}
        return f"{_DOCS}/{own.get(word[1] if len(word) > 1 else '', own['board'])}"
    own = {item.word: item.help for item in MEMBER_ITEMS}
    return f"{_DOCS}/{own.get(word[_OF_ENTITY] if len(word) > _OF_ENTITY else '', own[''])}"


def pages_named(links: Sequence[Link], text: str) -> list[Link]:
    """The pages of a menu whose title has each of these words."""
    words = text.casefold().split()
    return [one for one in links if words and all(word in one.title.casefold() for word in words)]


def _link(title: str, path: str, here: str, *, exact: bool, group: int) -> Link:
    under = here == path or (not exact and here.startswith(path + "/"))
    return Link(title, path, under, group)
