"""The time of a health page: ranges of the clock and the calendar, and wall times in a zone."""

from datetime import UTC, datetime, timedelta

import pytest

from mudra.console.health.health_query import HealthQuery, query_of
from mudra.http.response.http_refusals import InvalidField
from mudra.localization.display_zone import DisplayZone, written_in_zone, zone_named, zone_of

NOW = datetime(2026, 11, 23, 20, 7, tzinfo=UTC)  # a Monday; in India it is Tuesday already


def berlin() -> DisplayZone:
    found = zone_named("Europe/Berlin")
    assert found is not None
    return found


def times(query: dict[str, str], zone: DisplayZone, now: datetime = NOW) -> tuple[str, str]:
    with written_in_zone(zone):
        view = query_of(query, now)
    assert isinstance(view, HealthQuery), view
    return tuple(f"{at:%m-%d %H:%M}" for at in (view.within.start, view.within.end))  # type: ignore[return-value]


@pytest.mark.parametrize(
    ("name", "zone", "start", "end"),
    [
        ("yesterday", "utc", "11-22 00:00", "11-23 00:00"),
        ("yesterday", "ist", "11-22 18:30", "11-23 18:30"),
        ("last-week", "utc", "11-16 00:00", "11-23 00:00"),
        ("last-week", "ist", "11-15 18:30", "11-22 18:30"),
    ],
)
def test_a_day_and_a_week_are_those_of_the_readers_zone(
    name: str, zone: str, start: str, end: str
) -> None:
    assert times({"range": name}, zone_of(zone, "UTC")) == (start, end)


@pytest.mark.parametrize(
    ("now", "hours"),
    [
        (datetime(2026, 3, 30, 9, tzinfo=UTC), 23),
        (datetime(2026, 10, 26, 9, tzinfo=UTC), 25),
        (datetime(2026, 11, 23, 9, tzinfo=UTC), 24),
    ],
)
def test_yesterday_has_the_hours_of_its_day_where_clocks_are_changed(
    now: datetime, hours: int
) -> None:
    with written_in_zone(berlin()):
        view = query_of({"range": "yesterday"}, now)

    assert isinstance(view, HealthQuery)
    assert view.within.end - view.within.start == timedelta(hours=hours)
    assert not view.live


@pytest.mark.parametrize(
    ("start", "end", "expected"),
    [
        # 02:30 comes twice on 25 October: the range holds both.
        ("2026-10-25T02:30", "2026-10-25T02:30", ("10-25 00:30", "10-25 01:30")),
        # It is left out on 29 March: moved by the gap.
        ("2026-03-29T02:30", "2026-03-29T03:30", ("03-29 01:30", "03-29 01:30")),
        ("2026-03-29T01:30", "2026-03-29T03:00", ("03-29 00:30", "03-29 01:00")),
    ],
)
def test_wall_times_of_a_changed_clock_are_read(
    start: str, end: str, expected: tuple[str, str]
) -> None:
    read = berlin().instant(start), berlin().instant(end, latest=True)

    assert tuple(f"{at:%m-%d %H:%M}" for at in read if at) == expected


def test_a_form_says_its_zone_whatever_that_of_the_reader_is() -> None:
    typed = {"from": "2026-11-20T10:00", "to": "2026-11-20T12:00"}

    assert times(typed, zone_of("ist", "UTC")) == ("11-20 04:30", "11-20 06:30")
    assert times(typed | {"zone": "Europe/Berlin"}, zone_of("ist", "UTC")) == (
        *("11-20 09:00", "11-20 11:00"),
    )
    pinned = {"from": "2026-11-20T10:00:00Z", "to": "2026-11-20T12:00:00+05:30"}
    assert times(pinned | {"to": "2026-11-20T18:00:00+05:30"}, berlin()) == (
        *("11-20 10:00", "11-20 12:30"),
    )


@pytest.mark.parametrize(
    ("browser", "label"),
    [
        ("Asia/Kolkata", "IST"),
        ("Asia/Calcutta", "IST"),  # as Chromium has it
        ("Europe/Berlin", "Europe/Berlin"),
        ("", "UTC"),
        ("../../etc/passwd", "UTC"),
    ],
)
def test_a_field_is_labeled_with_the_zone_of_the_browser(browser: str, label: str) -> None:
    assert zone_of("browser", "UTC", browser).label == label


@pytest.mark.parametrize(
    ("query", "named"),
    [
        ({"range": "fortnight"}, "range must be one of 1h, 6h, 24h, 7d, 30d, yesterday, last-week"),
        ({"from": "last Monday", "to": "2026-11-20T12:00"}, "from must be a date and time such as"),
        ({"from": "2026-11-20T12:00", "to": "0001-01-01"}, "to must be"),
        ({"from": "2026-11-20T12:00", "to": "2026-11-20T12:00"}, "from must be before to"),
        ({"from": "2026-01-01T12:00", "to": "2026-11-20T12:00"}, "by at most 92 days"),
        ({"from": "2026-11-20T12:00", "zone": "Mars/Base"}, "zone must be a time zone such as"),
    ],
)
def test_a_wrong_time_is_refused_with_its_field(query: dict[str, str], named: str) -> None:
    with written_in_zone(zone_of("ist", "UTC")):
        refused = query_of(query, NOW)

    assert isinstance(refused, InvalidField)
    assert named in refused.sentence


@pytest.mark.parametrize(
    ("query", "resolution"),
    [
        ({"range": "1h"}, "each window of ten minutes"),
        ({"range": "yesterday"}, "each hour"),
        ({"range": "last-week"}, "six hours"),
        ({"range": "30d"}, "each day of UTC"),
    ],
)
def test_a_range_says_what_one_point_of_it_is(query: dict[str, str], resolution: str) -> None:
    view = query_of(query, NOW)

    assert isinstance(view, HealthQuery)
    assert resolution in view.resolution


def test_a_comparison_goes_with_the_view_until_it_is_taken_back() -> None:
    view = query_of({"range": "6h", "compare": "week"}, NOW)

    assert isinstance(view, HealthQuery)
    assert "compare=week" in view.query(type="cns")
    assert "compare" not in view.query(compare="")
    assert query_of({"compare": "year"}, NOW) == query_of({}, NOW)
