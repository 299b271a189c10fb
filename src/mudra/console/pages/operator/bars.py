"""A small picture of one number by day, drawn as SVG by the template: no script is needed."""

from collections.abc import Sequence
from datetime import date, timedelta
from typing import Final

from msgspec import Struct

from mudra.tokens.issuing.token_count_store import DayCount

HEIGHT: Final = 72
STEP: Final = 14


class Bar(Struct, frozen=True):
    """One day: the position of its bar, and what it says."""

    day: date
    count: int
    x: int
    y: int
    height: int


class Bars(Struct, frozen=True):
    """All days of a time, those without any included."""

    bars: tuple[Bar, ...]
    width: int
    height: int
    total: int
    most: int


def bars_of_days(counts: Sequence[DayCount], since: date, until: date) -> Bars:
    """Lay out a bar for each day from `since` to `until`, both included."""
    by_day = {one.day: one.count for one in counts}
    days = [since + timedelta(days=n) for n in range((until - since).days + 1)]
    most = max([by_day.get(day, 0) for day in days], default=0)
    bars = tuple(_bar(day, place, by_day.get(day, 0), most) for place, day in enumerate(days))
    return Bars(bars, STEP * len(days), HEIGHT, sum(bar.count for bar in bars), most)


def _bar(day: date, place: int, count: int, most: int) -> Bar:
    height = max(2, round(HEIGHT * count / most)) if count else 0
    return Bar(day, count, place * STEP, HEIGHT - height, height)
