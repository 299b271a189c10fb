"""Times as text, the same in a page, a response, an email and a command, and which can be."""

from datetime import UTC, datetime, timedelta
from typing import Final

import msgspec

FIRST: Final = datetime(2000, 1, 1, tzinfo=UTC)
LAST: Final = datetime(2200, 1, 1, tzinfo=UTC)
"""A time that someone sends is between these: a zone moves one of the year 1 or 9999 out of all
calendars, and neither the database nor Python can compute far beyond."""
USUAL: Final = f"must be between the years {FIRST.year} and {LAST.year}"
DAY_S: Final = 86_400
_WHOLE_SECONDS: Final = "2026-01-31T09:30:00"


def is_usual(at: datetime) -> bool:
    """Return whether a time can be computed with and be shown in every zone."""
    return FIRST <= at <= LAST


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
