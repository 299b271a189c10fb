"""Shares as pages, messages and feeds show them: in per cent, by one rule of rounding.

Half goes to even, so that what succeeded and what failed of the same calls add up to 100. Neither
0 nor 100 is ever reached by rounding: they are of none and of all alone.
"""

import math
from typing import Final, overload

from mudra.localization.language import current, gettext

_BELOW_ALL: Final = math.nextafter(1.0, 0.0)
_LEAST: Final = 1000
"""One call of so many is the least share that one decimal can say."""


def share_of(part: int, whole: int) -> float | None:
    """Returns a share of 0 to 1, None of nothing; 1.0 only when the part is the whole.

    Counts of 2^53 and more would round to it in binary fractions.
    """
    if not whole:
        return None
    return part / whole if part >= whole else min(part / whole, _BELOW_ALL)


def failing_text(succeeded: int, eligible: int) -> str:
    """Returns the share of failed calls in per cent, to one decimal that is not 0: "67.8 %"."""
    failed = eligible - succeeded
    if 0 < failed * _LEAST < eligible:
        return gettext("under 0.1 %")
    found = percentage(share_of(failed, eligible), 1) or 0.0
    return f"{current().number(found, 0 if found.is_integer() else 1)} %"


@overload
def percentage(share: float, places: int = 2) -> float: ...
@overload
def percentage(share: float | None, places: int = 2) -> float | None: ...
def percentage(share: float | None, places: int = 2) -> float | None:
    """Returns a share of 0 to 1 in per cent, rounded to so many places; None stays None.

    99.999 % never becomes 100 %, and one of a million is not 0. A half is one where the share is
    the quotient of a half: in binary fractions the product of a share misses it.
    """
    if share is None:
        return None
    scale = int(10 ** (2 + places))
    found = min(int(share * scale), scale - 1)
    half = (2 * found + 1) / (2 * scale)
    if share > half or (share == half and found % 2):
        found += 1
    if 0 < share < 1:
        found = min(max(found, 1), scale - 1)
    return found / float(10**places)
