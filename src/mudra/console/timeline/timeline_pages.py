"""The timeline of the network and of a member: a table that sorts, filters and exports."""

from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from itertools import groupby
from typing import Final

from litestar.types import ControllerRouterHandler
from msgspec import Struct
from msgspec.structs import replace

from mudra.console.framework import page
from mudra.console.framework.navigation import member_path, operator_path
from mudra.console.framework.page_context import PageContext
from mudra.console.framework.page_results import Outcome, RenderedPage
from mudra.console.framework.table import Column, Table
from mudra.console.health.health_query import HealthQuery, query_of
from mudra.console.health.labels import SEVERITY_TONES
from mudra.console.pages.operator.labels import approval_link, member_link
from mudra.console.timeline.lanes import picture_of
from mudra.http.auth.gates import READER, operator
from mudra.identity.operators.operator import Scope
from mudra.localization.duration import span_text
from mudra.localization.language import gettext, translatable
from mudra.metrics.health.health_service import HealthService
from mudra.metrics.incidents.incident import Incident
from mudra.metrics.notifications.severity import Severity
from mudra.metrics.rollup.coverage import TimeRange
from mudra.shared.entity_type import EntityType
from mudra.timeline.happening import KIND_TITLES, Happening, HappeningKind
from mudra.timeline.ranking import Candidate
from mudra.timeline.timeline_service import MAX_SHOWN, Reader, TimelineService

_USUAL: Final = "7d"
_LEAD: Final = translatable("What happened to the network, its members and Mudra itself.")
_MOMENT: Final = timedelta(seconds=1)
_FEWEST_ALIKE: Final = 3
_MOST_CHANGES: Final = 8
"""Listed next to their dots: more are in the table alone."""
TextOf = Callable[[Happening], str]
LinkOf = Callable[[Happening], str]
"""Returns the page of what happened, for the reader of the timeline; empty for none."""


def _table(text: TextOf, link: LinkOf) -> Table[Happening]:
    return Table(
        "timeline",
        translatable("Timeline"),
        (
            Column(
                "text",
                translatable("What happened"),
                text,
                link=link,
            ),
            Column(
                "severity",
                translatable("Severity"),
                lambda one: one.severity,
                "tag",
                tone=lambda one: SEVERITY_TONES[Severity(one.severity)] if one.severity else "",
                phone="state",
            ),
            Column("member", translatable("Member"), lambda one: one.entity_id or None, "file"),
            Column("kind", translatable("Kind"), lambda one: KIND_TITLES[one.kind], "file"),
            Column("at", translatable("At"), lambda one: one.at, "time", phone="figure"),
            Column(
                "lasts",
                translatable("Duration"),
                _duration,
                "tag",
                tone=lambda one: "bad" if _is_open(one) else "quiet",
                order=lambda one: (one.until - one.at).total_seconds() if one.until else None,
                phone="figure",
            ),
            Column("until", translatable("Until"), lambda one: one.until, "file"),
        ),
        first_sort="-at",
        rows=20,
    )


def _is_open(one: Happening) -> bool:
    return one.kind is HappeningKind.INCIDENT and one.until is None


def _duration(one: Happening) -> str:
    """Returns how long an event lasts; empty for one that only happens."""
    if one.until is not None:
        return span_text(one.until - (one.begins or one.at))
    return translatable("open") if _is_open(one) else ""


def _text_of(names: Mapping[str, str], own: str = "") -> TextOf:
    """Returns what writes an event with whom it happened to.

    An incident names its members itself; on the page of one's `own` no other is meant.
    """

    def text(one: Happening) -> str:
        if not one.entity_id or one.entity_id == own or one.kind is HappeningKind.INCIDENT:
            return f"{one.text[:1].upper()}{one.text[1:]}"
        return f"{names.get(one.entity_id, one.entity_id)}: {one.text}"

    return text


class _Shown(Struct, frozen=True):
    """Texts and links of events for the reader of a timeline."""

    text: TextOf
    link: LinkOf


def folded(found: Sequence[Happening]) -> Sequence[Happening]:
    """Returns the same with what happened alike to three members or more, in turn, as one row.

    The row has the time of the latest. A filter looks through all rows: nothing is hidden from it.
    """
    shown = list[Happening]()
    for (kind, text, until), alike in groupby(
        found, lambda one: (one.kind, one.text, one.until if one.entity_id else one.at)
    ):
        group = list(alike)
        members = {one.entity_id for one in group} - {""}
        if kind is HappeningKind.INCIDENT or until or len(members) < _FEWEST_ALIKE:
            shown += group
        else:
            several = gettext("%(count)s members: %(what)s", count=len(members), what=text)
            shown.append(replace(group[0], entity_id="", text=several))
    return shown


@page.get("/operator/timeline", gate=operator(Scope.HEALTH), reads=True)
async def network_timeline(page_context: PageContext) -> Outcome:
    """Show what happened to the network, or with `of` to one member."""
    view = query_of(page_context.query, page_context.now, _USUAL)
    if not isinstance(view, HealthQuery):
        return view
    of = page_context.query.get("of", "")[:64]
    found = await page_context.tx.service(TimelineService).of_network(
        _within(page_context, view), page_context.now, entity_id=of
    )
    lead = (
        gettext("What happened to the network and to %(member)s.", member=of)
        if of
        else gettext(_LEAD)
    )
    names = await page_context.tx.service(HealthService).names()
    shown = _Shown(_text_of(names), lambda one: _operators_link(one, page_context.scopes))
    return _page(page_context, view, found, lead, shown)


@page.get("/entity/{entity_id:str}/timeline", gate=READER, reads=True)
async def member_timeline(page_context: PageContext) -> Outcome:
    """Show what happened to the member, and to the whole network."""
    view = query_of(page_context.query, page_context.now, _USUAL)
    if not isinstance(view, HealthQuery):
        return view
    found = await page_context.tx.service(TimelineService).of_member(
        reader_of(page_context), _within(page_context, view), page_context.now
    )
    # That another version of Mudra began to run is of no use to a member.
    found = [one for one in found if one.kind is not HappeningKind.RELEASE]
    lead = gettext(
        "What happened to %(member)s and to the whole network.", member=page_context.member.name
    )
    own = page_context.member.entity_id
    shown = _Shown(_text_of({}, own), lambda one: _members_link(one, own))
    return _page(page_context, view, found, lead, shown)


def _operators_link(one: Happening, scopes: frozenset[Scope]) -> str:
    """Returns the page of an event; of a row of several members their list."""
    own = member_link(one.entity_id) if one.entity_id else operator_path("members")
    pages = {
        HappeningKind.INCIDENT: (Scope.HEALTH, operator_path(f"incidents/{one.ref}")),
        HappeningKind.DISPUTE: (Scope.HEALTH, operator_path(f"disputes/{one.ref}")),
        HappeningKind.ANNOUNCEMENT: (Scope.HEALTH, operator_path("announcements")),
        HappeningKind.AGENT: (Scope.HEALTH, operator_path(f"health/aa/{one.entity_id}")),
        HappeningKind.KEY: (Scope.KEYS, operator_path("keys")),
        HappeningKind.SECRET: (Scope.MEMBERS, own),
        HappeningKind.MAINTENANCE: (Scope.MEMBERS, own),
        HappeningKind.REGISTRATION: (
            (Scope.REGISTRY, approval_link(one.entity_id))
            if one.entity_id
            else (Scope.MEMBERS, own)
        ),
    }
    scope, path = pages.get(one.kind, (Scope.HEALTH, ""))
    return path if scope in scopes else ""


def _members_link(one: Happening, entity_id: str) -> str:
    """Returns the page of an event: of others only incidents and announcements have one."""
    if one.kind is HappeningKind.INCIDENT:
        return member_path(entity_id, f"health/incidents/{one.ref}")
    if one.kind is HappeningKind.ANNOUNCEMENT:
        return "/status"
    if one.entity_id != entity_id:
        return ""
    words = {
        HappeningKind.DISPUTE: f"disputes/{one.ref}",
        HappeningKind.SECRET: "secret",
        HappeningKind.REGISTRATION: "registration",
        HappeningKind.MAINTENANCE: "maintenance",
    }
    return member_path(entity_id, words[one.kind]) if one.kind in words else ""


async def changed_before(
    page_context: PageContext, incident: Incident, reader: Reader | None = None
) -> Sequence[tuple[Candidate, str]]:
    """Return what changed before an incident, each with the title of its kind."""
    found = await page_context.tx.service(TimelineService).before(
        incident, page_context.now, reader
    )
    return [(one, gettext(KIND_TITLES[one.happening.kind])) for one in found]


def reader_of(page_context: PageContext) -> Reader:
    """Return the member whose page it is, as a reader of timelines."""
    member = page_context.member
    return Reader(member.entity_id, of_fips=member.entity_type == EntityType.FIU.value)


def _within(page_context: PageContext, view: HealthQuery) -> TimeRange:
    """Return the time of a view; one that moves with the clock goes up to this moment."""
    end = page_context.now + _MOMENT if view.live else view.within.end
    return TimeRange(view.within.start, end)


def _page(
    page_context: PageContext,
    view: HealthQuery,
    found: Sequence[Happening],
    lead: str,
    shown: _Shown,
) -> Outcome:
    table = _table(shown.text, shown.link)
    left_out = f"only the latest {MAX_SHOWN}" if len(found) >= MAX_SHOWN else ""
    export = table.export(found, page_context.query, left_out=left_out)
    if export is not None:
        return export
    picture = picture_of(
        folded(found), _within(page_context, view), page_context.now, shown.text, shown.link
    )
    facts: Mapping[str, object] = {
        "view": view,
        "lead": lead,
        "listed": table.view(
            found if page_context.query.get("timeline.q") else folded(found), page_context.query
        ),
        "picture": picture,
        # The table says the same once more, with a filter and a file: who asked for it sees it.
        "opens_table": any(name.startswith("timeline.") for name in page_context.query),
        "tones": SEVERITY_TONES,
        "is_cut": bool(left_out),
        "most": MAX_SHOWN,
        "most_changes": _MOST_CHANGES,
    }
    return RenderedPage("timeline.html", facts)


handlers: Final[list[ControllerRouterHandler]] = [network_timeline, member_timeline]
