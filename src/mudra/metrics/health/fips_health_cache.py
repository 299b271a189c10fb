"""The health of all FIPs, which is the same for every FIU: read once in some seconds for all."""

from collections.abc import Callable
from datetime import datetime
from typing import Final

from mudra.metrics.health.health_service import HealthOfMember, HealthService
from mudra.metrics.health.network_health_cache import TTL_S
from mudra.metrics.rollup.coverage import TimeRange
from mudra.shared.entity_type import EntityType
from mudra.shared.shared_read import SharedRead

_MAX_RANGES: Final = 3
"""A page reads its own time and the last hour; each is some megabytes with 2,000 FIPs."""


class FipsHealthCache:
    """What the latest readers asked for, until some seconds have passed."""

    def __init__(self, monotonic: Callable[[], float]) -> None:
        self._monotonic = monotonic
        self._reading = SharedRead()
        self._kept: dict[TimeRange, tuple[HealthOfMember, float]] = {}

    async def get(self, health: HealthService, within: TimeRange, now: datetime) -> HealthOfMember:
        """Returns the health of the FIPs that take part, if not cached read by `health`.

        Others who want it wait for that read, and fail with it.
        """
        async with self._reading.turn():
            at = self._monotonic()
            self._kept = {key: one for key, one in self._kept.items() if one[1] > at}
            found = self._kept.get(within)
            if found is not None:
                return found[0]
            own = await health.of_member("", EntityType.FIU, within, now, by_aa=True)
            while len(self._kept) >= _MAX_RANGES:
                del self._kept[next(iter(self._kept))]
            self._kept[within] = own, self._monotonic() + TTL_S
            return own
