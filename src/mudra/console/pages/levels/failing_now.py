"""A member's open incidents next to its error budgets, which are counted once a day."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from msgspec import Struct
from msgspec.structs import replace

from mudra.console.framework.page_context import PageContext
from mudra.console.health.health_query import shown_codes
from mudra.console.health.labels import CauseLine, cause_lines, headline
from mudra.console.health.over_time import latest_windows
from mudra.console.pages.member.incident import incident_path
from mudra.levels.budgets.burn_rule import at_pace
from mudra.levels.budgets.burn_store import StoredBurn
from mudra.levels.level_service import LevelService
from mudra.levels.months import month_of
from mudra.levels.target import Measure
from mudra.metrics.health.health_service import HealthService
from mudra.metrics.incidents.incident import AaApi, AaCalls, StoredIncident
from mudra.metrics.incidents.incident_service import IncidentService
from mudra.metrics.incidents.subject import fip_of
from mudra.metrics.payload.catalogue import WINDOW
from mudra.shared.entity_type import EntityType

_HOUR: Final = timedelta(hours=1)
_OF_CALLS: Final = frozenset({Measure.AVAILABILITY, Measure.SUCCESS})
"""Measures that lose what fails in an incident; of FI requests it is not known what they lose."""


class FailingNow(Struct, frozen=True):
    """The open incidents of a member, and how many of its calls fail in them."""

    lines: Sequence[CauseLine] = ()
    failed_an_hour: float = 0.0


async def failing_now(page_context: PageContext) -> FailingNow:
    """Reads what fails at the member whose page it is."""
    own = page_context.member.entity_id
    open_causes = await page_context.tx.service(IncidentService).open_causes()
    found = [one for one in open_causes if _is_of(one, own)]
    if not found:
        return FailingNow()
    names = await page_context.tx.service(HealthService).names()
    lines = cause_lines(
        found,
        lambda one: incident_path(own, one),
        lambda one, recovers: headline(one, names, recovering=recovers),
    )
    return FailingNow(lines, await _failed_an_hour(page_context, found))


def with_pace(
    page_context: PageContext, found: Sequence[StoredBurn], now_failing: FailingNow
) -> Sequence[StoredBurn]:
    """Returns budgets with the outlook that they have while an incident is open."""
    zone = ZoneInfo(page_context.tx.service(LevelService).zone)
    return [
        replace(
            one,
            burn=at_pace(
                one.burn, one.until, now_failing.failed_an_hour, month_of(one.month, zone).end
            ),
        )
        if one.burn.measure in _OF_CALLS
        else one
        for one in found
    ]


def _is_of(stored: StoredIncident, own: str) -> bool:
    subject = stored.incident.subject
    of_aa = isinstance(subject, AaCalls | AaApi) and subject.aa_id == own
    return of_aa or fip_of(subject) == own


async def _failed_an_hour(page_context: PageContext, found: Sequence[StoredIncident]) -> float:
    """Returns what fails an hour in the windows of the last hour since the first of them began."""
    is_aa = page_context.member.entity_type == EntityType.AA.value
    own = page_context.member.entity_id
    began: datetime = min(one.incident.began for one in found)
    points = await latest_windows(
        page_context,
        found[0].incident,
        frozenset(code for one in found for code in shown_codes(one.incident)),
        aa_id=own if is_aa else None,
        fip_id=None if is_aa else own,
    )
    seen = [one.health for one in points if one.health is not None and one.start >= began]
    failed = sum(one.eligible - one.succeeded for one in seen)
    return failed * (_HOUR / WINDOW) / len(seen) if seen else 0.0
