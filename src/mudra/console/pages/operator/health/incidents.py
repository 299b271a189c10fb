"""The list of incidents, with the silences that hold alarms about them back."""

from typing import Final

from litestar import Response, get
from litestar.types import ControllerRouterHandler

from mudra.console.framework.page_context import PageContext
from mudra.console.framework.page_guards import operator_page
from mudra.console.framework.page_results import Outcome
from mudra.console.pages.operator.health.silences import SilenceForm, incidents_page
from mudra.http.dependencies import InjectedDependencies
from mudra.http.request.request_context import AnyRequest
from mudra.identity.operators.operator import Scope


@get("/operator/incidents", include_in_schema=False)
async def incidents(
    request: AnyRequest, dependencies: InjectedDependencies
) -> Response[str] | Response[bytes]:
    """List incidents; `open=true` for open ones only."""

    async def handle(page_context: PageContext) -> Outcome:
        return await incidents_page(page_context, SilenceForm())

    return await operator_page(request, dependencies, Scope.HEALTH, handle)


handlers: Final[list[ControllerRouterHandler]] = [incidents]
