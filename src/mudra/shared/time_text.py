"""Times as text, the same in a page, a response, an email and a command, and which can be.

`read_time` is the one reader of times, for every input.
"""

import re
from datetime import UTC, datetime, timedelta
from typing import Final, NamedTuple

import msgspec

FIRST: Final = datetime(2000, 1, 1, tzinfo=UTC)
LAST: Final = datetime(2200, 1, 1, tzinfo=UTC)
"""A time that someone sends is between these: a zone moves one of the year 1 or 9999 out of all
calendars, and neither the database nor Python can compute far beyond."""
USUAL: Final = f"must be between the years {FIRST.year} and {LAST.year}"
DAY_S: Final = 86_400
INDIA: Final = "Asia/Kolkata"
"""The zone of those who chose none, unless the network has another."""
_WHOLE_SECONDS: Final = "2026-01-31T09:30:00"


def is_usual(at: datetime) -> bool:
    """Return whether a time can be computed with and be shown in every zone."""
    return FIRST <= at <= LAST


_TIME: Final = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})[Tt ]([0-9]{2}):([0-9]{2})"
    r"(?::([0-9]{2})(?:[.,]([0-9]{1,30}))?)?"
    r"[ ]?(?:([Zz])|([+-])([0-9]{2})(?::?([0-9]{2}))?)?",
    re.ASCII,
)
_MICROSECONDS: Final = 6
_LEAP: Final = 60
_HOURS: Final = 24


class ReadTime(NamedTuple):
    """An instant, and how far the zone in which it was written is from UTC."""

    at: datetime
    """In UTC. A time without a zone is taken for one of UTC."""
    offset: timedelta | None
    """None where the text names no zone."""


def read_time(text: str) -> ReadTime | None:
    """Return the instant that an ISO 8601 text names; None where it names none.

    With or without seconds (Java leaves out those that are zero), any number of decimals, `Z`,
    `+0000` or `+00:00` in either case, `T` or a blank; second 60 is the one after 59. Decimals
    beyond the microsecond never fall onto a whole second.
    """
    found = _TIME.fullmatch(text)
    if found is None:
        return None
    year, month, day, hour, minute, second, decimals, utc, sign, hours, minutes = found.groups()
    micro = (decimals or "").ljust(_MICROSECONDS, "0")
    beyond = 1 if micro[_MICROSECONDS:].strip("0") else 0
    leap = second == str(_LEAP)
    offset = timedelta(0) if utc else None
    if sign:
        if int(hours) >= _HOURS or int(minutes or 0) >= _LEAP:
            return None
        offset = timedelta(hours=int(hours), minutes=int(minutes or 0))
        offset = -offset if sign == "-" else offset
    try:
        at = datetime(
            int(year), int(month), int(day), int(hour), int(minute),
            59 if leap else int(second or 0), max(int(micro[:_MICROSECONDS]), beyond), UTC,
        )  # fmt: skip  # the fields in their order
        at += timedelta(seconds=1 if leap else 0) - (offset or timedelta(0))
    except (ValueError, OverflowError):  # the 31st of February, or before the year 1
        return None
    return ReadTime(at, offset)


def iso_ms(at: datetime) -> str:
    """Return an instant as ISO 8601 in UTC with milliseconds and `Z`."""
    text = msgspec.to_builtins(at if at.tzinfo is UTC else at.astimezone(UTC))
    whole = len(_WHOLE_SECONDS)
    return f"{text[: whole + 4]}Z" if text[whole] == "." else f"{text[:whole]}.000Z"


ROUGH_MINUTES: Final = 10
"""From so many minutes on no one counts seconds."""


def nearest_days(seconds: int) -> int:
    """Return the nearest number of days: seven less a minute are seven, not six."""
    return (seconds + DAY_S // 2) // DAY_S


def span(length: timedelta) -> str:
    """Return a length of time as one says it: `12 days`, `3 h 5 min`, `37 min`, `4 min 10 s`."""
    seconds = max(0, int(length.total_seconds()))
    if seconds >= DAY_S:
        days = nearest_days(seconds)
        return f"{days} day{'s' if days > 1 else ''}"
    hours = seconds // 3600
    minutes, rest = divmod(seconds % 3600, 60)
    if hours:
        return f"{hours} h {minutes} min" if minutes else f"{hours} h"
    if minutes:
        return f"{minutes} min {rest} s" if rest and minutes < ROUGH_MINUTES else f"{minutes} min"
    return f"{rest} s"
