"""The list of incidents, with the silences that hold alarms about them back."""

from typing import Final

from litestar import Response, get
from litestar.types import ControllerRouterHandler

from mudra.console.framework.page_context import PageContext
from mudra.console.framework.page_guards import operator_page
from mudra.console.framework.page_results import Outcome, RenderedPage
from mudra.console.health.tables import incidents_table
from mudra.console.pages.operator.health.silences import silence_facts
from mudra.http.dependencies import InjectedDependencies
from mudra.http.request.request_context import AnyRequest
from mudra.identity.operators.operator import Scope

_MAX_COUNT: Final = 1000


@get("/operator/incidents", include_in_schema=False)
async def incidents(
    request: AnyRequest, dependencies: InjectedDependencies
) -> Response[str] | Response[bytes]:
    """List incidents; `open=true` for open ones only."""

    async def handle(page_context: PageContext) -> Outcome:
        only_open = page_context.query.get("open") == "true"
        found = page_context.work.incidents
        rows = await (found.to_handle if only_open else found.latest)(limit=_MAX_COUNT)
        table = incidents_table()
        view = table.view(rows, page_context.query)
        return table.export(rows, page_context.query) or RenderedPage(
            "incidents.html",
            {"view": view, "only_open": only_open, **await silence_facts(page_context)},
        )

    return await operator_page(request, dependencies, Scope.HEALTH, handle, reads=True)


handlers: Final[list[ControllerRouterHandler]] = [incidents]
