"""The volume that is expected of the next four weeks, day by day, with its measured error. Pure.

Three methods without parameters forecast the last four known weeks, one to four weeks ahead, each
from what was known so many weeks before. The one with the smallest sum of differences over the sum
of calls (WAPE) is used: an error on weeks that a method was fitted to is no error. Nothing is
fitted or stored. Exponential smoothing and ARIMA are rarely better with sixteen weeks of history.

A day without all its reports is a gap, not a smaller number: else a silent agent looks like a fall
in demand. Holidays are in no calendar: a festival makes the errors and ranges of its weeks larger.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import date, timedelta
from math import ceil
from typing import Final

from msgspec import Struct

Volume = Mapping[date, int]
"""The calls of each whole day (UTC) whose reports are complete."""

AHEAD: Final = 4
"""Weeks that are forecast."""
HELD_BACK: Final = 4
"""Weeks by which the error is measured."""
HISTORY: Final = 16
"""Weeks that are read."""
_MEAN_OF: Final = 4
_FEWEST_DAYS: Final = 14
"""Days by which an error is measured, at least, a week ahead."""
_GROWTH: Final = 0.9, 1.1
"""A week's growth is taken for no more: a festival ends."""
_PARTS: Final = 0.05, 0.95
_DAY: Final = timedelta(days=1)
_WEEK: Final = timedelta(days=7)
Method = Callable[[Volume, date, int], float | None]
"""From what is known before the first day, the calls of a day so many weeks ahead."""


class Error(Struct, frozen=True):
    """The distance of forecasts from what came on held-back days, so many weeks ahead."""

    weeks_ahead: int
    days: int
    wape: float
    """The sum of the differences, of the sum of what came."""
    naive_wape: float
    """The same of the simplest forecast: the same weekday of the last known week."""
    low: float
    high: float
    """Between them was what came, of what was forecast, on nine of ten days."""


class ExpectedDay(Struct, frozen=True):
    """The calls that are expected of a day, and the range of nine of ten held-back days."""

    day: date
    calls: int
    low: int
    high: int


class Forecast(Struct, frozen=True):
    """Days that are expected, and the errors of the same method on weeks it did not know."""

    method: str
    errors: Sequence[Error]
    days: Sequence[ExpectedDay]


def last_week(volume: Volume, day: date, ahead: int) -> float | None:
    """Returns the calls of the same weekday of the last known week."""
    found = volume.get(day - ahead * _WEEK)
    return None if found is None else float(found)


def mean_of_weekdays(volume: Volume, day: date, ahead: int) -> float | None:
    """Returns the mean of the same weekday in the last four known weeks, of two at least."""
    found = [
        volume[at] for back in range(_MEAN_OF) if (at := day - (ahead + back) * _WEEK) in volume
    ]
    return sum(found) / len(found) if len(found) > 1 else None


def grown_mean(volume: Volume, day: date, ahead: int) -> float | None:
    """Returns that mean, grown as the last four weeks have grown over the four before."""
    mean = mean_of_weekdays(volume, day, ahead)
    first = day - day.weekday() * _DAY - (ahead - 1) * _WEEK
    pairs = [
        (volume[at], volume[at - _MEAN_OF * _WEEK])
        for back in range(1, 7 * _MEAN_OF + 1)
        if (at := first - back * _DAY) in volume and at - _MEAN_OF * _WEEK in volume
    ]
    recent, before = (sum(part) for part in zip(*pairs, strict=True)) if pairs else (0, 0)
    if mean is None or not before:
        return None
    weekly = (recent / before) ** (1 / _MEAN_OF)
    low, high = _GROWTH
    # The mean is of weeks that are on average one and a half before the last known one.
    return float(mean * min(max(weekly, low), high) ** ((_MEAN_OF - 1) / 2 + ahead))


METHODS: Final[Mapping[str, Method]] = {
    "last_week": last_week,
    "mean_of_weekdays": mean_of_weekdays,
    "grown_mean": grown_mean,
}


def forecast(volume: Volume, first: date) -> Forecast | None:
    """Returns the forecast of four weeks from a Monday on, of what is known before it.

    None where fewer than fourteen days can be held back.
    """
    known = {day: calls for day, calls in volume.items() if day < first}
    tried = {name: _tried(method, known, first) for name, method in METHODS.items()}
    possible = [name for name, found in tried.items() if len(found[1]) >= _FEWEST_DAYS]
    if not possible:
        return None
    best = min(possible, key=lambda name: _wape([one for of in tried[name].values() for one in of]))
    errors = _errors(tried[best], tried["last_week"])
    return Forecast(best, errors, _expected(METHODS[best], known, first, errors))


_Tried = Mapping[int, Sequence[tuple[float, int]]]
"""By weeks ahead: what was forecast, and what came."""


def _tried(method: Method, known: Volume, first: date) -> _Tried:
    """Forecasts the last four known weeks, each from what was known so many weeks before."""
    found = {}
    for ahead in range(1, AHEAD + 1):
        pairs = []
        for back in range(1, HELD_BACK + 1):
            week = first - back * _WEEK
            origin = week - (ahead - 1) * _WEEK
            before = {day: calls for day, calls in known.items() if day < origin}
            for day in (week + place * _DAY for place in range(7)):
                said = method(before, day, ahead) if day in known else None
                if said is not None:
                    pairs.append((said, known[day]))
        found[ahead] = pairs
    return found


def _wape(pairs: Sequence[tuple[float, int]]) -> float:
    came = sum(actual for _, actual in pairs)
    return sum(abs(said - actual) for said, actual in pairs) / came if came else 0.0


def _errors(tried: _Tried, naive: _Tried) -> list[Error]:
    found = []
    for ahead, pairs in tried.items():
        ratios = sorted(actual / said for said, actual in pairs if said)
        if len(pairs) < _FEWEST_DAYS or not ratios:
            break  # farther ahead there is less to measure by
        low, high = (ratios[max(0, ceil(part * len(ratios)) - 1)] for part in _PARTS)
        found.append(Error(ahead, len(pairs), _wape(pairs), _wape(naive[ahead]), low, high))
    return found


def _expected(
    method: Method, known: Volume, first: date, errors: Sequence[Error]
) -> list[ExpectedDay]:
    found = []
    for error in errors:
        week = first + (error.weeks_ahead - 1) * _WEEK
        for day in (week + place * _DAY for place in range(7)):
            said = method(known, day, error.weeks_ahead)
            if said is not None:
                calls, low, high = (round(said * part) for part in (1.0, error.low, error.high))
                found.append(ExpectedDay(day, calls, min(low, calls), max(high, calls)))
    return found


class Growth(Struct, frozen=True):
    """Calls of the last whole week, and their ratio to earlier weeks; None where one has a gap."""

    calls: int | None
    of_week_before: float | None
    of_four_before: float | None


def growth(volume: Volume, first: date) -> Growth:
    """Returns how the last week before a Monday compares with the one before and four before."""
    calls, before, four = (_week(volume, first - back * _WEEK) for back in (1, 2, 5))
    return Growth(
        calls,
        calls / before if calls is not None and before else None,
        calls / four if calls is not None and four else None,
    )


def _week(volume: Volume, start: date) -> int | None:
    days = [start + place * _DAY for place in range(7)]
    return sum(volume[day] for day in days) if all(day in volume for day in days) else None


class Busiest(Struct, frozen=True):
    """A notice: more calls may come in a day than were ever handled well."""

    expected: ExpectedDay
    handled_day: date
    handled: int
    """Calls of the busiest day on which the network's rule of success was kept."""


def capacity_notice(found: Forecast, well: Volume) -> Busiest | None:
    """Returns the day with the highest upper end, where that is above the busiest day `well` has.

    `well` are the days on which calls succeeded as the network's rule demands.
    """
    if not found.days or not well:
        return None
    expected = max(found.days, key=lambda one: one.high)
    handled_day = max(well, key=lambda day: well[day])
    if expected.high <= well[handled_day]:
        return None
    return Busiest(expected, handled_day, well[handled_day])
