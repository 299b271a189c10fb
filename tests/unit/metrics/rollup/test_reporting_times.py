"""An AA had to report since it is live, and not while it was suspended."""

from datetime import UTC, datetime, timedelta

from mudra.metrics.payload.catalogue import WINDOW
from mudra.metrics.rollup.coverage import (
    FOREVER,
    ReportingTimes,
    StatusChange,
    TimeRange,
    reporting_times,
)

LIVE = datetime(2026, 3, 2, 9, tzinfo=UTC)
DAY = timedelta(days=1)
ENDED, RESTORED = LIVE + DAY, LIVE + 4 * DAY
SUSPENDED = StatusChange(ENDED, was_active=True, is_active=False)
ACTIVE = StatusChange(RESTORED, was_active=False, is_active=True)
LAST = ENDED - timedelta(minutes=25)
"""The last window whose report, in time until 15 minutes after its end, could come before."""


def test_an_aa_that_was_suspended_need_not_report_that_time() -> None:
    times = reporting_times(LIVE, [SUSPENDED, ACTIVE], is_active=True)

    assert not times.includes(LIVE - WINDOW)
    assert times.includes(LIVE)
    assert times.includes(LIVE + DAY - timedelta(minutes=30))
    assert not any(times.includes(one) for one in TimeRange(ENDED - 2 * WINDOW, RESTORED).windows)
    assert times.includes(RESTORED)
    assert times.open_since == RESTORED


def test_the_last_window_before_a_suspension_is_one_whose_report_could_come() -> None:
    times = reporting_times(LIVE, [SUSPENDED], is_active=False)

    assert times.includes(datetime(2026, 3, 3, 8, 30, tzinfo=UTC))
    assert datetime(2026, 3, 3, 8, 30, tzinfo=UTC) <= LAST < times.times[-1].end
    assert not times.includes(datetime(2026, 3, 3, 8, 40, tzinfo=UTC))
    assert times.open_since is None


def test_changes_that_keep_the_status_change_nothing() -> None:
    still = [
        StatusChange(LIVE + DAY / 2, was_active=True, is_active=True),
        SUSPENDED,
        StatusChange(ENDED + DAY, was_active=False, is_active=False),
        ACTIVE,
    ]

    assert reporting_times(LIVE, still, is_active=True) == reporting_times(
        LIVE, [SUSPENDED, ACTIVE], is_active=True
    )


def test_a_status_that_no_record_explains_was_so_all_along() -> None:
    assert reporting_times(LIVE, [SUSPENDED], is_active=True) == ReportingTimes(
        (TimeRange(LIVE, FOREVER),)
    )
    assert reporting_times(LIVE, [], is_active=False) == ReportingTimes()


def test_a_suspension_before_the_entry_was_live_leaves_no_time() -> None:
    before = StatusChange(LIVE - DAY, was_active=True, is_active=False)
    back = StatusChange(LIVE - DAY / 2, was_active=False, is_active=True)

    assert reporting_times(LIVE, [before, back], is_active=True) == ReportingTimes(
        (TimeRange(LIVE, FOREVER),)
    )


def test_a_range_has_the_parts_of_it_that_were_expected() -> None:
    times = reporting_times(LIVE, [SUSPENDED, ACTIVE], is_active=True)

    found = times.within(TimeRange(LIVE + DAY / 2, RESTORED + DAY))

    assert [one.start for one in found] == [LIVE + DAY / 2, RESTORED]
    assert found[-1].end == RESTORED + DAY
    assert times.within(TimeRange(ENDED, RESTORED)) == ()
