"""Shares as pages and feeds show them: in per cent; success rounded down, parts to the nearest."""

import math
from decimal import ROUND_HALF_UP, Decimal
from typing import Final, overload

from mudra.localization.language import gettext

_BELOW_ALL: Final = math.nextafter(1.0, 0.0)


def share_of(part: int, whole: int) -> float | None:
    """Returns a share of 0 to 1, None of nothing; 1.0 only when the part is the whole.

    Counts of 2^53 and more would round to it in binary fractions.
    """
    if not whole:
        return None
    return part / whole if part >= whole else min(part / whole, _BELOW_ALL)


def failing_text(succeeded: int, eligible: int) -> str:
    """Returns the share of failed calls in whole per cent, rounded down: "100 %" for all only."""
    failed = eligible - succeeded
    whole = 100 * failed // eligible
    return f"{whole} %" if whole or not failed else gettext("under 1 %")


@overload
def percentage(share: float, places: int = 2) -> float: ...
@overload
def percentage(share: float | None, places: int = 2) -> float | None: ...
def percentage(share: float | None, places: int = 2) -> float | None:
    """Returns a share of 0 to 1 in per cent, rounded down to so many places; None stays None.

    99.999 % never becomes 100 %, and 57 of 100 are 57 %: in binary fractions that product
    falls short of it, so it is compared with the quotients next to it, which are rounded as shares.
    """
    if share is None:
        return None
    scale = float(10 ** (2 + places))
    found = int(share * scale)
    if (found + 1) / scale <= share:
        found += 1
    elif found / scale > share:
        found -= 1
    return found / float(10**places)


@overload
def nearest_percentage(share: float, places: int = 2) -> float: ...
@overload
def nearest_percentage(share: float | None, places: int = 2) -> float | None: ...
def nearest_percentage(share: float | None, places: int = 2) -> float | None:
    """Returns a share of 0 to 1 in per cent, rounded to the nearest; None stays None.

    For parts next to each other, so that they add up: of a funnel what was done and what was lost.
    100 is of all alone and 0 of none alone: between them the nearest value inside is taken.
    """
    if share is None:
        return None
    step = Decimal(1).scaleb(-places)
    found = (Decimal(str(share)) * 100).quantize(step, ROUND_HALF_UP)
    if 0 < share < 1:
        found = min(max(found, step), 100 - step)
    return float(found)
