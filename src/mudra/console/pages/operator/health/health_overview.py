"""Network health at a glance: over time, causes, the AA x FIP matrix, missing reports."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Final

from litestar.types import ControllerRouterHandler
from markupsafe import Markup
from msgspec import Struct

from mudra.console.framework import page
from mudra.console.framework.page_context import PageContext
from mudra.console.framework.page_results import Outcome, RenderedPage, StreamedPage
from mudra.console.framework.render import part
from mudra.console.framework.shared_part import shared_part
from mudra.console.health.grid import HEALTH, Grid, GridRow, grid_of
from mudra.console.health.health_query import HealthQuery, query_of
from mudra.console.health.heatmap import Worst, codes_hit, heat_map, worst_of
from mudra.console.health.incident_state import recovering_ids
from mudra.console.health.labels import cause_lines, distinct_names, named_headline
from mudra.console.health.over_time import first_calls
from mudra.console.health.planned import planned_maintenances
from mudra.console.health.trend import TREND, TREND_PART, trend
from mudra.http.auth.gates import operator
from mudra.identity.operators.operator import Scope
from mudra.metrics.health.health_service import HealthService
from mudra.metrics.incidents.incident_service import IncidentService
from mudra.metrics.payload.catalogue import CALL_CODES
from mudra.metrics.rollup.coverage import Coverage, completeness
from mudra.metrics.rollup.percentage import percentage, share_of

_MAX_OPEN: Final = 50


@page.get("/operator/health", gate=operator(Scope.HEALTH), reads=True)
async def show_overview(page_context: PageContext) -> Outcome:
    """Show the network over time, the causes, and the matrix."""
    view = query_of(page_context.query, page_context.now)
    if not isinstance(view, HealthQuery):
        return view
    if TREND.is_part(page_context.query):
        names = distinct_names(await page_context.tx.service(HealthService).names())
        found = await trend(page_context, view, names)
        return RenderedPage(TREND_PART, {"trend": found, "view": view, "home": HEALTH})
    return StreamedPage(
        "health_overview.html", {"view": view, "home": HEALTH}, lambda then: _content(then, view)
    )


class _Drawn(Struct, frozen=True):
    """The matrix of a view, which is the same for every operator."""

    hit: int
    recovered: int
    pairs: int
    bad: int
    rows: int
    shown: int
    success: float | None
    eligible: int
    picture: Markup


def _drawn(grid: Grid, view: HealthQuery, worst: Worst) -> _Drawn:
    rows = _shown(grid, view)
    found = heat_map(grid, rows, worst, view.code, HEALTH, view.query())
    return _Drawn(
        grid.hit,
        grid.recovered,
        grid.pairs,
        len(grid.bad_rows),
        len(grid.rows),
        len(rows),
        percentage(share_of(grid.succeeded, grid.eligible), 1),
        grid.eligible,
        part("health_matrix.html", {"map": found}),
    )


def _shown(grid: Grid, view: HealthQuery) -> Sequence[GridRow]:
    """Returns the rows with trouble; all where there is none, or the view asks for them."""
    troubled = [row for row in grid.rows if row.rank in {0, 1}]
    return grid.rows if view.rows or not troubled else troubled


async def _worst(page_context: PageContext, view: HealthQuery, grid: Grid) -> Worst:
    """Returns the worst API of each pair of a FIP with trouble; none where the view is of one."""
    fips = {row.fip_id for row in grid.rows if row.rank in {0, 1}}
    if view.code or not fips:
        return {}
    health = page_context.tx.service(HealthService)
    seen = await health.seen_by_aas(view.within, fips, CALL_CODES)
    return await asyncio.to_thread(worst_of, seen, codes_hit(grid.rows))


async def _content(page_context: PageContext, view: HealthQuery) -> Mapping[str, object]:
    tx, within = page_context.tx, view.within
    health = tx.service(HealthService)
    matrix = await health.matrix(within, view.code)
    coverage = await health.coverage(within, page_context.now)
    names, silent = distinct_names(await health.names()), _silent(coverage)
    recovering = recovering_ids(matrix.causes, await health.judged_until(), page_context.now)
    latest = await tx.service(IncidentService).latest(only_open=True, limit=_MAX_OPEN)
    still_open = [one for one in latest if one.is_open]  # not what people closed, as on the board
    fips = await health.live_fips()
    grid = await asyncio.to_thread(grid_of, matrix, coverage.expected, fips, names)
    worst = await _worst(page_context, view, grid)
    shown = await shared_part(
        page_context,
        ("matrix", view),
        (matrix, coverage.expected, fips, names),
        lambda: _drawn(grid, view, worst),
        large=True,
    )
    return {
        "drawn": shown,
        "first_at": await first_calls(page_context, view),
        "trend": None
        if TREND.comes_later(page_context.query)
        else await trend(page_context, view, names, matrix.causes),
        "causes": cause_lines(matrix.causes, heading=named_headline(names), recovering=recovering),
        "reports": completeness(coverage, within, page_context.now, names=names),
        "planned": await planned_maintenances(page_context, within, names),
        "silent": silent,
        "never": await health.never_reported([aa for aa, heard, _ in silent if not heard]),
        "names": names,
        "open_count": len(still_open),
    }


def _silent(coverage: Coverage) -> list[tuple[str, int, int]]:
    """Returns received and expected reports of each AA that lacks some, the most missing first."""
    found = []
    for aa_id in sorted(coverage.expected):
        proof = coverage.proof(aa_id)
        if proof.windows_received < proof.windows_expected:
            found.append((aa_id, proof.windows_received, proof.windows_expected))
    return sorted(found, key=lambda one: one[1] / one[2])


handlers: Final[list[ControllerRouterHandler]] = [show_overview]
