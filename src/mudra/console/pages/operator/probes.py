"""The button that probes the base URL of an entry: its result is on the page of the approval."""

from typing import Final

from litestar.params import FromPath
from litestar.types import ControllerRouterHandler

from mudra.console.framework import page
from mudra.console.framework.page import Fields
from mudra.console.framework.page_context import PageContext
from mudra.console.framework.page_results import GoTo, Outcome
from mudra.console.pages.operator.labels import approval_link
from mudra.http.auth.gates import operator
from mudra.identity.operators.operator import Scope
from mudra.registry.probe.probe_service import ProbeService
from mudra.shared.refusal import Refusal


@page.post("/operator/approvals/{entity_id:str}/probe", gate=operator(Scope.REGISTRY))
async def probe_entry(page_context: PageContext, _: Fields, entity_id: FromPath[str]) -> Outcome:
    """Ask for a probe; a job runs it within seconds."""
    outcome = await page_context.tx.service(ProbeService).request(entity_id, page_context.caller)
    if isinstance(outcome, Refusal):
        return outcome
    return GoTo(f"{approval_link(entity_id)}?told=probe#probe")


handlers: Final[list[ControllerRouterHandler]] = [probe_entry]
