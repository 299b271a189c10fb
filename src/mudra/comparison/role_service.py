"""Members next to the quartiles of their role, in weeks that no report can change any more."""

import asyncio
from datetime import datetime
from typing import Final

from msgspec import Struct

from mudra.comparison.role_measures import RoleWeek, Values, values_of
from mudra.comparison.weeks import last_settled, week_name, week_named, week_of
from mudra.metrics.health.health_service import HealthService
from mudra.metrics.health.picture import Grouping
from mudra.shared.entity_type import EntityType
from mudra.shared.refusal import ValueRefused

_GROUPINGS: Final = {EntityType.FIP: Grouping.FIP, EntityType.AA: Grouping.AA}


class RoleService(Struct, frozen=True):
    """Answers in the caller's transaction."""

    health: HealthService

    async def of_week(self, role: EntityType, name: str, now: datetime) -> RoleWeek | ValueRefused:
        """Returns an AAs' or FIPs' week by its name, such as 2026-W46; the last settled by none.

        Reports come up to seven days late. Of a week that they may still change the same question
        could be asked before and after one member's report, and the answers compared.
        """
        last = last_settled(now)
        week = week_named(name) if name else last
        if week is None or week > last:
            return ValueRefused(
                "week",
                f"must be {week_name(last)} or an earlier one, written like it: "
                "reports of later weeks may still come",
            )
        within = week_of(week)

        async def make() -> Values:
            totals = await self.health.sums(within, _GROUPINGS[role], aa_id=None, fip_id=None)
            fips = await self.health.onboarded_fips() if role is EntityType.FIP else None
            return await asyncio.to_thread(values_of, totals, role, fips)

        values = await self.health.made_once(
            ("role", role), within, None, None, make, large=role is EntityType.FIP
        )
        return RoleWeek(role, week, values)
