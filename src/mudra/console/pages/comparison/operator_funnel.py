"""The funnel of the network, of an AA, of a FIP, or of a pair."""

from collections.abc import Mapping, Sequence
from typing import Final
from urllib.parse import quote

from litestar.params import FromPath
from litestar.types import ControllerRouterHandler
from msgspec import Struct

from mudra.comparison.funnel import Funnel
from mudra.comparison.funnel_service import FunnelService
from mudra.comparison.role_service import RoleService
from mudra.comparison.roles import KEYS
from mudra.console.framework import page
from mudra.console.framework.navigation import operator_path
from mudra.console.framework.page_context import PageContext
from mudra.console.framework.page_results import Download, Outcome, StreamedPage
from mudra.console.framework.table import Table
from mudra.console.health.health_query import HealthQuery, query_of
from mudra.console.health.incident_state import recovering_ids
from mudra.console.health.labels import CauseLine, cause_lines, named_headline
from mudra.console.health.over_time import first_calls
from mudra.console.pages.comparison.funnel_view import (
    Subject,
    facts_of,
    subjects_of,
    subjects_table,
    trend_of,
)
from mudra.console.pages.comparison.funnel_view import weeks_table as by_week
from mudra.console.pages.comparison.role_view import RoleView, role_view
from mudra.http.auth.gates import operator
from mudra.identity.operators.operator import Scope
from mudra.metrics.health.health_service import HealthService
from mudra.metrics.health.picture import Grouping
from mudra.metrics.incidents.explanation import concerns
from mudra.metrics.incidents.incident_service import IncidentService
from mudra.shared.refusal import Refusal

_USUAL: Final = "7d"
_MAX_OPEN: Final = 50
HOME: Final = operator_path("funnel")


class About(Struct, frozen=True):
    """The AA and the FIP that a funnel is of; None for all."""

    aa_id: str | None = None
    fip_id: str | None = None


@page.get("/operator/funnel", gate=operator(Scope.HEALTH), reads=True)
async def funnel(page_context: PageContext) -> Outcome:
    """Show the steps from discovery to fetched data, of all calls."""
    return await _handle(page_context, About())


@page.get("/operator/funnel/fip/{fip_id:str}", gate=operator(Scope.HEALTH), reads=True)
async def funnel_of_fip(page_context: PageContext, fip_id: FromPath[str]) -> Outcome:
    """Show the same of the calls to one FIP."""
    return await _handle(page_context, About(fip_id=fip_id))


@page.get("/operator/funnel/aa/{aa_id:str}", gate=operator(Scope.HEALTH), reads=True)
async def funnel_of_aa(page_context: PageContext, aa_id: FromPath[str]) -> Outcome:
    """Show the same of the calls of one AA."""
    return await _handle(page_context, About(aa_id=aa_id))


@page.get("/operator/funnel/pair/{aa_id:str}/{fip_id:str}", gate=operator(Scope.HEALTH), reads=True)
async def funnel_of_pair(
    page_context: PageContext, aa_id: FromPath[str], fip_id: FromPath[str]
) -> Outcome:
    """Show the same of the calls of one AA to one FIP."""
    return await _handle(page_context, About(aa_id, fip_id))


async def _handle(page_context: PageContext, about: About) -> Outcome:
    view = query_of(page_context.query, page_context.now, _USUAL)
    if not isinstance(view, HealthQuery):
        return view
    names = await page_context.tx.service(HealthService).names()
    ids = [one for one in (about.aa_id, about.fip_id) if one]
    return StreamedPage(
        "operator_funnel.html",
        {"view": view, "home": HOME, "of": [(names.get(one, one), one) for one in ids]},
        lambda then: _content(then, about, view),
    )


async def _content(
    page_context: PageContext, about: About, view: HealthQuery
) -> Mapping[str, object] | Download:
    service, now, within = page_context.tx.service(FunnelService), page_context.now, view.within
    aa_id, fip_id = about.aa_id, about.fip_id
    whole = network = await service.funnels(within, Grouping.NETWORK, now)
    if about != About():
        whole = await service.funnels(within, Grouping.NETWORK, now, aa_id=aa_id, fip_id=fip_id)
    assert not isinstance(whole, Refusal)
    assert not isinstance(network, Refusal)
    weeks = await service.weeks(trend_of(within), now, aa_id=aa_id, fip_id=fip_id)
    tables = await _subjects(page_context, about, view, network[0])
    query = page_context.query
    for file in (
        *(table.export(rows, query) for table, rows in tables),
        by_week().export(weeks, query),
    ):
        if file is not None:
            return file
    return {
        **facts_of(whole[0], weeks, query, None if about == About() else network[0]),
        "since": await first_calls(page_context, view, aa_id=aa_id, fip_id=fip_id),
        "subjects": [table.view(rows, query) for table, rows in tables],
        "open": await _open(page_context, about),
        "roles": await _roles(page_context) if about == About() else [],
    }


async def _subjects(
    page_context: PageContext, about: About, view: HealthQuery, network: Funnel
) -> Sequence[tuple[Table[Subject], Sequence[Subject]]]:
    """Returns the funnels by FIP and by AA; of a member by counterpart, of a pair none.

    Each is next to the network, as on the page to which its row leads.
    """
    aa_id, fip_id = about.aa_id, about.fip_id
    if aa_id is not None and fip_id is not None:
        return []
    names = await page_context.tx.service(HealthService).names()
    wanted = [
        (subjects_table("fip", lambda one: _path("fip", one.fip_id), names), Grouping.FIP),
        (subjects_table("aa", lambda one: _path("aa", one.aa_id), names), Grouping.AA),
    ]
    if about != About():
        wanted = [(subjects_table("fip" if aa_id else "aa", _pair, names), Grouping.PAIR)]
    service, found = page_context.tx.service(FunnelService), []
    for table, grouping in wanted:
        rows = await service.funnels(
            view.within, grouping, page_context.now, aa_id=aa_id, fip_id=fip_id
        )
        assert not isinstance(rows, Refusal)
        found.append((table, subjects_of(rows, network)))
    return found


def _path(*words: str) -> str:
    return "/".join((HOME, *(quote(one, safe="") for one in words)))


def _pair(one: Funnel) -> str:
    return _path("pair", one.aa_id, one.fip_id)


async def _open(page_context: PageContext, about: About) -> Sequence[CauseLine]:
    """Returns the open incidents that reach a member or pair; none of the network."""
    if about == About():
        return []
    found = await page_context.tx.service(IncidentService).latest(only_open=True, limit=_MAX_OPEN)
    health = page_context.tx.service(HealthService)
    reaching = [one for one in found if concerns(one.incident, about.aa_id, about.fip_id)]
    recovering = recovering_ids(reaching, await health.judged_until(), page_context.now)
    heading = named_headline(await health.names())
    return cause_lines(
        [one for one in reaching if one.is_open], heading=heading, recovering=recovering
    )


async def _roles(page_context: PageContext) -> Sequence[RoleView]:
    """Returns what FIPs and AAs see of each other in the last week that is settled."""
    service, now = page_context.tx.service(RoleService), page_context.now
    found = []
    for role in KEYS:
        week = await service.of_week(role, "", now)
        assert not isinstance(week, Refusal)
        found.append(role_view(week, now))
    return found


handlers: Final[list[ControllerRouterHandler]] = [
    funnel,
    funnel_of_fip,
    funnel_of_aa,
    funnel_of_pair,
]
