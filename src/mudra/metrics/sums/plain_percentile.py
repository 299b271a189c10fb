"""A percentile of a sum in plain Python: the one other implementation, to check `percentile` by.

It shares no code with it, and runs where no numpy is installed: `mudra report verify` recounts
with it what the service computed by columns. Cells of time are exact below 8 ms, above it there are
8 to each doubling.
"""

from collections.abc import Mapping
from typing import Final

_FINE_BITS: Final = 3
_FINE: Final = 1 << _FINE_BITS
PLACES: Final = _FINE * (53 - _FINE_BITS + 1)
"""The number of cells of the times below 2^53 ms."""


def first_ms(place: int) -> int:
    """Returns the first millisecond of a cell of time."""
    shift = max(place // _FINE - 1, 0)
    return (place - shift * _FINE) << shift


def plain_percentile(calls: Mapping[int, int], percent: int, longest: int) -> int | None:
    """Returns this percentile (nearest rank) in milliseconds, an estimate; None without calls.

    The calls of one cell are spread evenly in it, and none took longer than the longest.
    """
    samples = sum(calls.values())
    if samples <= 0:
        return None
    wanted = -(-samples * percent // 100)
    before = 0
    for place in sorted(calls):
        number = calls[place]
        if before + number >= wanted:
            break
        before += number
    first, width = first_ms(place), first_ms(place + 1) - first_ms(place)
    return min(first + (2 * (wanted - before) - 1) * width // (2 * number), longest)
