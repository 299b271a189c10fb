"""The funnel of an AA or FIP: its steps, its counterparts, its weeks, and its role's quartiles."""

from collections.abc import Mapping
from typing import Final

from litestar.types import ControllerRouterHandler

from mudra.comparison.funnel_service import FunnelService
from mudra.comparison.role_measures import RoleWeek
from mudra.comparison.role_service import RoleService
from mudra.comparison.roles import KEYS
from mudra.console.framework import page
from mudra.console.framework.page_context import PageContext
from mudra.console.framework.page_results import Download, Outcome, StreamedPage
from mudra.console.health.health_query import HealthQuery, query_of
from mudra.console.health.over_time import first_calls
from mudra.console.pages.comparison.funnel_view import (
    facts_of,
    subjects_of,
    subjects_table,
    trend_of,
)
from mudra.console.pages.comparison.funnel_view import weeks_table as by_week
from mudra.console.pages.comparison.role_view import role_view
from mudra.http.auth.gates import READER
from mudra.http.response.http_refusals import InvalidField
from mudra.metrics.health.health_service import HealthService
from mudra.metrics.health.picture import Grouping
from mudra.shared.entity_type import EntityType
from mudra.shared.refusal import Refusal

_USUAL: Final = "7d"


@page.get("/entity/{entity_id:str}/funnel", gate=READER)
async def funnel(page_context: PageContext) -> Outcome:
    """Show the steps from discovery to fetched data of the entity's own calls."""
    view = query_of(page_context.query, page_context.now, _USUAL)
    if not isinstance(view, HealthQuery):
        return view
    if EntityType(page_context.member.entity_type) not in KEYS:
        return InvalidField("the entity must be an AA or a FIP: calls are not counted by FIU")
    refused = await _week(page_context)
    if isinstance(refused, Refusal):
        return refused
    return StreamedPage("funnel.html", {"view": view}, lambda then: _content(then, view))


async def _content(page_context: PageContext, view: HealthQuery) -> Mapping[str, object] | Download:
    member, now = page_context.member, page_context.now
    kind = EntityType(member.entity_type)
    service = page_context.tx.service(FunnelService)
    aa_id = member.entity_id if kind is EntityType.AA else None
    fip_id = member.entity_id if kind is EntityType.FIP else None
    whole = await service.funnels(view.within, Grouping.NETWORK, now, aa_id=aa_id, fip_id=fip_id)
    others = await service.funnels(view.within, Grouping.PAIR, now, aa_id=aa_id, fip_id=fip_id)
    assert not isinstance(whole, Refusal)
    assert not isinstance(others, Refusal)
    weeks = await service.weeks(trend_of(view.within), now, aa_id=aa_id, fip_id=fip_id)
    compared = await _week(page_context)
    assert not isinstance(compared, Refusal)
    names = await page_context.tx.service(HealthService).names()
    table = subjects_table("fip" if kind is EntityType.AA else "aa", None, names)
    rows = subjects_of(others, whole[0])
    query, shown = page_context.query, role_view(compared, now, member.entity_id)
    return (
        table.export(rows, query)
        or by_week().export(weeks, query)
        or {
            **facts_of(whole[0], weeks, query),
            "since": await first_calls(page_context, view, aa_id=aa_id, fip_id=fip_id),
            "subjects": [table.view(rows, query)],
            "compared": shown if shown.lines or "week" in query else None,
        }
    )


async def _week(page_context: PageContext) -> RoleWeek | Refusal:
    """Returns the week that the address names, else the last one that is settled."""
    kind, name = EntityType(page_context.member.entity_type), page_context.query.get("week", "")
    return await page_context.tx.service(RoleService).of_week(kind, name, page_context.now)


handlers: Final[list[ControllerRouterHandler]] = [funnel]
