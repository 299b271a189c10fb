"""Quartiles of a group of members, from which none of them can be found. Pure (decision 0230).

Each is the mean of the three or four members around its place, so that no member's own value is
ever shown, and it is rounded: a value that changes little between two questions changes nothing.
"""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from math import ceil, floor, log10
from typing import Final

from msgspec import Struct

FEWEST_OTHERS: Final = 5
"""Members that a reader is compared with; fewer are hidden."""
_AROUND: Final = 1.5
"""Ranks to each side of a quartile whose members its mean is of."""
_BANDS: Final = (6, 10, 20, 50, 100, 200, 500, 1000)


class Quartiles(Struct, frozen=True):
    """The lower quartile, the median and the upper quartile of a group."""

    low: float
    median: float
    high: float


def quartiles(values: Iterable[float], fewest: int = FEWEST_OTHERS) -> Quartiles | None:
    """Returns the quartiles of a group before rounding; None where it has fewer than `fewest`."""
    ordered = sorted(values)
    if len(ordered) < max(fewest, FEWEST_OTHERS):
        return None
    return Quartiles(*(_around(ordered, part) for part in (0.25, 0.5, 0.75)))


def of_group(values: Iterable[float]) -> Quartiles | None:
    """Returns the quartiles of a whole group: one answer for all of its members.

    None where any member of the group would see fewer than five others.
    """
    return quartiles(values, FEWEST_OTHERS + 1)


def rounded_share(found: Quartiles) -> Quartiles:
    """Returns shares of 0 to 1 in whole percent."""
    return Quartiles(*(round(one, 2) for one in (found.low, found.median, found.high)))


def rounded_time(found: Quartiles) -> Quartiles:
    """Returns times in milliseconds with two digits."""
    return Quartiles(*(_two_digits(one) for one in (found.low, found.median, found.high)))


def size_band(members: int) -> str:
    """Returns how many members a group has, roughly: one more or less is not seen."""
    if members < _BANDS[0]:
        return f"fewer than {_BANDS[0]}"
    for low, after in pairwise(_BANDS):
        if members < after:
            return f"{low} to {after - 1}"
    return f"{_BANDS[-1]} or more"


def _around(ordered: Sequence[float], part: float) -> float:
    place = part * (len(ordered) - 1)
    mean_of = ordered[ceil(place - _AROUND) : floor(place + _AROUND) + 1]
    return sum(mean_of) / len(mean_of)


def _two_digits(value: float) -> float:
    if value <= 0:
        return 0.0
    return float(round(value, 1 - floor(log10(value))))
