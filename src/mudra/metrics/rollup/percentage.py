"""Shares as pages and feeds show them: in per cent, rounded down."""

import math
from decimal import Decimal
from typing import overload


@overload
def percentage(share: float, places: int = 2) -> float: ...
@overload
def percentage(share: float | None, places: int = 2) -> float | None: ...
def percentage(share: float | None, places: int = 2) -> float | None:
    """Returns a share of 0 to 1 in per cent, rounded down to so many places; None stays None.

    99.999 % never becomes 100 %, and 57 of 100 are 57 %: in binary fractions that product
    falls short of it, so it is computed in decimal ones.
    """
    if share is None:
        return None
    return math.floor(Decimal(repr(share)).scaleb(2 + places)) / float(10**places)
