"""Planned maintenances on pages, each with what the network's rule makes of it."""

from collections.abc import Collection

from mudra.console.framework.page_context import PageContext
from mudra.levels.level_service import LevelService
from mudra.levels.notice import Notice
from mudra.metrics.health.health_service import HealthService
from mudra.metrics.incidents.silence import Silence
from mudra.metrics.rollup.coverage import TimeRange


async def planned_maintenances(
    page_context: PageContext, within: TimeRange, of: Collection[str] | None = None
) -> list[tuple[Silence, Notice]]:
    """Return the maintenances that touch a time or are active now, of all or of these members."""
    service = page_context.tx.service(HealthService)
    found = await service.maintenances(within, page_context.now, of)
    notices = await page_context.tx.service(LevelService).notices(found)
    return [(one, notices[one.silence_id]) for one in found]
