"""The operator's first page: what needs attention this week, each row with the next step."""

from typing import Final

from litestar import Response, get
from litestar.types import ControllerRouterHandler

from mudra.console.framework.page_context import PageContext
from mudra.console.framework.page_guards import any_operator_page
from mudra.console.framework.page_results import Outcome, RenderedPage
from mudra.console.framework.table import Column, Table
from mudra.console.pages.operator.labels import KINDS, URGENCIES, row_link
from mudra.http.dependencies import InjectedDependencies
from mudra.http.request.request_context import AnyRequest
from mudra.overview.operator_dashboard import NEEDED, DashboardRow, counted, read_dashboard

EXPORTED: Final = Table[DashboardRow](
    "board",
    "Needs attention this week",
    (
        Column("urgency", "Urgency", lambda row: row.urgency.value),
        Column("kind", "Kind", lambda row: row.kind.value),
        Column("at", "Since or by", lambda row: row.at, "time"),
        Column("entity", "Entity", lambda row: row.entity_id),
        Column("what", "What", lambda row: row.what),
        Column("act", "Next step", lambda row: row.next_step),
    ),
)


@get("/operator/board", include_in_schema=False)
async def show_board(
    request: AnyRequest, dependencies: InjectedDependencies
) -> Response[str] | Response[bytes]:
    """Show what needs attention this week, limited to the operator's scopes."""

    async def handle(page_context: PageContext) -> Outcome:
        found = await read_dashboard(page_context.work, page_context.scopes)
        kind = page_context.query.get("kind", "")
        rows = [row for row in found.rows if not kind or row.kind.value == kind]
        counts = counted(found.rows)
        return EXPORTED.export(rows, page_context.query) or RenderedPage(
            "operator_dashboard.html",
            {
                "kinds": [
                    {"word": one.value, "title": title, "count": counts[one]}
                    for one, title in KINDS.items()
                    if one not in found.hidden
                ],
                "kind": kind,
                "one_operator": dependencies.settings.one_operator_decides
                and not dependencies.settings.sandbox,
                "rows": [
                    {"row": row, "tag": URGENCIES[row.urgency], "link": row_link(row)}
                    for row in rows
                ],
                "all": len(found.rows),
                "hidden": [KINDS[one] for one in found.hidden],
                "needed": sorted({NEEDED[one].value for one in found.hidden}),
            },
        )

    return await any_operator_page(request, dependencies, handle)


handlers: Final[list[ControllerRouterHandler]] = [show_board]
