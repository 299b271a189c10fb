"""How long a delivery that failed waits: email and webhook messages alike (decisions 7)."""

import random
from datetime import timedelta
from typing import Final

_FIRST: Final = timedelta(seconds=15)
_MAX_LENGTH: Final = timedelta(hours=1)
_DOUBLINGS: Final = 8
"""More would pass the longest pause anyway."""


def pause_after(attempts: int) -> timedelta:
    """Grow twofold, with jitter, so that many do not come back together."""
    pause: timedelta = min(_FIRST * 2 ** min(attempts, _DOUBLINGS), _MAX_LENGTH)
    return pause * random.uniform(0.75, 1.25)  # noqa: S311  # spreads load, hides nothing
