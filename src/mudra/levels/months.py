"""Months as the network's members know them: of its time zone."""

from datetime import UTC, datetime, timedelta, tzinfo
from typing import Final

from mudra.metrics.rollup.coverage import TimeRange

_MORE_THAN_A_MONTH: Final = timedelta(days=32)
_DAY: Final = timedelta(days=1)
MADE_AT: Final = timedelta(hours=1, minutes=10)
"""When reports are made, each day in UTC: 06:40 in India.

By then the last windows of the day before are there, and their sums.
"""


def month_of(at: datetime, zone: tzinfo) -> TimeRange:
    """Returns the month of a zone that contains a time."""
    local = at.astimezone(zone)
    first = local.replace(day=1, hour=0, minute=0, second=0, microsecond=0, fold=0)
    after = (first.replace(tzinfo=None) + _MORE_THAN_A_MONTH).replace(day=1, tzinfo=zone)
    return TimeRange(first.astimezone(UTC), after.astimezone(UTC))


def month_before(at: datetime, zone: tzinfo) -> TimeRange:
    """Returns the month before the one that contains a time."""
    return month_of(month_of(at, zone).start - timedelta(hours=1), zone)


def month_name(month: TimeRange, zone: tzinfo) -> str:
    """Returns the name of a month of a zone, such as 2026-03."""
    return month.start.astimezone(zone).strftime("%Y-%m")


def made_after(month: TimeRange) -> datetime:
    """Returns when the reports of all members for a month are first made: the run after its end."""
    end = month.end.astimezone(UTC)
    at = end.replace(hour=0, minute=0, second=0, microsecond=0) + MADE_AT
    return at if at >= end else at + _DAY
