"""When a maintenance that a member announces for itself begins, and how much there may be of it.

It hides the member's own faults. So it hides nothing that had begun before all could read of it.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from mudra.metrics.incidents.silence import (
    MAX_OWN,
    MAX_OWN_IN_A_WEEK,
    TOO_MANY_MAINTENANCES,
    TOO_MUCH_MAINTENANCE,
    Silence,
)
from mudra.metrics.payload.catalogue import WINDOW, window_start
from mudra.shared.refusal import PlainRefusal

COUNTED_FOR: Final = timedelta(days=1)
"""How long one counts after it has begun, also one that was ended."""
WEEK: Final = timedelta(days=7)


def first_begin(asked: datetime | None, now: datetime) -> datetime:
    """Returns when one that is announced now begins: with the next window at the earliest."""
    return max(asked or now, window_start(now) + WINDOW)


def over_limit(planned: Silence, own: Sequence[Silence], now: datetime) -> PlainRefusal | None:
    """Returns why one more, with these others, is too many, or too much of the time.

    One that was ended before it began hid nothing, and does not count.
    """
    others = [one for one in own if one.has_time]
    recent = [one for one in others if one.ends > now or one.begins > now - COUNTED_FOR]
    if len(recent) >= MAX_OWN:
        return TOO_MANY_MAINTENANCES
    if _most_in_a_week(planned, others) > MAX_OWN_IN_A_WEEK:
        return TOO_MUCH_MAINTENANCE
    return None


def _most_in_a_week(planned: Silence, own: Sequence[Silence]) -> timedelta:
    """Returns the most of any seven days that have a part of the planned one.

    The sum changes its slope only where seven days begin or end with one of them.
    """
    times = [_time_of(one) for one in (planned, *own)]
    weeks = {begins for begins, _ in times} | {ends - WEEK for _, ends in times}
    return max(
        sum((_part(one, week) for one in times), timedelta())
        for week in weeks
        if _part(times[0], week)
    )


def _time_of(one: Silence) -> tuple[datetime, datetime]:
    """Returns the time of one: a window at least, since a window that it touches is not judged."""
    return one.begins, max(one.ends, one.begins + WINDOW)


def _part(time: tuple[datetime, datetime], week: datetime) -> timedelta:
    begins, ends = time
    return max(min(ends, week + WEEK) - max(begins, week), timedelta())
