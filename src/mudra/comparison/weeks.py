"""Weeks of comparisons: Monday to Sunday of UTC, which whole days of sums add up to. Pure."""

from datetime import datetime, timedelta
from typing import Final

from mudra.metrics.payload.catalogue import day_start
from mudra.metrics.rollup.coverage import TimeRange

DAY: Final = timedelta(days=1)
WEEK: Final = 7 * DAY
SETTLES: Final = 8 * DAY
"""Reports come up to seven days late: from then on no report can change a week."""


def week_start(at: datetime) -> datetime:
    """Returns the start (UTC) of the week that contains this moment."""
    day = day_start(at)
    return day - day.weekday() * DAY


def week_of(start: datetime) -> TimeRange:
    """Returns the week that starts here."""
    return TimeRange(start, start + WEEK)


def weeks_within(within: TimeRange) -> tuple[TimeRange, ...]:
    """Returns the weeks that overlap a time, in order; the first and last cut to it."""
    found, start = [], week_start(within.start)
    while start < within.end:
        week = TimeRange(max(start, within.start), min(start + WEEK, within.end))
        if week.number:
            found.append(week)
        start += WEEK
    return tuple(found)


def last_settled(now: datetime) -> datetime:
    """Returns the start of the last week that no report can change any more."""
    return week_start(now - SETTLES) - WEEK


def week_name(start: datetime) -> str:
    """Returns the name of a week by ISO 8601, such as 2026-W48."""
    year, week, _ = start.isocalendar()
    return f"{year}-W{week:02}"


def week_named(name: str) -> datetime | None:
    """Returns the start of the week of this name; None where there is none."""
    try:
        start = datetime.strptime(f"{name}-1 +0000", "%G-W%V-%u %z")
    except ValueError:
        return None
    return start if week_name(start) == name else None
