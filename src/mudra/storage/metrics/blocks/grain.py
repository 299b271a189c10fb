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
_SOURCES: Final = {derived: tag for tag, of in DERIVED.items() for derived in of} | {SEEN: REQ}


class Tier(enum.StrEnum):
    """The number of hours or days that are summed together: fewer blocks for a question over many.

    Each time of the longest tier consists of whole ones of the other.
    """

    LONG = "long"
    LONGEST = "longest"


LONGER: Final = {
    tier: {tag: f"{tag}-{tier}" for tag in (REQ, NOT, *DERIVED[REQ], *DERIVED[NOT])}
    for tier in Tier
}
"""The tags of the sums of each tier, by those of single hours or days."""
SHORTER: Final = {longer: tag for of in LONGER.values() for tag, longer in of.items()}
_LAST_BEGIN: Final = {Tier.LONG: 28, Tier.LONGEST: 19}
"""The day on which the last part of each month begins, with what is left of the month."""


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

    def longer(self, tier: Tier, at: datetime) -> tuple[datetime, datetime]:
        """Returns begin and end of what is summed together with a time.

        A settled block has it whole.
        """
        day, length = day_start(at), self.usual(tier)
        if self is Grain.HOUR:
            begin = at - (at - day) % length
            return begin, begin + length
        place = (day.day - 1) // length.days * length.days
        begin = day.replace(day=min(1 + place, _LAST_BEGIN[tier]))
        return begin, self.settled_end(at) if begin.day == _LAST_BEGIN[tier] else begin + length

    def usual(self, tier: Tier) -> timedelta:
        """Returns how long most times of a tier are."""
        return _USUAL[self][tier]

    def times(self, begin: datetime, end: datetime) -> list[datetime]:
        """Returns all times of this length from one until another."""
        return [begin + place * self.length for place in range((end - begin) // self.length)]


_LENGTHS: Final = {Grain.WINDOW: WINDOW, Grain.HOUR: HOUR, Grain.DAY: DAY}
_USUAL: Final = {
    Grain.HOUR: {Tier.LONG: 2 * HOUR, Tier.LONGEST: 6 * HOUR},
    Grain.DAY: {Tier.LONG: 3 * DAY, Tier.LONGEST: 9 * DAY},
}


def by_grain(selected: OfAas) -> dict[Grain, Times]:
    """Returns what is read of each grain, the longest first."""
    return {Grain.DAY: selected.days, Grain.HOUR: selected.hours, Grain.WINDOW: selected.windows}


def source_tag(tag: str) -> str:
    """Returns the tag of the sums of which a tag's sums are made: its own, unless derived."""
    shorter = SHORTER.get(tag, tag)
    return _SOURCES.get(shorter, shorter)
