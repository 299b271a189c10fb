"""Planned maintenances on pages, each with what the network's rule makes of it."""

from collections.abc import Collection
from datetime import timedelta
from typing import Final

from mudra.console.framework.page_context import PageContext
from mudra.levels.level_service import LevelService
from mudra.levels.notice import Notice
from mudra.metrics.health.health_service import HealthService
from mudra.metrics.incidents.silence import Silence
from mudra.metrics.incidents.subject import Names
from mudra.metrics.rollup.coverage import TimeRange

_AHEAD: Final = timedelta(days=7)
"""Of some members, what is announced for the next days is shown as well."""


async def planned_maintenances(
    page_context: PageContext,
    within: TimeRange,
    names: Names,
    of: Collection[str] | None = None,
) -> list[tuple[str, Silence, Notice]]:
    """Return the maintenances that touch a time or are active now, of all or of these members.

    Each is with the name of its member.
    """
    service = page_context.tx.service(HealthService)
    now = page_context.now if of is None else page_context.now + _AHEAD
    found = await service.maintenances(within, now, of)
    notices = await page_context.tx.service(LevelService).notices(found)
    return [
        (names.get(one.entity_id, one.entity_id), one, notices[one.silence_id]) for one in found
    ]
