"""The forms of a time that programs in Java, Go, .NET, Python and Ruby write by themselves."""

from datetime import UTC, datetime, timedelta

import pytest

from mudra.localization.display_zone import IN_UTC
from mudra.shared.time_text import read_time

AT = datetime(2026, 11, 26, 10, 20, tzinfo=UTC)
INDIA = timedelta(hours=5, minutes=30)


@pytest.mark.parametrize(
    ("text", "offset"),
    [
        # Java's ZonedDateTime
        ("2026-11-26T10:20Z[UTC]", timedelta(0)),
        ("2026-11-26T15:50+05:30[Asia/Kolkata]", INDIA),
        ("2026-11-26T11:20+01:00[GMT+01:00]", timedelta(hours=1)),
        ("2026-11-26T15:50+05:30[UTC+05:30]", INDIA),
        # Temporal, of JavaScript
        ("2026-11-26T15:50:00+05:30[Asia/Kolkata][u-ca=gregory]", INDIA),
        ("2026-11-26T15:50:00+05:30[u-ca=gregory]", INDIA),
        # Go's time as text
        ("2026-11-26 10:20:00 +0000 UTC", timedelta(0)),
        ("2026-11-26 15:50:00 +0530 IST m=+0.012345678", INDIA),
        ("2026-11-26 15:50:00 +0530 +0530", INDIA),
        # .NET, Python, Ruby
        ("2026-11-26T10:20:00.0000000Z", timedelta(0)),
        ("2026-11-26T10:20:00+00:00", timedelta(0)),
        ("2026-11-26 10:20:00 UTC", timedelta(0)),
        # RFC 9557
        ("2026-11-26T15:50:00+05:30[!Asia/Kolkata]", INDIA),
        ("2026-11-26T15:50:00+05:30[+05:30]", INDIA),
        ("2026-11-26T10:20:00Z[Europe/Paris]", timedelta(0)),
        ("2026-11-26T10:20:00-00:00[Europe/Paris]", timedelta(0)),
        ("2026-11-26T15:50:00+05:30[Mars/Olympus]", INDIA),
    ],
)
def test_an_instant_is_read_as_its_program_writes_it(text: str, offset: timedelta) -> None:
    assert read_time(text) == (AT, offset)
    assert IN_UTC.instant(text) == AT


@pytest.mark.parametrize(
    "text",
    [
        "2026-11-26T15:50:00+05:30[Europe/Paris]",  # another hour there
        "2026-11-26T10:20:00+00:00[Europe/Paris]",
        "2026-11-26T15:50:00+05:30[+05:00]",
        "2026-11-26T15:50:00+05:30[!Mars/Olympus]",
        "2026-11-26T15:50:00+05:30[!u-ca=gregory]",
        "2026-11-26T15:50:00+05:30[Asia/Kolkata][!_x=1]",
        "2026-11-26T15:50:00+05:30[u-ca=gregory][Asia/Kolkata]",
        "2026-11-26T15:50:00+05:30[]",
        "2026-11-26T15:50:00[Asia/Kolkata]",  # without the offset that RFC 9557 requires
        "2026-11-26T15:50:00+05:30[+99:00]",
        "2026-11-26T15:50:00+05:30[Asia/Kolkata",
        "2026-11-26T10:20:00Z" + "[a=b]" * 9,
    ],
)
def test_a_suffix_that_leaves_the_instant_in_doubt_is_refused(text: str) -> None:
    assert read_time(text) is None


def test_the_offset_of_a_zone_is_that_of_the_time_of_year() -> None:
    assert read_time("2026-07-01T12:00:00+02:00[Europe/Paris]") is not None
    assert read_time("2026-07-01T12:00:00+01:00[Europe/Paris]") is None


def test_the_last_year_has_no_local_time_in_the_east() -> None:
    assert read_time("9999-12-31T23:59:00Z[Asia/Kolkata]") is not None
