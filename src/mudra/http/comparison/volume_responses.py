"""The volume of calls as JSON; what is not known is null, never 0."""

from msgspec import Struct

from mudra.comparison.forecast import Busiest, Error, ExpectedDay, Forecast
from mudra.comparison.volume_service import VolumeOfSubject
from mudra.http.response.response_body import ResponseBody
from mudra.shared.time_text import iso_ms


class HourDetails(Struct, rename="camel"):
    """One hour next to the same hour of the weekday before; null without calls."""

    start: str
    calls: int | None
    week_before: int | None
    usual: int | None
    """The mean of the last four weeks."""


class VolumeDayDetails(Struct):
    """One day of UTC; one that is not complete is no part of growth and forecast."""

    day: str
    calls: int
    complete: bool


class GrowthDetails(Struct, rename="camel"):
    """Calls of the last whole week, and their ratio to the week before, and four weeks before."""

    calls: int | None
    of_week_before: float | None
    of_four_before: float | None


class ForecastErrorDetails(Struct, rename="camel"):
    """The error of forecasts so many weeks ahead, of days that were held back."""

    weeks_ahead: int
    days: int
    wape: float
    naive_wape: float


class ExpectedDayDetails(Struct):
    """One day that is expected; nine of ten held-back days were between `low` and `high`."""

    day: str
    calls: int
    low: int
    high: int


class ForecastDetails(Struct):
    """Four weeks that are expected, and the error of the method."""

    method: str
    errors: list[ForecastErrorDetails]
    days: list[ExpectedDayDetails]


class NoticeDetails(Struct, rename="camel"):
    """More calls may come in one day than were ever handled well in one."""

    expected: ExpectedDayDetails
    handled_day: str
    handled: int


class VolumeResponse(ResponseBody, kw_only=True):
    """Calls for customers: without heartbeats."""

    hours: list[HourDetails]
    days: list[VolumeDayDetails]
    growth: GrowthDetails
    forecast: ForecastDetails | None
    notice: NoticeDetails | None


def volume_response(found: VolumeOfSubject) -> VolumeResponse:
    """Return the volume as the wire has it."""
    grown = found.growth
    return VolumeResponse(
        hours=[
            HourDetails(iso_ms(one.start), one.calls, one.week_before, one.usual)
            for one in found.hours
        ],
        days=[VolumeDayDetails(str(one.day), one.calls, one.complete) for one in found.days],
        growth=GrowthDetails(grown.calls, grown.of_week_before, grown.of_four_before),
        forecast=_forecast(found.forecast) if found.forecast else None,
        notice=_notice(found.notice) if found.notice else None,
    )


def _forecast(one: Forecast) -> ForecastDetails:
    return ForecastDetails(one.method, [*map(_error, one.errors)], [*map(_day, one.days)])


def _error(one: Error) -> ForecastErrorDetails:
    return ForecastErrorDetails(one.weeks_ahead, one.days, one.wape, one.naive_wape)


def _day(one: ExpectedDay) -> ExpectedDayDetails:
    return ExpectedDayDetails(str(one.day), one.calls, one.low, one.high)


def _notice(one: Busiest) -> NoticeDetails:
    return NoticeDetails(_day(one.expected), str(one.handled_day), one.handled)
