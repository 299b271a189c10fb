"""The list of incidents, with the silences that hold alarms about them back."""

from typing import Final

from litestar.types import ControllerRouterHandler

from mudra.console.framework import page
from mudra.console.framework.page_context import PageContext
from mudra.console.framework.page_results import Outcome
from mudra.console.health.silence_form import SilenceForm
from mudra.console.pages.operator.health.silences import incidents_page
from mudra.http.auth.gates import operator
from mudra.identity.operators.operator import Scope


@page.get("/operator/incidents", gate=operator(Scope.HEALTH))
async def incidents(page_context: PageContext) -> Outcome:
    """List incidents; `open=true` for open ones only."""
    return await incidents_page(page_context, SilenceForm())


handlers: Final[list[ControllerRouterHandler]] = [incidents]
