"""Lines of success for the public status, drawn by the service: they need no script. Pure."""

from collections.abc import Sequence
from datetime import datetime, timedelta, tzinfo
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

WIDTH, HEIGHT = 600, 120
_ALL: Final = 100.0
_TARGET: Final = 95.0
_FLOORS: Final = (90, 75, 50, 0)
"""Where the axis may begin: at the highest of them below all values and the target."""


class LineChart(Struct, frozen=True):
    """A line of steps: its path, and where the target is; without a value no path."""

    path: str
    floor: int
    target_y: float
    lowest: float | None
    latest: float | None
    skipped: int
    """Places before the first value, which are left out."""


def line_chart(
    values: Sequence[float | None], *, whole: bool = False, length: float = 0.0
) -> LineChart:
    """Returns the line of percentages, from the first that is known; a gap where one is not.

    The `whole` line begins with the first place, known or not: its axis is a time, of `length`
    places where the last one is not over yet. One that is not whole has an axis from `skipped` on.

    Each hour or day is level from its beginning to its end: no slope between two of them is known.
    """
    first = next((at for at, one in enumerate(values) if one is not None), len(values))
    skipped = 0 if whole and first < len(values) else first
    shown = values[skipped:]
    known = [one for one in shown if one is not None]
    lowest = min(known, default=None)
    floor = next(one for one in _FLOORS if one <= min(known, default=_ALL))
    return LineChart(
        _path(shown, floor, (length - skipped) if length else len(shown)),
        floor,
        _y(_TARGET, floor),
        lowest,
        known[-1] if known else None,
        skipped,
    )


def _path(shown: Sequence[float | None], floor: int, length: float) -> str:
    step = WIDTH / max(length, 1)
    pieces, drawn = [], False
    for at, one in enumerate(shown):
        if one is not None:
            place = f"{at * step:.1f} {_y(one, floor):.1f}"
            pieces.append(f"{'L' if drawn else 'M'}{place}H{min((at + 1) * step, WIDTH):.1f}")
        drawn = one is not None
    return "".join(pieces)


def _y(percent: float, floor: int) -> float:
    return HEIGHT * (_ALL - percent) / (_ALL - floor)


_HOUR: Final = timedelta(hours=1)
_BETWEEN_TICKS: Final = 3
_FEW_HOURS: Final = 6
"""Hours without a figure at the beginning of a chart; after more it begins with the first one."""
_OF_A_NAME: Final = 12.0
"""The height of a name in percent."""
_LAST_TICK: Final = 93
_FIRST_NARROW, _LAST_NARROW = 5, 84
"""In percent of the width: further labels would be in the way of others on a phone."""
_MIDDLES: Final = {90: 95, 75: 95, 50: 75, 0: 50}
"""What is named between the ends of each axis, where labels have room."""


class Tick(Struct, frozen=True):
    """A time on the axis: its place in percent of the width, and whether a phone has room."""

    at: datetime
    place: float
    is_wide: bool


class HourLine(Struct, frozen=True):
    """One line of a chart by hour: its path, and the height of its name in percent from the top.

    A name is at the end of its line, or below another name that ends near it.
    """

    name: str
    path: str
    end: float
    lowest: float
    latest: float


class HourChart(Struct, frozen=True):
    """The lines of some hours until a time, on one axis."""

    lines: Sequence[HourLine]
    floor: int
    middle: int
    target: float
    """The height of the target and of the `middle`, in percent from the top."""
    middle_at: float
    since: datetime | None
    """The first hour with a figure, where many before it have none."""
    until: datetime
    ticks: Sequence[Tick]


def hour_chart(
    series: Sequence[tuple[str, Sequence[float | None]]], until: datetime, zone: tzinfo
) -> HourChart:
    """Returns lines of percentages by hour; the last hour of each is the one that has `until`.

    Names are with the values; ticks are whole hours of the zone.
    """
    running = until.replace(minute=0, second=0, microsecond=0)
    count = len(series[0][1]) - (running == until)
    shown = [(name, values[:count]) for name, values in series]
    known = [one for _, values in shown for one in values if one is not None]
    first = min(
        (at for _, values in shown for at, one in enumerate(values) if one is not None), default=0
    )
    skipped = first if first >= _FEW_HOURS else 0
    start = running - (len(series[0][1]) - 1 - skipped) * _HOUR
    length = max((until - start) / _HOUR, 1.0)
    floor = next(one for one in _FLOORS if one <= min(known, default=_ALL))
    lines = []
    for name, values in shown:
        figures = [one for one in values if one is not None]
        if figures:
            path = _path(values[skipped:], floor, length)
            end = _y(figures[-1], floor) / HEIGHT * 100
            lines.append(HourLine(name, path, round(end, 1), min(figures), figures[-1]))
    middle = _MIDDLES[floor]
    return HourChart(
        _apart(lines),
        floor,
        middle,
        _y(_TARGET, floor) / HEIGHT * 100,
        _y(middle, floor) / HEIGHT * 100,
        start if skipped else None,
        until,
        _ticks(start, until, zone),
    )


def _apart(lines: Sequence[HourLine]) -> Sequence[HourLine]:
    """Returns the same lines with names that are not over one another."""
    places: dict[int, float] = {}
    lowest = -_OF_A_NAME
    for at in sorted(range(len(lines)), key=lambda at: lines[at].end):
        lowest = places[at] = max(lines[at].end, lowest + _OF_A_NAME)
    return [replace(one, end=places[at]) for at, one in enumerate(lines)]


def _ticks(start: datetime, until: datetime, zone: tzinfo) -> Sequence[Tick]:
    at = start.astimezone(zone).replace(minute=0, second=0, microsecond=0)
    found = []
    while at.astimezone(start.tzinfo) < until:
        place = (at - start) / (until - start) * 100
        # The last label is the end of the line: none is in its way.
        if at.hour % _BETWEEN_TICKS == 0 and 0 <= place <= _LAST_TICK:
            narrow = at.hour % (2 * _BETWEEN_TICKS) == 0 and _FIRST_NARROW <= place <= _LAST_NARROW
            found.append(Tick(at, round(place, 1), not narrow))
        at += _HOUR
    return found
