"""Stale sums: those older than the reports they are made of, and when to make them again.

After an outage the windows of an hour arrive one by one, from every AA, and each would cause the
same sums again. So hours long past wait until nothing more has arrived for a while, or until they
have waited long (0216). Health queries do not wait: what stale sums are made of is read
in their place.
"""

import enum
from datetime import datetime, timedelta
from typing import Final

from msgspec import Struct

from mudra.metrics.payload.catalogue import Tag

ALL_AAS: Final = ""
"""The AA's ID in sums over all AAs."""
HOUR: Final = timedelta(hours=1)
DAY: Final = timedelta(days=1)
LIVE: Final = timedelta(hours=2)
"""Hours and windows that began within this time are live and never wait."""
CHARTS_KEPT: Final = timedelta(hours=9)
"""Windows of a filled history have sums over all AAs for so long: a chart by windows is of the last
eight hours."""
QUIET: Final = timedelta(seconds=20)
MAX_DELAY: Final = timedelta(minutes=2)
MAX_DELAY_OF_MANY: Final = timedelta(minutes=10)
"""For sums of many: days, and the sums over all AAs."""
SETTLED_AFTER: Final = timedelta(minutes=5)
"""Agents push a window within minutes of its end; sums of sums wait until most have arrived."""


class Priority(enum.Enum):
    """A criterion by which one group of stale sums is computed before another."""

    LIVE_FIRST = enum.auto()
    """Live hours and windows: someone watches them."""
    HOURS_BEFORE_DAYS = enum.auto()
    """A day is the sum of its hours."""
    AAS_BEFORE_ALL = enum.auto()
    """The sums over all AAs are made of those of each AA."""
    OLDEST_FIRST = enum.auto()


PRIORITIES: Final = tuple(Priority)
"""The order of the work: each criterion decides among those that are equal by the ones before."""


class Stale(Struct, frozen=True):
    """Hours of one day, or a day, of one AA (or of all) and tag with sums to compute again."""

    grain: str
    aa_id: str
    tag: Tag
    ats: tuple[datetime, ...]
    """Their beginnings, the oldest first."""
