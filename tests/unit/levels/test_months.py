"""When the reports of a month are made: in the first run after its end."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from mudra.levels.months import made_after, month_of


@pytest.mark.parametrize(
    ("zone", "made"),
    [
        ("Asia/Kolkata", datetime(2026, 12, 1, 1, 10, tzinfo=UTC)),
        ("UTC", datetime(2026, 12, 1, 1, 10, tzinfo=UTC)),
        ("America/Lima", datetime(2026, 12, 2, 1, 10, tzinfo=UTC)),
    ],
)
def test_a_month_is_reported_by_the_first_run_after_its_end(zone: str, made: datetime) -> None:
    november = month_of(datetime(2026, 11, 15, tzinfo=UTC), ZoneInfo(zone))

    assert made_after(november) == made
