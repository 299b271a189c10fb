"""The volume of calls by hour and day, next to earlier weeks, and what is expected."""

from collections.abc import Mapping, Sequence
from datetime import date, datetime, timedelta
from typing import Final

from litestar.types import ControllerRouterHandler
from msgspec import Struct
from msgspec.structs import replace

from mudra.comparison.forecast import ExpectedDay
from mudra.comparison.roles import KEYS
from mudra.comparison.volume_service import HourOfDay, VolumeOfSubject, VolumeService
from mudra.console.framework import page
from mudra.console.framework.page_context import PageContext
from mudra.console.framework.page_results import Download, Outcome, StreamedPage
from mudra.console.framework.table import Column, Table
from mudra.http.auth.gates import READER, operator
from mudra.http.response.http_refusals import InvalidField
from mudra.identity.operators.operator import Scope
from mudra.localization.language import translatable
from mudra.shared.entity_type import EntityType

_HEIGHT: Final = 72
_HATCH: Final = 8
_STEP: Final = 6
_HOUR: Final = timedelta(hours=1)
_PARTS: Final = 4
_LEAST_HOURS: Final = 8
_LEAST_DAYS: Final = 7
"""Days that are drawn, of which the first may be empty; others before the first call are not."""
_METHODS: Final = {
    "last_week": translatable("each day as a week before"),
    "mean_of_weekdays": translatable("each day as the mean of that weekday in four weeks"),
    "grown_mean": translatable("the mean of that weekday in four weeks, grown as they have"),
}
_HOURS: Final = Table(
    "hours",
    translatable("Hours"),
    (
        Column[HourOfDay]("start", translatable("Hour"), lambda one: one.start, "time"),
        Column[HourOfDay]("calls", translatable("Calls"), lambda one: one.calls, "number"),
        Column[HourOfDay](
            "before", translatable("A week before"), lambda one: one.week_before, "number"
        ),
        Column[HourOfDay](
            "usual", translatable("Usual, mean of four weeks"), lambda one: one.usual, "number"
        ),
    ),
    first_sort="-start",
)
_DAYS: Final = Table(
    "expected",
    translatable("Expected days"),
    (
        Column[ExpectedDay]("day", translatable("Day"), lambda one: one.day, "day"),
        Column[ExpectedDay](
            "calls", translatable("Expected calls"), lambda one: one.calls, "number"
        ),
        Column[ExpectedDay]("low", translatable("At least"), lambda one: one.low, "number"),
        Column[ExpectedDay]("high", translatable("At most"), lambda one: one.high, "number"),
    ),
    first_sort="day",
)


class Bar(Struct, frozen=True):
    """One bar of a picture: `kind` is known, gap or expected."""

    at: date | datetime
    calls: int
    kind: str
    x: int
    y: int
    height: int


class Picture(Struct, frozen=True):
    """Bars from left to right, with the lines of earlier weeks by their names."""

    bars: Sequence[Bar]
    kinds: frozenset[str]
    most: int
    width: int
    height: int
    lines: Mapping[str, str]

    @property
    def quarters(self) -> Sequence[date | datetime]:
        """Returns when each quarter of the bars begins: they are named below the picture."""
        return [self.bars[place * len(self.bars) // _PARTS].at for place in range(_PARTS)]


class VolumeView(Struct, frozen=True):
    """The volume with its pictures."""

    volume: VolumeOfSubject
    days: Picture
    hours: Picture
    starts_late: bool
    """Whether reports began within these hours."""
    method: str
    last_day: int
    """Calls of the last 24 whole hours, as far as they were reported."""
    until: datetime
    """The end of these hours."""
    change: float | None
    """By how many percent they are more than the 24 hours before; None where these lack reports."""


@page.get("/entity/{entity_id:str}/volume", gate=READER)
async def own_volume(page_context: PageContext) -> Outcome:
    """Show the calls that an AA made, or that all AAs made to a FIP."""
    kind, entity_id = EntityType(page_context.member.entity_type), page_context.member.entity_id
    if kind not in KEYS:
        return InvalidField("the entity must be an AA or a FIP: calls are not counted by FIU")
    aa_id = entity_id if kind is EntityType.AA else None
    fip_id = entity_id if kind is EntityType.FIP else None
    return StreamedPage("volume.html", {}, lambda then: _content(then, aa_id, fip_id))


@page.get("/operator/volume", gate=operator(Scope.HEALTH), reads=True)
async def volume(page_context: PageContext) -> Outcome:
    """Show the calls of the whole network."""
    del page_context
    return StreamedPage("operator_volume.html", {}, lambda then: _content(then, None, None))


async def _content(
    page_context: PageContext, aa_id: str | None, fip_id: str | None
) -> Mapping[str, object] | Download:
    found = await page_context.tx.service(VolumeService).of_subject(
        page_context.now, aa_id=aa_id, fip_id=fip_id
    )
    query, expected = page_context.query, found.forecast.days if found.forecast else ()
    return (
        _HOURS.export(found.hours, query)
        or _DAYS.export(expected, query)
        or {
            "shown": _view(found),
            "hours": _HOURS.view(found.hours, query),
            "hours_asked": any(name.startswith("hours.") for name in query),
            "expected": _DAYS.view(expected, query),
        }
    )


def _view(found: VolumeOfSubject) -> VolumeView:
    known = [(one.day, one.calls, "known" if one.complete else "gap") for one in found.days]
    first = next((at for at, (_, calls, _) in enumerate(known) if calls), len(known))
    days = [
        *known[min(first, len(known) - _LEAST_DAYS) :],
        *(
            (one.day, one.calls, "expected")
            for one in (found.forecast.days if found.forecast else ())
        ),
    ]
    began = _began(found.hours)
    late = _not_drawn(began, len(found.hours))
    hours = [(one.start, one.calls or 0, "known") for one in found.hours[late:]]
    if began:
        # Reports began at some time in their first hour: it is not known to be a whole one.
        hours[began - late] = (*hours[began - late][:2], "gap")
    lines = {
        "before": [one.week_before for one in found.hours[late:]],
        "usual": [one.usual for one in found.hours[late:]],
    }
    method = _METHODS[found.forecast.method] if found.forecast else ""
    by_hour = _picture(hours, lines)
    gaps = _gaps([one.calls for one in found.hours[late:]])
    if gaps:
        by_hour = replace(by_hour, lines={"unreported": gaps, **by_hour.lines})
    last_day, before = sum(calls for _, calls, _ in hours), found.day_before
    return VolumeView(
        found,
        _picture(days, {}),
        by_hour,
        began > 0,
        method,
        last_day,
        found.hours[-1].start + _HOUR,
        None if not before or gaps or late else 100 * (last_day - before) / before,
    )


def _not_drawn(began: int, hours: int) -> int:
    """Returns how many hours before the first reported one a picture leaves out.

    A multiple of the four parts of its axis. Where earlier weeks have calls, none: a gap is seen.
    """
    return min(began, hours - _LEAST_HOURS) // _PARTS * _PARTS


def _began(hours: Sequence[HourOfDay]) -> int:
    """Returns the place of the hour in which reports began; 0 where they did before."""
    if any(one.week_before is not None or one.usual is not None for one in hours):
        return 0
    return next((at for at, one in enumerate(hours) if one.calls is not None), 0)


def _picture(
    rows: Sequence[tuple[date, int, str]], lines: Mapping[str, Sequence[int | None]]
) -> Picture:
    values = [calls for _, calls, _ in rows]
    values += [calls for line in lines.values() for calls in line if calls is not None]
    most = _round_up(max(values, default=0))
    return Picture(
        [_bar(place, *one, most=most) for place, one in enumerate(rows)],
        frozenset(kind for _, calls, kind in rows if calls),
        most,
        _STEP * len(rows),
        _HEIGHT,
        {name: path for name, line in lines.items() if (path := _path(line, most))},
    )


def _round_up(most: int) -> int:
    """Returns the top of the axis: the next half of the leading digit's unit, such as 4,000,000."""
    step = max(1, 5 * 10 ** (len(str(most)) - 2)) if most else 1
    return -(-most // step) * step


def _bar(place: int, at: date, calls: int, kind: str, *, most: int) -> Bar:
    height = max(2, _HEIGHT * calls // most) if calls else 0
    return Bar(at, calls, kind, place * _STEP, _HEIGHT - height, height)


def _gaps(line: Sequence[int | None]) -> str:
    """Returns the hatching of the places of which nothing is known: these are not zero."""
    return "".join(
        f"M{place * _STEP} {low}l{_STEP} -{_HATCH}"
        for place, calls in enumerate(line)
        if calls is None
        for low in range(_HATCH, _HEIGHT + 1, _HATCH)
    )


def _path(line: Sequence[int | None], most: int) -> str:
    """Returns the path through the middles of the bars, broken where nothing is known."""
    found, is_down = [], False
    for place, calls in enumerate(line):
        if calls is not None:
            x, y = place * _STEP + _STEP / 2, _HEIGHT - _HEIGHT * calls / (most or 1)
            found.append(f"{'L' if is_down else 'M'}{x:.1f} {y:.1f}")
        is_down = calls is not None
    return "".join(found)


handlers: Final[list[ControllerRouterHandler]] = [own_volume, volume]
