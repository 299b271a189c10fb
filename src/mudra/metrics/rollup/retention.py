"""Retention of metrics. Sums by day go with `MUDRA_METRICS_DAY_DAYS`."""

from datetime import datetime, timedelta

from msgspec import Struct

from mudra.metrics.incidents.silence_service import RETENTION as SILENCES_KEPT
from mudra.metrics.payload.catalogue import day_start
from mudra.metrics.ports import MetricsTables


class RetentionPolicy(Struct, frozen=True):
    """The days for which reports and sums by hour are kept."""

    raw_days: int
    hour_days: int

    @property
    def kept_hour_days(self) -> int:
        """The days for which sums by hour and receipts are kept: never fewer than reports.

        An hour of reports may be summed again, and the sums of its day are then made of all its
        hours (0216).
        """
        return max(self.raw_days, self.hour_days)

    def raw_before(self, now: datetime) -> datetime:
        """Returns the day from which on reports are kept."""
        return day_start(now) - timedelta(days=self.raw_days)

    def hours_before(self, now: datetime) -> datetime:
        """Returns the day from which on sums by hour and receipts are kept."""
        return day_start(now) - timedelta(days=self.kept_hour_days)


async def delete_old(store: MetricsTables, policy: RetentionPolicy, now: datetime) -> bool:
    """Deletes rows that are older than the policy allows; returns whether some may be left.

    Receipts are kept as long as sums by hour: together they distinguish a gap from no traffic.
    """
    await store.delete_of_raw(policy.raw_before(now))
    await store.delete_silences(now - SILENCES_KEPT)
    return await store.delete_receipts(policy.hours_before(now))


async def drop_next(store: MetricsTables, policy: RetentionPolicy, now: datetime) -> str | None:
    """Drops one table of rows older than the policy allows; returns its name, None without one.

    Pushes and pages wait until its transaction has ended, so nothing else is done in that.
    """
    raw = await store.drop_raw(policy.raw_before(now))
    return raw or await store.drop_hours(policy.hours_before(now))
