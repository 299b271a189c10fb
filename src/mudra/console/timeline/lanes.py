"""Events of a timeline drawn over their time: a lane for each that lasts, one for all others."""

from collections.abc import Callable, Iterable, Sequence
from datetime import date, datetime, timedelta, tzinfo
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from mudra.localization.display_zone import display_zone
from mudra.localization.duration import span_text
from mudra.metrics.rollup.coverage import TimeRange
from mudra.timeline.happening import Happening, HappeningKind

_MAX_LANES: Final = 12
"""More are in the table alone."""
_MAX_TICKS: Final = 4
_FEW_TICKS: Final = 2
"""So many have room on a phone, too."""
_MARGIN: Final = 0.03
"""Before the first event, of the time that is drawn."""
_LEAST_DRAWN: Final = timedelta(hours=1)
_LEAST_WIDTH: Final = 0.4
"""Percent: what is short is still seen."""
_LASTING: Final = (
    HappeningKind.INCIDENT,
    HappeningKind.MAINTENANCE,
    HappeningKind.ANNOUNCEMENT,
)
_STEPS: Final = tuple(
    timedelta(minutes=one)
    for one in (10, 15, 30, 60, 120, 180, 360, 720, 1440, 2880, 5760, 10080, 20160)
)
_OTHER: Final = "other"
_APART: Final = 4.0
"""Percent from which on dots do not cover each other, on a phone either."""


class Lane(Struct, frozen=True):
    """One event that lasts, or will: where its bar begins and how long it is, in percent."""

    text: str
    link: str
    begins: datetime
    ends: datetime | None
    severity: str
    is_open: bool
    is_of_one_day: bool
    """Whether it ends on the day that it began: then the hour of its end says all."""
    lasts: str
    """Empty for one that is open, or has not begun."""
    tone: str
    x: float
    width: float
    """Zero for one that begins after the time that is drawn."""


class Dot(Struct, frozen=True):
    """One event that only happens: its text, its page, and where it is drawn."""

    text: str
    link: str
    at: datetime
    x: float


class Mark(Struct, frozen=True):
    """One dot as it is drawn, of `count` events that would cover each other."""

    x: float
    count: int
    text: str


class Tick(Struct, frozen=True):
    """A time on the axis; of every second one phones leave the text away."""

    at: datetime
    x: float
    is_second: bool
    is_clock: bool
    """Whether its hour is enough: the one before has the day."""


class Picture(Struct, frozen=True):
    """Lanes, dots and axis of a time."""

    lanes: Sequence[Lane]
    left_out: int
    dots: Sequence[Dot]
    marks: Sequence[Mark]
    ticks: Sequence[Tick]
    first: datetime | None
    """The first event, where the picture begins shortly before it: none happened earlier."""


def picture_of(
    found: Iterable[Happening],
    within: TimeRange,
    now: datetime,
    text: Callable[[Happening], str],
    link: Callable[[Happening], str],
) -> Picture:
    """Returns the lanes, open incidents first, then the latest, and the dots of other events."""
    events = list(found)
    lasting = [one for one in events if _lasts(one)]
    lasting.sort(key=lambda one: (_is_open(one), one.begins or one.at), reverse=True)
    chosen, within = within, _drawn(events, within)
    place = _place(within)
    dots = [Dot(text(one), link(one), one.at, place(one.at)) for one in events if not _lasts(one)]
    return Picture(
        [_lane(one, within, now, text(one), link(one)) for one in lasting[:_MAX_LANES]],
        max(len(lasting) - _MAX_LANES, 0),
        dots,
        _marks(dots),
        _ticks(within, display_zone().info),
        min(one.at for one in events) if events and within.start > chosen.start else None,
    )


def _marks(dots: Sequence[Dot]) -> list[Mark]:
    """Returns the dots, those too near to each other as one that says how many it is of."""
    groups = list[list[Dot]]()
    for one in sorted(dots, key=lambda dot: dot.x):
        if groups and one.x - groups[-1][0].x < _APART:
            groups[-1].append(one)
        else:
            groups.append([one])
    return [
        Mark(
            round(sum(one.x for one in group) / len(group), 2),
            len(group),
            "; ".join(one.text for one in group),
        )
        for group in groups
    ]


def _drawn(events: Sequence[Happening], within: TimeRange) -> TimeRange:
    """Returns the time from shortly before the first event on: a young network has no others."""
    first = min((one.at for one in events), default=within.start)
    length = max(within.end - first, _LEAST_DRAWN)
    return TimeRange(max(within.start, within.end - length * (1 + _MARGIN)), within.end)


def _lasts(one: Happening) -> bool:
    return one.kind in _LASTING and (
        one.until is not None or one.begins is not None or one.kind is HappeningKind.INCIDENT
    )


def _is_open(one: Happening) -> bool:
    return one.kind is HappeningKind.INCIDENT and one.until is None


def _place(within: TimeRange) -> Callable[[datetime], float]:
    whole = within.end - within.start

    def place(at: datetime) -> float:
        return round(min(max((at - within.start) / whole, 0.0), 1.0) * 100, 2)

    return place


def _lane(one: Happening, within: TimeRange, now: datetime, text: str, link: str) -> Lane:
    place, begins = _place(within), one.begins or one.at
    x, end = place(begins), place(one.until or max(within.end, begins))
    is_ahead = begins >= within.end
    width = 0.0 if is_ahead else min(max(end - x, _LEAST_WIDTH), 100 - x)
    has_ended = one.until is not None and one.until <= now
    zone = display_zone().info
    of_one_day = one.until is not None and _day(begins, zone) == _day(one.until, zone)
    return Lane(
        text,
        link,
        begins,
        one.until,
        one.severity,
        _is_open(one),
        of_one_day,
        span_text(one.until - begins) if has_ended and one.until else "",
        one.severity or _OTHER,
        min(x, 100 - width),
        width,
    )


def _day(at: datetime, zone: tzinfo) -> date:
    return at.astimezone(zone).date()


def _ticks(within: TimeRange, zone: tzinfo) -> list[Tick]:
    length, place = within.end - within.start, _place(within)
    step = next((one for one in _STEPS if length / one <= _MAX_TICKS), length)
    midnight = within.start.astimezone(zone).replace(hour=0, minute=0, second=0, microsecond=0)
    found = list[Tick]()
    number = -(-(within.start - midnight) // step)
    while (at := midnight + number * step) < within.end:
        same_day = bool(found) and found[-1].at.date() == at.date()
        found.append(Tick(at, place(at), len(found) % 2 == 1, same_day))
        number += 1
    if len(found) <= _FEW_TICKS:
        return [replace(one, is_second=False) for one in found]
    # A day's beginning keeps its name where there is room for every other one alone.
    first = next((place for place, one in enumerate(found) if place and not one.is_clock), 0)
    return [replace(one, is_second=(place - first) % 2 == 1) for place, one in enumerate(found)]
