"""The grains of blocks, their tags, and times as the numbers that cells have."""

import enum
from datetime import datetime, timedelta
from typing import Final

from mudra.metrics.payload.catalogue import WINDOW, day_start
from mudra.metrics.rollup.stale import DAY, HOUR
from mudra.metrics.sums.selection import OfAas, Times
from mudra.storage.metrics.partitions import month_of

REQ: Final = "req"
NOT: Final = "not"
ALL: Final = "all"
"""The tag of all calls of a pair, without times: for the matrix."""
NOT_GOOD: Final = "bad"
"""The tag of the calls of a pair by type that are not certainly good, without times."""
OVER_FIPS: Final = {REQ: "req-fips", NOT: "not-fips"}
"""The tags of the sums of an AA by type over all its FIPs."""
DERIVED: Final = {REQ: (ALL, NOT_GOOD, OVER_FIPS[REQ]), NOT: (OVER_FIPS[NOT],)}
"""What is stored with the sums of an AA by their tag, and of a window with those over all AAs."""
SEEN: Final = "seen"
"""The tag of all calls to a FIP as most AAs see them, without times: of a day over all AAs."""
LONGER: Final = {tag: f"{tag}-long" for tag in (REQ, NOT, *DERIVED[REQ], *DERIVED[NOT])}
"""The tags of the sums of some hours or days together: fewer blocks for a question over many."""
_SOURCES: Final = {derived: tag for tag, of in DERIVED.items() for derived in of} | {SEEN: REQ}
SHORTER: Final = {longer: tag for tag, longer in LONGER.items()}
_SIX_HOURS: Final = 6 * HOUR
_PARTS_OF_MONTH: Final = (1, 8, 15, 22)
"""The days on which the parts of a month begin: each is of seven days, the last of up to ten."""


class Grain(enum.StrEnum):
    """The length of time that one cell covers."""

    WINDOW = "window"
    HOUR = "hour"
    DAY = "day"

    @property
    def length(self) -> timedelta:
        """The length of one time."""
        return _LENGTHS[self]

    def settled_start(self, at: datetime) -> datetime:
        """Returns the beginning of the settled block that may contain a time."""
        if self is Grain.HOUR:
            return day_start(at)
        return month_of(at) if self is Grain.DAY else at

    def settled_end(self, at: datetime) -> datetime:
        """Returns the end of the settled block that may contain a time."""
        if self is Grain.HOUR:
            return day_start(at) + DAY
        return month_of(month_of(at) + timedelta(days=32)) if self is Grain.DAY else at + WINDOW

    def longer(self, at: datetime) -> tuple[datetime, datetime]:
        """Returns begin and end of what is summed together: six hours, or a quarter of a month.

        A settled block has it whole.
        """
        if self is Grain.HOUR:
            begin = at - (at - day_start(at)) % _SIX_HOURS
            return begin, begin + _SIX_HOURS
        day, month = day_start(at), month_of(at)
        begin = day.replace(day=max(one for one in _PARTS_OF_MONTH if one <= day.day))
        if begin.day < _PARTS_OF_MONTH[-1]:
            return begin, begin + timedelta(days=7)
        return begin, month_of(month + timedelta(days=32))

    def times(self, begin: datetime, end: datetime) -> list[datetime]:
        """Returns all times of this length from one until another."""
        return [begin + place * self.length for place in range((end - begin) // self.length)]


_LENGTHS: Final = {Grain.WINDOW: WINDOW, Grain.HOUR: HOUR, Grain.DAY: DAY}


def by_grain(selected: OfAas) -> dict[Grain, Times]:
    """Returns what is read of each grain, the longest first."""
    return {Grain.DAY: selected.days, Grain.HOUR: selected.hours, Grain.WINDOW: selected.windows}


def source_tag(tag: str) -> str:
    """Returns the tag of the sums with which those of a tag are made: its own, unless derived."""
    shorter = SHORTER.get(tag, tag)
    return _SOURCES.get(shorter, shorter)
