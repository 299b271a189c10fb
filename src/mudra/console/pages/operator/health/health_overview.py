"""Network health at a glance: the AA x FIP matrix, causes, open incidents, missing reports."""

from collections.abc import Collection, Mapping
from typing import Final

from litestar.types import ControllerRouterHandler
from markupsafe import Markup
from msgspec import Struct

from mudra.console.framework import page
from mudra.console.framework.page_context import PageContext
from mudra.console.framework.page_results import Outcome, StreamedPage
from mudra.console.framework.render import part
from mudra.console.framework.shared_part import shared_part
from mudra.console.health.grid import HEALTH, Grid, GridSummary, grid_of
from mudra.console.health.health_query import HealthQuery, query_of
from mudra.console.health.labels import AMBIGUOUS, MARKS, cause_lines
from mudra.http.auth.gates import operator
from mudra.identity.operators.operator import Scope
from mudra.metrics.health.health_service import HealthService
from mudra.metrics.incidents.incident_service import IncidentService
from mudra.metrics.incidents.subject import fip_concerned
from mudra.metrics.rollup.coverage import Coverage

_MAX_OPEN: Final = 50


@page.get("/operator/health", gate=operator(Scope.HEALTH), reads=True)
async def show_overview(page_context: PageContext) -> Outcome:
    """Show the matrix."""
    view = query_of(page_context.query, page_context.now)
    if not isinstance(view, HealthQuery):
        return view
    return StreamedPage(
        "health_overview.html", {"view": view, "home": HEALTH}, lambda then: _content(then, view)
    )


class _Drawn(Struct, frozen=True):
    """The matrix of a view, which is the same for every operator."""

    grid: GridSummary
    rows: Markup


def _drawn(grid: Grid, view: HealthQuery, hit: Collection[str]) -> _Drawn:
    rows = grid.rows if view.rows else grid.first_rows
    facts = {"rows": rows, "query": view.query(), "home": HEALTH, "hit": hit}
    return _Drawn(grid.summary(), part("health_matrix_rows.html", facts))


async def _content(page_context: PageContext, view: HealthQuery) -> Mapping[str, object]:
    tx = page_context.tx
    matrix = await tx.service(HealthService).matrix(view.within, view.code)
    coverage = await tx.service(HealthService).coverage(view.within, page_context.now)
    names, silent = await tx.service(HealthService).names(), _silent(coverage)
    latest = await tx.service(IncidentService).latest(only_open=True, limit=_MAX_OPEN)
    still_open = [one for one in latest if one.is_open]  # not what people closed, as on the board
    fips = await tx.service(HealthService).live_fips()
    hit = {fip_id for one in still_open if (fip_id := fip_concerned(one.incident.subject))}
    shown = await shared_part(
        page_context,
        ("matrix", view),
        (matrix, coverage.expected, fips, names, hit),
        lambda: _drawn(grid_of(matrix, coverage.expected, fips, names), view, hit),
    )
    return {
        "grid": shown.grid,
        "rows": shown.rows,
        "causes": cause_lines(matrix.causes),
        "proof": coverage.proof(),
        "planned": await tx.service(HealthService).maintenances(view.within, page_context.now),
        "silent": silent,
        "never": await tx.service(HealthService).never_reported(
            [aa for aa, heard, _ in silent if not heard]
        ),
        "names": names,
        "open_count": len(still_open),
        "marks": sorted({*MARKS.values(), AMBIGUOUS}, reverse=True),
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
