"""Taking and assigning incidents from a list: one by its button, or many that are ticked."""

from collections.abc import Sequence
from typing import Final
from uuid import UUID

from litestar.types import ControllerRouterHandler

from mudra.console.framework import page
from mudra.console.framework.console_errors import PageRefusal
from mudra.console.framework.navigation import operator_path
from mudra.console.framework.page import Fields
from mudra.console.framework.page_context import PageContext
from mudra.console.framework.page_results import GoTo, Outcome
from mudra.console.health.tables import INCIDENTS
from mudra.http.auth.gates import operator
from mudra.http.response.http_refusals import InvalidField
from mudra.identity.operators.operator import Scope
from mudra.localization.language import gettext, ngettext, translatable
from mudra.metrics.incidents.acts.act import MAX_AT_ONCE
from mudra.metrics.incidents.acts.act_service import IncidentActService
from mudra.server_protocol.body_reader import BodyLimits
from mudra.shared.refusal import Refusal

_LIMITS: Final = BodyLimits(64 * 1024)
"""The ticks of a page of the list, and a few fields."""
_BACK: Final = {
    "board": operator_path("board"),
    "open": operator_path("incidents?open=true"),
    "all": operator_path("incidents"),
}
_TICKED: Final = f"{INCIDENTS}.tick."
_NONE_CHOSEN: Final = InvalidField(translatable("choose incidents: tick those to assign"))
_DONE: Final = "assigned"
_MAX_DIGITS: Final = 4


@page.post("/operator/incidents/assign", gate=operator(Scope.HEALTH), limits=_LIMITS)
async def assign_many(page_context: PageContext, fields: Fields) -> Outcome:
    """Assign the chosen incidents to the caller, or to the operator that the form names."""
    chosen = _chosen(fields)
    if isinstance(chosen, Refusal):
        return chosen
    owner = fields.get("owner", "") or page_context.user.email
    service = page_context.tx.service(IncidentActService)
    outcome = await service.assign_many(chosen, owner, page_context.caller)
    if isinstance(outcome, Refusal):
        return outcome
    back = _BACK.get(fields.get("back", ""), _BACK["all"])
    mark = "&" if "?" in back else "?"
    return GoTo(f"{back}{mark}told={_DONE}-{len(outcome.assigned)}-{len(outcome.left)}")


def assigned_text(done: str) -> str:
    """Returns what the form above came to, from the address that it led to; else nothing."""
    word, *numbers = done.split("-")
    if word != _DONE or [one for one in numbers if not one.isdecimal() or len(one) > _MAX_DIGITS]:
        return ""
    match [int(one) for one in numbers]:
        case [assigned, left]:
            return " ".join(text for text in (_assigned(assigned), _left(left)) if text)
        case _:
            return ""


def _assigned(count: int) -> str:
    if not count:
        return gettext("Nothing was assigned.")
    return ngettext("%(num)s incident assigned.", "%(num)s incidents assigned.", count)


def _left(count: int) -> str:
    if not count:
        return ""
    return ngettext(
        "%(num)s was left as it is: over, or owned by someone else. Take over on its page.",
        "%(num)s were left as they are: over, or owned by someone else. Take over on its page.",
        count,
    )


def _chosen(fields: Fields) -> Sequence[str] | Refusal:
    ticked = [name.removeprefix(_TICKED) for name in fields if name.startswith(_TICKED)]
    chosen = [*ticked, fields["incident"]] if fields.get("incident") else ticked
    if not chosen:
        return _NONE_CHOSEN
    if len(chosen) > MAX_AT_ONCE:
        return PageRefusal(gettext("choose at most %(most)s incidents at once", most=MAX_AT_ONCE))
    try:
        return [str(UUID(one)) for one in chosen]
    except ValueError:
        return InvalidField("incident must be the ID of an incident")


handlers: Final[list[ControllerRouterHandler]] = [assign_many]
