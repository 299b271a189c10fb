"""Which calls of an incident a member is shown: its own, or those to the FIP that it depends on."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Final

from msgspec import Struct

from mudra.console.framework.page_context import PageContext
from mudra.localization.language import gettext
from mudra.metrics.health.health_service import HealthService
from mudra.metrics.incidents.incident import AaReporting, Incident
from mudra.metrics.incidents.subject import aa_concerned, fip_concerned
from mudra.metrics.payload.catalogue import window_start
from mudra.metrics.rollup.coverage import TimeRange
from mudra.metrics.rollup.series import Point
from mudra.metrics.rollup.step import Step
from mudra.shared.entity_type import EntityType

_LATEST: Final = timedelta(hours=1)


class OwnCalls(Struct, frozen=True):
    """The calls, and what a heading calls them; `aa_id` and `fip_id` are None for all."""

    aa_id: str | None
    fip_id: str | None
    text: str


def own_calls_of(found: Incident, entity_id: str, kind: EntityType) -> OwnCalls | None:
    """Returns the calls that concern a member; None of an agent, of which no calls are known.

    An AA sees its own calls, a FIP those that it receives: none of a third party alone.
    """
    if isinstance(found.subject, AaReporting):
        return None
    aa_id, fip_id = aa_concerned(found.subject), fip_concerned(found.subject)
    if kind is EntityType.AA:
        text = gettext("Your calls to %(fip)s", fip=fip_id) if fip_id else gettext("Your calls")
        return OwnCalls(entity_id, fip_id, text)
    if kind is EntityType.FIP:
        of_pair = aa_id if fip_id == entity_id else None
        return OwnCalls(of_pair, entity_id, gettext("Calls to you"))
    text = gettext("Calls of all AAs to %(fip)s", fip=fip_id) if fip_id else gettext("All calls")
    return OwnCalls(None, fip_id, text)


async def latest_windows(
    page_context: PageContext, calls: OwnCalls, codes: frozenset[str]
) -> Sequence[Point]:
    """Returns the windows of the last hour, the latest last."""
    end = window_start(page_context.now)
    within = TimeRange(end - _LATEST, end)
    return await page_context.tx.service(HealthService).steps(
        within, Step.WINDOW, codes, aa_id=calls.aa_id, fip_id=calls.fip_id
    )
