"""The time zone of a page or an email: its reader's choice, else the network's."""

import enum
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from functools import cache
from typing import Final
from zoneinfo import ZoneInfo, available_timezones

from msgspec import Struct

from mudra.shared.time_text import INDIA, read_time

_INDIA: Final = {INDIA, "Asia/Calcutta"}
"""The second is what Chromium reports."""
_UTC: Final = "UTC"
_LOCAL: Final = "%Y-%m-%dT%H:%M"
_DATE_LENGTH: Final = len("2026-01-31")


class ZoneChoice(enum.StrEnum):
    """The choice of a reader."""

    BROWSER = "browser"
    """The zone of the browser; where it is not known, that of the network."""
    IST = "ist"
    UTC = "utc"


class DisplayZone(Struct, frozen=True):
    """The zone in which times are written, and in which forms are read."""

    choice: ZoneChoice
    info: ZoneInfo

    @property
    def name(self) -> str:
        """Its name in the time zone database."""
        return self.info.key

    @property
    def fixed(self) -> str:
        """The zone that the page's script writes in; empty for that of the browser."""
        return "" if self.choice is ZoneChoice.BROWSER else self.info.key

    @property
    def label(self) -> str:
        """Returns the label of a field, such as IST, UTC or Europe/Berlin."""
        return "IST" if self.info.key in _INDIA else self.info.key

    def abbreviation(self, at: datetime) -> str:
        """Returns what a time is followed by, such as IST, UTC or CEST."""
        return at.astimezone(self.info).tzname() or self.info.key

    def local(self, at: datetime) -> str:
        """Writes an instant as a field for date and time has it, without a zone."""
        return at.astimezone(self.info).strftime(_LOCAL)

    def instant(self, typed: str, *, latest: bool = False) -> datetime | None:
        """Reads an instant in UTC: ISO 8601 with its offset, or without one in this zone.

        A date alone is its midnight. A wall time that comes twice when clocks are set back is
        the first of them, or with `latest` the second; one that is left out is moved by the gap.
        None if it is no time.
        """
        read = read_time(f"{typed}T00:00" if len(typed) == _DATE_LENGTH else typed)
        if read is None or read.offset is not None:
            return None if read is None else read.at
        try:
            return read.at.replace(tzinfo=self.info, fold=int(latest)).astimezone(UTC)
        except OverflowError:
            return None


IN_UTC: Final = DisplayZone(ZoneChoice.BROWSER, ZoneInfo(_UTC))
"""The zone outside of pages and emails."""
_current: ContextVar[DisplayZone] = ContextVar("display zone", default=IN_UTC)


def display_zone() -> DisplayZone:
    """Returns the zone of the page that is being written."""
    return _current.get()


def use_zone(zone: DisplayZone) -> None:
    """Write in this zone until the request, a task of its own, ends."""
    _current.set(zone)


@contextmanager
def written_in_zone(zone: DisplayZone) -> Iterator[None]:
    """Write in this zone inside of the block."""
    token = _current.set(zone)
    try:
        yield
    finally:
        _current.reset(token)


def zone_of(choice: str, network: str, browser: str = "") -> DisplayZone:
    """Returns the zone of a choice; another is the browser's, or the network's if that is unknown.

    `network` is a name of the time zone database.
    """
    match choice:
        case ZoneChoice.IST:
            return DisplayZone(ZoneChoice.IST, ZoneInfo(INDIA))
        case ZoneChoice.UTC:
            return DisplayZone(ZoneChoice.UTC, ZoneInfo(_UTC))
        case _:
            return zone_named(browser) or DisplayZone(ZoneChoice.BROWSER, ZoneInfo(network))


def zone_named(name: str) -> DisplayZone | None:
    """Returns the zone of a form that names its own, or None for one that there is not."""
    if name not in zone_names():
        return None
    return DisplayZone(ZoneChoice.BROWSER, ZoneInfo(name))


@cache
def zone_names() -> frozenset[str]:
    """Returns the names of the time zone database."""
    return frozenset(available_timezones())
