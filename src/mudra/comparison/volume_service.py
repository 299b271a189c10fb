"""The calls of the network, an AA, a FIP or a pair: next to earlier weeks, and as expected."""

import asyncio
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from mudra.comparison.forecast import (
    HISTORY,
    Busiest,
    Forecast,
    Growth,
    Volume,
    capacity_notice,
    forecast,
    growth,
)
from mudra.comparison.weeks import DAY, WEEK, week_start
from mudra.metrics.health.health import GOOD_ABOVE_PERCENT
from mudra.metrics.health.health_service import HealthService
from mudra.metrics.payload.catalogue import CUSTOMER_CODES, hour_start
from mudra.metrics.rollup.coverage import Coverage, TimeRange, expected_windows
from mudra.metrics.rollup.series import Point
from mudra.metrics.rollup.step import Step

_USUAL_WEEKS: Final = 4
"""Weeks whose same hour of the weekday is what is usual."""
_COMPLETE_PERCENT: Final = 95
"""Of the reports of each AA: a day with fewer of any is a gap."""


class HourOfDay(Struct, frozen=True):
    """One hour: its calls, and those of the same hour of the weekday before; None without any."""

    start: datetime
    calls: int | None
    week_before: int | None
    usual: int | None
    """The mean of the last four weeks, of those that had calls."""


class DayOfVolume(Struct, frozen=True):
    """One day (UTC): its calls, and whether the reports of each AA are there."""

    day: date
    calls: int
    complete: bool


class VolumeOfSubject(Struct, frozen=True):
    """The known and the expected volume of one subject."""

    hours: Sequence[HourOfDay]
    days: Sequence[DayOfVolume]
    growth: Growth
    forecast: Forecast | None
    """None where too few days are complete to measure its error by."""
    notice: Busiest | None
    day_before: int | None = None
    """The calls of the 24 hours before those by hour; None where an hour of them has none."""


class VolumeService(Struct, frozen=True):
    """Answers in the caller's transaction."""

    health: HealthService

    async def of_subject(
        self, now: datetime, *, aa_id: str | None = None, fip_id: str | None = None
    ) -> VolumeOfSubject:
        """Returns the last day by hour, sixteen weeks by day, and four weeks that are expected."""
        within = _weeks_before(now)

        async def make() -> tuple[Sequence[Point], Mapping[date, bool]]:
            points = await self.health.points(within, Step.DAY, "", aa_id=aa_id, fip_id=fip_id)
            return points, await self.complete_days(now, aa_id)

        points, complete = await self.health.made_once(
            ("volume", aa_id, fip_id), within, aa_id, None, make
        )
        hours = await self._hours(now, aa_id, fip_id)
        before = await self._day_before(now, aa_id, fip_id)
        found = await asyncio.to_thread(_volume, points, complete, hours, within.end.date())
        return replace(found, day_before=before)

    async def outlook(
        self,
        now: datetime,
        complete: Mapping[date, bool],
        *,
        aa_id: str | None = None,
        fip_id: str | None = None,
    ) -> tuple[Forecast | None, Busiest | None]:
        """Returns the forecast of one subject and its notice alone, kept for no other reader.

        `complete` says which days have all reports.
        """
        within = _weeks_before(now)
        codes = frozenset(CUSTOMER_CODES)
        points = await self.health.steps(within, Step.DAY, codes, aa_id=aa_id, fip_id=fip_id)
        return await asyncio.to_thread(_outlook, points, complete, within.end.date())

    async def complete_days(self, now: datetime, aa_id: str | None = None) -> Mapping[date, bool]:
        """Returns which of sixteen weeks' days have the reports of each AA that was to send them.

        With an AA those of this one.
        """
        within = _weeks_before(now)
        reporting = await self.health.members.reporting_aas()
        if aa_id is not None:
            reporting = {aa: times for aa, times in reporting.items() if aa == aa_id}
        received = await self.health.reports.received_by_day(within)
        found, day = {}, within.start
        while day < within.end:
            expected = expected_windows(TimeRange(day, day + DAY), reporting, now)
            found[day.date()] = _is_complete(Coverage(expected, received.get(day, {})))
            day += DAY
        return found

    async def _day_before(self, now: datetime, aa_id: str | None, fip_id: str | None) -> int | None:
        end = hour_start(now) - DAY
        within = TimeRange(end - DAY, end)
        points = await self.health.points(within, Step.HOUR, "", aa_id=aa_id, fip_id=fip_id)
        known = [one.health.total for one in points if one.health]
        return sum(known) if len(known) == len(points) else None

    async def _hours(
        self, now: datetime, aa_id: str | None, fip_id: str | None
    ) -> Sequence[HourOfDay]:
        end = hour_start(now)
        weeks = []
        for back in range(_USUAL_WEEKS + 1):
            within = TimeRange(end - DAY - back * WEEK, end - back * WEEK)
            points = await self.health.points(within, Step.HOUR, "", aa_id=aa_id, fip_id=fip_id)
            weeks.append([one.health.total if one.health else None for one in points])
        this, *before = weeks
        starts = [end - DAY + place * Step.HOUR.value for place in range(len(this))]
        return [
            HourOfDay(start, calls, earlier[0], _mean(earlier))
            for start, calls, earlier in zip(starts, this, zip(*before, strict=True), strict=True)
        ]


def _weeks_before(now: datetime) -> TimeRange:
    first = week_start(now)
    return TimeRange(first - HISTORY * WEEK, first)


def _is_complete(coverage: Coverage) -> bool:
    proofs = [coverage.proof(aa_id) for aa_id, due in coverage.expected.items() if due]
    return bool(proofs) and all(
        one.windows_received * 100 >= one.windows_expected * _COMPLETE_PERCENT for one in proofs
    )


def _mean(earlier: Sequence[int | None]) -> int | None:
    found = [one for one in earlier if one is not None]
    return round(sum(found) / len(found)) if found else None


def _volume(
    points: Sequence[Point],
    complete: Mapping[date, bool],
    hours: Sequence[HourOfDay],
    first: date,
) -> VolumeOfSubject:
    expected, notice = _outlook(points, complete, first)
    days = _days(points, complete)
    return VolumeOfSubject(hours, days, growth(_known(days), first), expected, notice)


def _days(points: Sequence[Point], complete: Mapping[date, bool]) -> Sequence[DayOfVolume]:
    return [
        DayOfVolume(day := one.start.date(), one.health.total if one.health else 0, complete[day])
        for one in points
    ]


def _known(days: Sequence[DayOfVolume]) -> Volume:
    return {one.day: one.calls for one in days if one.complete}


def _outlook(
    points: Sequence[Point], complete: Mapping[date, bool], first: date
) -> tuple[Forecast | None, Busiest | None]:
    well: Volume = {
        one.start.date(): one.health.total
        for one in points
        if one.health is not None
        and one.health.succeeded * 100 > one.health.eligible * GOOD_ABOVE_PERCENT
    }
    expected = forecast(_known(_days(points, complete)), first)
    return expected, capacity_notice(expected, well) if expected else None
