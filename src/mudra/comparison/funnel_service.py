"""The funnel of the network, an AA, a FIP or a pair, of any time or week by week."""

import asyncio
from collections.abc import Sequence
from datetime import datetime
from typing import Final

from msgspec import Struct

from mudra.comparison.funnel import Counted, Funnel, counted
from mudra.comparison.weeks import weeks_within
from mudra.metrics.health.health_service import HealthService
from mudra.metrics.health.picture import Grouping, TooManyPairs
from mudra.metrics.rollup.coverage import Coverage, TimeRange
from mudra.metrics.sums.totals import Totals

_KEYS: Final = {
    Grouping.NETWORK: (),
    Grouping.FIP: ("fip",),
    Grouping.AA: ("aa",),
    Grouping.PAIR: ("aa", "fip"),
}


class FunnelService(Struct, frozen=True):
    """Answers questions about the funnel in the caller's transaction."""

    health: HealthService

    async def funnels(
        self,
        within: TimeRange,
        grouping: Grouping,
        now: datetime,
        *,
        aa_id: str | None = None,
        fip_id: str | None = None,
    ) -> Sequence[Funnel] | TooManyPairs:
        """Returns a funnel for each subject of a grouping, of one AA or FIP where it is named."""
        of_all = grouping is Grouping.PAIR and aa_id is None and fip_id is None
        if of_all and await self.health.has_too_many_pairs(within):
            return TooManyPairs()
        coverage = await self.health.coverage(within, now, aa_id)
        keys = _KEYS[grouping]

        async def make() -> Sequence[Counted]:
            totals = await self._sums(within, grouping, aa_id, fip_id)
            return await asyncio.to_thread(counted, totals, *keys)

        question, large = ("funnel", grouping, aa_id, fip_id), "fip" in keys
        found = await self.health.made_once(question, within, aa_id, None, make, large=large)
        return [_funnel(one, within, coverage, aa_id or one.aa_id, fip_id) for one in found]

    async def weeks(
        self,
        within: TimeRange,
        now: datetime,
        *,
        aa_id: str | None = None,
        fip_id: str | None = None,
    ) -> Sequence[Funnel]:
        """Returns the funnel of each week (Monday to Sunday, UTC) that overlaps a time, in order.

        The first and the last are cut to it.
        """
        found: list[Funnel] = []
        for week in weeks_within(within):
            one = await self.funnels(week, Grouping.NETWORK, now, aa_id=aa_id, fip_id=fip_id)
            assert not isinstance(one, TooManyPairs)
            found.extend(one)
        return found

    async def _sums(
        self, within: TimeRange, grouping: Grouping, aa_id: str | None, fip_id: str | None
    ) -> Totals:
        if grouping is Grouping.NETWORK and fip_id is None:
            grouping = Grouping.AA  # whose sums over all FIPs are stored: the fewest to read
        return await self.health.sums(within, grouping, aa_id=aa_id, fip_id=fip_id)


def _funnel(
    one: Counted, within: TimeRange, coverage: Coverage, aa_id: str, fip_id: str | None
) -> Funnel:
    return Funnel(
        aa_id,
        one.fip_id or fip_id or "",
        within.start,
        within.end,
        one.steps,
        one.outcomes,
        coverage.proof(aa_id),
    )
