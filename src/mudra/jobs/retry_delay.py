"""The wait after a failed delivery, equal for emails and webhook messages."""

import random
from datetime import timedelta
from typing import Final

_FIRST: Final = timedelta(seconds=15)
_MAX_LENGTH: Final = timedelta(hours=1)
_DOUBLINGS: Final = 8
"""More would pass the longest pause anyway."""


_PUBLIC_FIRST: Final = timedelta(minutes=1)
_PUBLIC_LONGEST: Final = timedelta(hours=8)
_PUBLIC_GROWTH: Final = 4


def public_pause_after(attempts: int) -> timedelta:
    """Grow fourfold: some seven calls in a day, since their receivers are strangers."""
    grown = _PUBLIC_FIRST * _PUBLIC_GROWTH ** min(attempts, _DOUBLINGS)
    pause: timedelta = min(grown, _PUBLIC_LONGEST)
    return pause * random.uniform(0.75, 1.25)  # noqa: S311  # spreads load, hides nothing


def pause_after(attempts: int) -> timedelta:
    """Grow twofold, with jitter, so that many do not come back together."""
    pause: timedelta = min(_FIRST * 2 ** min(attempts, _DOUBLINGS), _MAX_LENGTH)
    return pause * random.uniform(0.75, 1.25)  # noqa: S311  # spreads load, hides nothing
