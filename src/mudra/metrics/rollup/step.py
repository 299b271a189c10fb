"""The steps that divide time into the points of a chart."""

import enum
from datetime import datetime, timedelta
from typing import Final

from mudra.metrics.payload.catalogue import day_start, window_start
from mudra.metrics.rollup.coverage import TimeRange


class Step(enum.Enum):
    """The time that one point covers; hours and days are those of UTC."""

    WINDOW = timedelta(minutes=10)
    HOUR = timedelta(hours=1)
    SIX_HOURS = timedelta(hours=6)
    DAY = timedelta(days=1)

    def start_of(self, at: datetime) -> datetime:
        """Returns the start of the step that contains this moment."""
        day = day_start(at)
        return day + (window_start(at) - day) // self.value * self.value


_FINEST: Final = (  # some dozens of points, at most 92
    (timedelta(hours=8), Step.WINDOW),
    (timedelta(days=2), Step.HOUR),
    (timedelta(days=10), Step.SIX_HOURS),
)


def step_for(within: TimeRange) -> Step:
    """Returns the finest step that keeps a chart readable."""
    length = within.end - within.start
    return next((step for longest, step in _FINEST if length <= longest), Step.DAY)


def starts(within: TimeRange, step: Step) -> tuple[datetime, ...]:
    """Returns the starts of all steps that overlap this time, in order."""
    found = []
    at = step.start_of(within.start)
    while at < within.end:
        found.append(at)
        at += step.value
    return tuple(found)
