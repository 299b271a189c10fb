"""Silences: started and ended on the page of incidents."""

from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from litestar import Response, post
from litestar.params import FromPath
from litestar.types import ControllerRouterHandler

from mudra.console.framework.page_context import PageContext
from mudra.console.framework.page_guards import Fields, operator_form
from mudra.console.framework.page_results import GoTo, Outcome
from mudra.console.health.health_query import CALLS
from mudra.http.dependencies import InjectedDependencies
from mudra.http.request.request_context import AnyRequest
from mudra.http.response.http_refusals import InvalidField
from mudra.identity.operators.operator import Scope
from mudra.metrics.health.api_names import api_name
from mudra.metrics.incidents.incident import Subject
from mudra.metrics.incidents.silence import CODES, Silence, SilenceCommand
from mudra.metrics.incidents.subject import name_of

_PAGE: Final = "/console/operator/incidents"
LENGTHS: Final = {
    1: "1 hour",
    4: "4 hours",
    12: "12 hours",
    24: "1 day",
    72: "3 days",
    168: "1 week",
    720: "30 days",
}
_MESSAGES: Final = {
    "silenced": "Silence started.",
    "ended": "Silence ended. Alerts resume for incidents that continue.",
}


async def silence_facts(page_context: PageContext) -> dict[str, object]:
    """Returns the values about silences for the page of incidents."""
    return {
        "silences": await page_context.work.silences.list(page_context.now),
        "apis": {code: api_name(code) for code in CALLS},
        "lengths": LENGTHS,
        "entity_ids": sorted(await page_context.work.health.names()),
        "about": page_context.query.get("about", "")[:64],
        "about_peer": page_context.query.get("peer", "")[:64],
        "about_type": page_context.query.get("type", ""),
        "message": _MESSAGES.get(page_context.query.get("told", ""), ""),
    }


def silence_about(subject: Subject, ends: datetime, reason: str) -> SilenceCommand:
    """Returns the silence of alarms about a subject from now on."""
    name = name_of(subject)
    code = name.type if name.type in CODES else ""
    return SilenceCommand(name.entity_id, code, None, ends, reason, name.peer_id)


@post("/operator/silences", include_in_schema=False)
async def begin(
    request: AnyRequest, dependencies: InjectedDependencies
) -> Response[str] | Response[bytes]:
    """Start a silence now."""

    async def handle(page_context: PageContext, fields: Fields) -> Outcome:
        hours = fields.get("hours", "")
        if hours not in map(str, LENGTHS):
            return InvalidField(f"hours must be one of {', '.join(map(str, LENGTHS))}")
        command = SilenceCommand(
            fields.get("entity_id", "").strip(),
            fields.get("type", ""),
            None,
            page_context.now + timedelta(hours=int(hours)),
            fields.get("reason", ""),
            fields.get("peer_id", "").strip(),
            maintenance=fields.get("maintenance", "") == "yes",
        )
        outcome = await page_context.work.silences.begin(
            command, page_context.caller, page_context.now
        )
        return GoTo(f"{_PAGE}?told=silenced") if isinstance(outcome, Silence) else outcome

    return await operator_form(request, dependencies, Scope.HEALTH, handle)


@post("/operator/silences/{silence_id:uuid}/end", include_in_schema=False)
async def end(
    request: AnyRequest, dependencies: InjectedDependencies, silence_id: FromPath[UUID]
) -> Response[str] | Response[bytes]:
    """End a silence now."""

    async def handle(page_context: PageContext, _: Fields) -> Outcome:
        outcome = await page_context.work.silences.end(
            str(silence_id), page_context.caller, page_context.now
        )
        return GoTo(f"{_PAGE}?told=ended") if isinstance(outcome, Silence) else outcome

    return await operator_form(request, dependencies, Scope.HEALTH, handle)


handlers: Final[list[ControllerRouterHandler]] = [begin, end]
