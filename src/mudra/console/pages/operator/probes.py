"""The button that probes the base URL of an entry: its result is on the page of the approval."""

from typing import Final

from litestar import Response, post
from litestar.params import FromPath
from litestar.types import ControllerRouterHandler

from mudra.console.framework.page_context import PageContext
from mudra.console.framework.page_guards import Fields, operator_form
from mudra.console.framework.page_results import GoTo, Outcome
from mudra.console.pages.operator.labels import approval_link
from mudra.http.dependencies import InjectedDependencies
from mudra.http.request.request_context import AnyRequest
from mudra.identity.operators.operator import Scope
from mudra.shared.refusal import Refusal


@post("/operator/approvals/{entity_id:str}/probe", include_in_schema=False)
async def probe_entry(
    entity_id: FromPath[str], request: AnyRequest, dependencies: InjectedDependencies
) -> Response[str] | Response[bytes]:
    """Ask for a probe; a job runs it within seconds."""

    async def handle(page_context: PageContext, _: Fields) -> Outcome:
        outcome = await page_context.work.probes.request(entity_id, page_context.caller)
        if isinstance(outcome, Refusal):
            return outcome
        return GoTo(f"{approval_link(entity_id)}?told=probe#probe")

    return await operator_form(request, dependencies, Scope.REGISTRY, handle)


handlers: Final[list[ControllerRouterHandler]] = [probe_entry]
