"""Retention of metrics. Sums by day are kept forever."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from msgspec import Struct

from mudra.metrics.incidents.silence_service import RETENTION as SILENCES_KEPT
from mudra.metrics.payload.catalogue import day_start
from mudra.metrics.ports import MetricsTables


class RetentionPolicy(Struct, frozen=True):
    """The days for which raw rows and sums by hour are kept."""

    raw_days: int
    hour_days: int

    @property
    def kept_hour_days(self) -> int:
        """The days for which sums by hour and receipts are kept: never fewer than raw rows.

        An hour of raw rows may be summed again, and the sums of its day are then made of all its
        hours (0162).
        """
        return max(self.raw_days, self.hour_days)


async def drop_old(store: MetricsTables, policy: RetentionPolicy, now: datetime) -> list[str]:
    """Drops what is older than the policy allows; returns the names of the dropped tables.

    Receipts are kept as long as sums by hour: together they distinguish a gap from no traffic.
    """
    today = day_start(now)
    dropped: Sequence[str] = await store.drop_raw(today - timedelta(days=policy.raw_days))
    hours = await store.drop_hours(today - timedelta(days=policy.kept_hour_days))
    await store.drop_silences(now - SILENCES_KEPT)
    return [*dropped, *hours]
