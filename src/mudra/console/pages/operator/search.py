"""Search over everything that an operator may see, and the jump to what an ID names."""

from collections.abc import Mapping, Sequence
from typing import Final
from urllib.parse import quote, urlencode

from litestar.types import ControllerRouterHandler

from mudra.console.framework import page
from mudra.console.framework.navigation import operator_links, operator_path, pages_named
from mudra.console.framework.page_context import PageContext
from mudra.console.framework.page_results import GoTo, Outcome, RenderedPage
from mudra.console.health.health_query import HealthQuery
from mudra.console.pages.operator.labels import member_link
from mudra.http.auth.gates import operator
from mudra.localization.language import gettext, translatable
from mudra.metrics.payload.catalogue import WINDOW
from mudra.metrics.rollup.coverage import TimeRange
from mudra.overview.global_search import MAX_TEXT, SCOPE_OF, Found, FoundKind, search_everything

TITLES: Final = {
    FoundKind.INCIDENT: translatable("Incidents"),
    FoundKind.MEMBER: translatable("Members"),
    FoundKind.HEALTH: translatable("Health"),
    FoundKind.PERSON: translatable("People"),
    FoundKind.KEY: translatable("Signing keys"),
    FoundKind.REPORT: translatable("Reports"),
    FoundKind.EVENT: translatable("Audit"),
}


@page.get("/operator/search", gate=operator())
async def show_search(page_context: PageContext) -> Outcome:
    """Show what these words find; go to it when they name one thing alone.

    With `part=hits` it is what the menu shows while one types, which goes nowhere by itself.
    """
    text = page_context.query.get("q", "").strip()[:MAX_TEXT]
    result = await search_everything(page_context.tx, text, page_context.scopes)
    is_part = page_context.query.get("part") == "hits"
    if result.only is not None and not is_part:
        return GoTo(_link(result.only))
    menu = operator_links(
        page_context.scopes, "", sandbox=page_context.dependencies.settings.sandbox
    )
    groups = [
        {
            "title": gettext(title),
            "rows": _rows(result.found, kind),
            "cut": kind in result.cut,
            "all": _all(kind, text),
        }
        for kind, title in TITLES.items()
    ]
    return RenderedPage(
        "operator_hits.html" if is_part else "operator_search.html",
        {
            "text": text,
            "pages": pages_named(menu, text),
            "groups": [group for group in groups if group["rows"]],
            "hidden": [gettext(TITLES[kind]) for kind in result.hidden],
            "needed": sorted({SCOPE_OF[kind].value for kind in result.hidden}),
        },
    )


def _rows(found: Sequence[Found], kind: FoundKind) -> list[Mapping[str, object]]:
    """Returns the hits of a kind; a member's health is a link in its row, where both are found."""
    members = {one.subject for one in found if one.kind is FoundKind.MEMBER}
    if kind is FoundKind.HEALTH:
        found = [one for one in found if one.subject not in members]
    health = {one.subject: _link(one) for one in found if one.kind is FoundKind.HEALTH}
    return [
        {
            "hit": one,
            "link": _link(one),
            "is_open": kind is FoundKind.INCIDENT and one.until is None,
            "health": health.get(one.subject, "") if kind is FoundKind.MEMBER else "",
        }
        for one in found
        if one.kind is kind
    ]


def _all(kind: FoundKind, text: str) -> str:
    """Returns the list in which all hits of a kind are found by the same words; empty for none."""
    lists = {FoundKind.MEMBER: "members", FoundKind.INCIDENT: "incidents"}
    if kind not in lists:
        return ""
    name = lists[kind]
    return f"{operator_path(name)}?{urlencode({f'{name}.q': text})}"


def _link(hit: Found) -> str:
    match hit.kind:
        case FoundKind.MEMBER:
            return member_link(hit.subject)
        case FoundKind.HEALTH | FoundKind.REPORT:
            kind = "fip" if hit.detail.startswith("FIP ") else "aa"
            page = operator_path(f"health/{kind}/{hit.subject}")
            if hit.at is None:
                return page
            return page + HealthQuery(TimeRange(hit.at, hit.at + WINDOW), "", "").query()
        case FoundKind.PERSON:
            return member_link(hit.subject) if hit.subject else operator_path("people")
        case FoundKind.INCIDENT:
            return operator_path(f"incidents/{hit.subject}")
        case FoundKind.KEY:
            return operator_path("keys")
        case FoundKind.EVENT:
            return operator_path(f"audit?txn={quote(hit.subject, safe='')}")


handlers: Final[list[ControllerRouterHandler]] = [show_search]
