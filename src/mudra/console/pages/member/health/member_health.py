"""The health of a member: a FIP as each AA sees it, an AA's own gaps, a FIU's FIPs."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Final
from zoneinfo import ZoneInfo

from litestar.params import FromPath
from litestar.types import ControllerRouterHandler
from markupsafe import Markup

from mudra.console.disputes.member_disputes import contest_path
from mudra.console.framework import page
from mudra.console.framework.navigation import member_path
from mudra.console.framework.page import Fields
from mudra.console.framework.page_context import PageContext
from mudra.console.framework.page_results import Download, GoTo, Outcome, RenderedPage, StreamedPage
from mudra.console.framework.shared_part import shared_table
from mudra.console.health.health_query import (
    ALL_ROWS,
    RANGES,
    HealthQuery,
    query_of,
)
from mudra.console.health.health_query import USUAL as LATEST
from mudra.console.health.incident_state import recovering_ids
from mudra.console.health.labels import cause_lines, headline
from mudra.console.health.over_time import LATER, OVER_TIME, PART
from mudra.console.health.planned import planned_maintenances
from mudra.console.pages.member.health.charted import FIP, Charted, charted_of, charts
from mudra.console.pages.member.health.fips_failing import failing_fips, of_one_aa, unexplained
from mudra.console.pages.member.health.health_lines import (
    ApiOfPair,
    lines_of,
    lines_table,
    shown_first,
)
from mudra.console.pages.member.health.is_it_me import ComparisonLine, compared_with_others
from mudra.console.pages.member.health.own_reports import OwnReports, own_reports
from mudra.console.pages.member.incident import incident_path
from mudra.http.auth.gates import ADMIN, READER
from mudra.localization.language import gettext, translatable
from mudra.metrics.health.health import Status
from mudra.metrics.health.health_service import HealthService
from mudra.metrics.health.network_health import HealthOfMember
from mudra.metrics.health.picture import Row
from mudra.metrics.incidents.explanation import may_see, of_api
from mudra.metrics.incidents.incident import StoredIncident
from mudra.metrics.incidents.incident_service import IncidentService
from mudra.metrics.incidents.subject import fip_concerned
from mudra.metrics.notifications.preference_service import FollowService
from mudra.metrics.rollup.coverage import Completeness, TimeRange, completeness
from mudra.shared.entity_type import EntityType
from mudra.shared.time_text import INDIA

_QUIET: Final = "24h"
"""What the page opens on while nothing is wrong: a member's calls of one hour may be few."""
_TITLES: Final = {
    EntityType.FIP: translatable("Your APIs, as AAs see them"),
    EntityType.AA: translatable("Your calls and reports"),
    EntityType.FIU: translatable("Health of all FIPs"),
}


@page.get("/entity/{entity_id:str}/health", gate=READER)
async def health(page_context: PageContext) -> Outcome:
    """Show the health that concerns the entity."""
    view = query_of(page_context.query, page_context.now, await _usual(page_context))
    if not isinstance(view, HealthQuery):
        return view
    if OVER_TIME.is_part(page_context.query):
        followed = await _followed(page_context)
        drawn = charted_of(page_context, view, (), (), ())
        found = await charts(page_context, drawn, followed)
        return (
            found if isinstance(found, Download) else RenderedPage(PART, {**found, "leading": view})
        )
    heading = gettext(_TITLES[EntityType(page_context.member.entity_type)])
    if await _followed(page_context):
        heading = gettext("Health of the FIPs you follow")
    facts = {"view": view, "heading": heading}
    return StreamedPage("health.html", facts, lambda then: _content(then, view))


async def _usual(page_context: PageContext) -> str:
    """Returns what the page opens on: the latest windows while something concerns the member."""
    if page_context.query.keys() & {"range", "from", "to"}:
        return _QUIET
    found = await page_context.tx.service(IncidentService).open_causes()
    followed = await _followed(page_context)
    now_wrong = any(_is_about(one, page_context, followed) for one in found)
    return LATEST if now_wrong else _QUIET


def _concerns(stored: StoredIncident, page_context: PageContext) -> bool:
    member = page_context.member
    fiu = member.entity_type == EntityType.FIU.value
    return may_see(stored.incident, member.entity_id, of_fips=fiu)


def _is_about(stored: StoredIncident, page_context: PageContext, followed: frozenset[str]) -> bool:
    return _concerns(stored, page_context) and (
        not followed or fip_concerned(stored.incident.subject) in {None, *followed}
    )


async def _concerning(page_context: PageContext, view: HealthQuery) -> Sequence[StoredIncident]:
    followed = await _followed(page_context)
    found = await page_context.tx.service(IncidentService).causes_within(view.within)
    return [
        one
        for one in found
        if _is_about(one, page_context, followed) and of_api(one.incident, view.code)
    ]


async def _followed(page_context: PageContext) -> frozenset[str]:
    """Returns the FIPs that the page is about: those that a FIU follows; empty for all."""
    kind = EntityType(page_context.member.entity_type)
    if kind is not EntityType.FIU or page_context.query.get("rows") == ALL_ROWS:
        return frozenset()
    return await page_context.tx.service(FollowService).of(page_context.member.entity_id)


async def _content(page_context: PageContext, view: HealthQuery) -> Mapping[str, object] | Download:
    entity_id, within = page_context.member.entity_id, view.within
    kind = EntityType(page_context.member.entity_type)
    incidents = await _concerning(page_context, view)
    own, followed = await _own(page_context, within), await _followed(page_context)
    rows = [row for row in own.rows if not followed or row.subject.fip_id in followed]
    drawn = charted_of(page_context, view, incidents, rows, followed)
    over = await _over_time(page_context, drawn, followed)
    if isinstance(over, Download):
        return over
    lines = await _lines(page_context, view, rows, incidents, followed)
    if isinstance(lines, Download):
        return lines
    health = page_context.tx.service(HealthService)
    names, judged_until = await health.names(), await health.judged_until()
    reports = OwnReports()
    is_it_me: Sequence[ComparisonLine] = ()
    if kind is EntityType.AA:
        is_it_me = await compared_with_others(page_context, rows, within, view.code)
        reports = await own_reports(page_context, within)
    return reports.export(page_context.query) or {
        **over,
        **drawn.shown(rows, kind, incidents),
        "names": names,
        **(await _of_fiu(page_context, rows, incidents) if kind is EntityType.FIU else {}),
        "causes": cause_lines(
            incidents,
            lambda one: incident_path(entity_id, one),
            lambda one, recovers: headline(one, names, recovering=recovers),
            recovering=recovering_ids(incidents, judged_until, page_context.now),
        ),
        "lines": lines,
        "troubled": _any_bad(rows) and not followed,
        "planned": await planned_maintenances(
            page_context, within, names, {entity_id, *(row.subject.fip_id for row in rows)}
        ),
        "complete": _complete(page_context, own, within, names),
        "contest": contest_path(entity_id, about="day", day=_last_whole_day(page_context, view)),
        "reports": kind is EntityType.AA,
        "is_it_me": is_it_me,
        **reports.shown(page_context.query),
    }


async def _lines(
    page_context: PageContext,
    view: HealthQuery,
    rows: Sequence[Row],
    incidents: Sequence[StoredIncident],
    followed: frozenset[str],
) -> Markup | Download:
    """Returns the table of the member's counterparts: of all, or of those that are bad."""
    kind = EntityType(page_context.member.entity_type)
    every = "export" in page_context.query  # a file has a row for each API
    good_now = await _good_now(page_context, view) if _any_bad(rows) else frozenset()
    alone = frozenset[str]()
    if kind is EntityType.FIU:
        now_open = await page_context.tx.service(IncidentService).open_causes()
        alone = of_one_aa(incidents, now_open)
    names = await page_context.tx.service(HealthService).names()
    asked_for_all = bool(view.rows) or every or "health.q" in page_context.query
    return await shared_table(
        page_context,
        (
            *("lines", "" if kind is EntityType.FIU else page_context.member.entity_id),
            *(view.within, view.code, followed, alone),
        ),
        (rows, good_now, names),
        lines_table(
            "AA" if kind is EntityType.FIP else "FIP", every=every, one_api=bool(view.code)
        ),
        lambda: shown_first(
            lines_of(rows, kind, view.code, good_now, names, every=every, of_one_aa=alone),
            every=asked_for_all or not _any_bad(rows) or bool(followed),
        ),
        gettext("No AA reported any traffic in this time."),
        gettext("Choose a longer time above to see more."),
        large=kind is not EntityType.FIP,
    )


def _complete(
    page_context: PageContext, own: HealthOfMember, within: TimeRange, names: Mapping[str, str]
) -> Completeness | None:
    """Returns how complete reports are; for a FIP, which has a row of each AA, by name."""
    is_fip = page_context.member.entity_type == EntityType.FIP.value
    named = names if is_fip else None
    return completeness(own.coverage, within, page_context.now, names=named) if own.rows else None


async def _over_time(
    page_context: PageContext, drawn: Charted, followed: frozenset[str]
) -> Mapping[str, object] | Download:
    """Return the charts, unless they are asked for later."""
    later = OVER_TIME.comes_later(page_context.query)
    return LATER if later else await charts(page_context, drawn, followed)


def _last_whole_day(page_context: PageContext, view: HealthQuery) -> str:
    """Return the last day of the view that is over, as the form that contests it takes it."""
    end = min(view.within.end, page_context.now).astimezone(ZoneInfo(INDIA))
    shown = (end - timedelta(microseconds=1)).date()
    today = page_context.now.astimezone(ZoneInfo(INDIA)).date()
    return min(shown, today - timedelta(days=1)).isoformat()


async def _own(page_context: PageContext, within: TimeRange) -> HealthOfMember:
    member = page_context.member
    return await page_context.tx.service(HealthService).of_member(
        member.entity_id, EntityType(member.entity_type), within, page_context.now, by_aa=True
    )


def _any_bad(rows: Sequence[Row]) -> bool:
    return any(
        api.health is not None and api.health.status is Status.BAD
        for row in rows
        for api in row.apis
    )


async def _of_fiu(
    page_context: PageContext, rows: Sequence[Row], incidents: Sequence[StoredIncident]
) -> Mapping[str, object]:
    """Returns how many of the FIPs of the page fail, why others are bad, and the FIPs to follow."""
    choices = await _choices(page_context)
    about = await _followed(page_context)
    now_open = await page_context.tx.service(IncidentService).open_causes()
    chosen = FIP in page_context.query
    return {
        **choices,
        "failing": failing_fips(incidents, chosen=chosen),
        "fips": len(about or await page_context.tx.service(HealthService).live_fips()),
        **unexplained(
            rows, incidents, now_open, await page_context.tx.service(HealthService).names()
        ),
    }


async def _choices(page_context: PageContext) -> Mapping[str, object]:
    """Returns the FIPs that a FIU follows, and the others, by name."""
    tx = page_context.tx
    followed = await tx.service(FollowService).of(page_context.member.entity_id)
    names, live = (
        await tx.service(HealthService).names(),
        await tx.service(HealthService).live_fips(),
    )
    listed = sorted((names.get(one, one), one) for one in {*live, *followed})
    return {
        "followed": [(name, one) for name, one in listed if one in followed],
        "others": [(name, one) for name, one in listed if one not in followed],
    }


@page.post("/entity/{entity_id:str}/health/follow", gate=ADMIN)
async def follow(page_context: PageContext, fields: Fields, entity_id: FromPath[str]) -> Outcome:
    """Follow a FIP (`follow` names it), or no longer (`unfollow`)."""
    follows = "follow" in fields
    fip_id = fields.get("follow" if follows else "unfollow", "")
    refused = await page_context.tx.service(FollowService).change(
        entity_id, fip_id, page_context.caller, follow=follows
    )
    return refused or GoTo(f"{member_path(entity_id, 'health')}#followed")


async def _good_now(page_context: PageContext, view: HealthQuery) -> frozenset[ApiOfPair]:
    """Returns which APIs are GOOD in the last hour; none where the page is about that anyway."""
    if not view.live or view.range_name == LATEST:
        return frozenset()
    end = view.within.end
    latest = await _own(page_context, TimeRange(end - RANGES[LATEST], end))
    return frozenset(
        (row.subject.aa_id, row.subject.fip_id, api.tag, api.type)
        for row in latest.rows
        for api in row.apis
        if api.health is not None and api.health.status is Status.GOOD
    )


handlers: Final[list[ControllerRouterHandler]] = [health, follow]
