"""Times as text, the same in a page, a response, an email and a command, and which can be.

`read_time` is the one reader of times, for every input.
"""

import re
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Final, NamedTuple
from zoneinfo import ZoneInfo, available_timezones

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


_DATE: Final = r"([0-9]{4})-([0-9]{2})-([0-9]{2})"
_CLOCK: Final = r"([0-9]{2}):([0-9]{2})(?::([0-9]{2})(?:[.,]([0-9]{1,30}))?)?"
_UTC: Final = r"([Zz]|UTC|GMT)"
# Go's String() has the name of the zone behind the offset, and its own clock behind both.
_OFFSET: Final = (
    r"([+-])([0-9]{2})(?::?([0-9]{2}))?(?: [+-]?[A-Z0-9]{2,6})?(?: m=[+-][0-9.]{1,30})?"
)
_SUFFIX: Final = r"((?:\[[^\[\]]{1,80}\]){1,8})"
_TIME: Final = re.compile(rf"{_DATE}[Tt ]{_CLOCK}[ ]?(?:(?:{_UTC}|{_OFFSET}){_SUFFIX}?)?", re.ASCII)
# RFC 9557 4.1, and `GMT+05:30`, which Java writes.
_TAG: Final = re.compile(
    r"\[(!?)(?:([a-z_][a-z0-9_-]*=[A-Za-z0-9]+(?:-[A-Za-z0-9]+)*)"
    r"|(?:UTC?|GMT)?([+-])([0-9]{2})(?::?([0-9]{2}))?"
    r"|([A-Za-z._][A-Za-z0-9._+-]*(?:/[A-Za-z._][A-Za-z0-9._+-]*)*))\]"
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
    beyond the microsecond never fall onto a whole second. Suffixes such as `[Asia/Kolkata]` are
    read as RFC 9557 has it: see `_agrees`.
    """
    found = _TIME.fullmatch(text)
    if found is None:
        return None
    (year, month, day, hour, minute, second, decimals, utc, sign, hours, minutes, suffix) = (
        found.groups()
    )
    micro = (decimals or "").ljust(_MICROSECONDS, "0")
    beyond = 1 if micro[_MICROSECONDS:].strip("0") else 0
    leap = second == str(_LEAP)
    offset = timedelta(0) if utc else None
    if sign and (offset := _offset(sign, hours, minutes)) is None:
        return None
    try:
        at = datetime(
            int(year), int(month), int(day), int(hour), int(minute),
            59 if leap else int(second or 0), max(int(micro[:_MICROSECONDS]), beyond), UTC,
        )  # fmt: skip  # the fields in their order
        at += timedelta(seconds=1 if leap else 0) - (offset or timedelta(0))
    except (ValueError, OverflowError):  # the 31st of February, or before the year 1
        return None
    if suffix:
        local = None if utc or (sign == "-" and not offset) else offset
        if not _agrees(suffix, at, local):
            return None
    return ReadTime(at, offset)


def _offset(sign: str, hours: str, minutes: str | None) -> timedelta | None:
    if int(hours) >= _HOURS or int(minutes or 0) >= _LEAP:
        return None
    offset = timedelta(hours=int(hours), minutes=int(minutes or 0))
    return -offset if sign == "-" else offset


def _agrees(suffix: str, at: datetime, offset: timedelta | None) -> bool:
    """Return whether the tags of RFC 9557 behind a time leave its instant beyond doubt.

    A zone comes first and has this offset at this instant; behind `Z`, which `offset` None
    denotes, any zone does (3.4). A zone that is not known, and a tag such as `[u-ca=gregory]`,
    are left out of account, unless `!` says that they must be understood (3.3).
    """
    end = 0
    while end < len(suffix):
        tag = _TAG.match(suffix, end)
        if tag is None:
            return False
        critical, key, sign, hours, minutes, zone = tag.groups()
        if key:
            if critical:
                return False
        elif end:
            return False
        else:
            own = _offset(sign, hours, minutes) if sign else _zone_offset(zone, at)
            if own is None and (critical or sign):
                return False
            if None not in (own, offset) and own != offset:
                return False
        end = tag.end()
    return True


def _zone_offset(name: str, at: datetime) -> timedelta | None:
    """Return how far a zone is from UTC at an instant; None where it is not known here."""
    if name not in _zones():  # a zone that is not there costs a search of every folder
        return None
    try:
        return at.astimezone(ZoneInfo(name)).utcoffset()
    except OverflowError:  # its local time is before the year 1 or after 9999
        return None


@cache
def _zones() -> frozenset[str]:
    return frozenset(available_timezones())


def iso_ms(at: datetime) -> str:
    """Returns an instant as ISO 8601 in UTC with milliseconds and `Z`."""
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
