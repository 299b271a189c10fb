"""When a disk is full: by what the latest days brought, until as much is dropped as comes."""

from datetime import UTC, datetime, timedelta

from mudra.storage.database.server.growth import Growing, Growth, of_days, of_months

NOW = datetime(2026, 11, 24, 12, tzinfo=UTC)
TODAY = NOW.replace(hour=0)


def day(ago: int) -> datetime:
    return TODAY - timedelta(days=ago)


def test_a_day_is_the_mean_of_the_last_three_complete_ones() -> None:
    sizes = [(day(-1), 0), (day(0), 999), (day(1), 30), (day(2), 20), (day(3), 40), (day(4), 5000)]

    assert of_days(sizes, NOW, 90) == Growing(30.0, 86)


def test_a_month_has_grown_since_its_first_day() -> None:
    sizes = [(datetime(2026, 10, 1, tzinfo=UTC), 9000), (datetime(2026, 11, 1, tzinfo=UTC), 2350)]

    found = of_months(sizes, NOW, 400)

    assert (found.a_day, found.days_left) == (100.0, 346)


def test_without_partitions_nothing_grows() -> None:
    assert of_days([], NOW, 90).a_day == 0
    assert of_months([], NOW, 400).a_day == 0


def test_a_disk_is_full_once_all_that_comes_fills_it() -> None:
    growth = Growth(0, [Growing(100.0, 90), Growing(10.0, 400)])

    assert growth.a_day == 110
    assert growth.full_in(1100) == 11
    assert growth.full_in(1099) == 10


def test_what_is_dropped_in_time_fills_no_disk() -> None:
    """90 days of 100 and 400 of 10 are 13,000, and no more."""
    growth = Growth(0, [Growing(100.0, 90), Growing(10.0, 400)])

    assert growth.full_in(12_999) == 400
    assert growth.full_in(13_000) is None


def test_what_has_reached_its_age_grows_no_more() -> None:
    assert Growth(0, [Growing(100.0, 0)]).full_in(0) is None
