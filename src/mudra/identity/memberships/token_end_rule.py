"""When the tokens of an entity end with its status, and when new ones are valid."""

from datetime import datetime, timedelta
from typing import Final

CLOCK_TOLERANCE: Final = timedelta(seconds=30)
"""Nodes' clocks differ by less than this from the database's, or they take themselves out."""


def ends_tokens_until(suspended_at: datetime) -> datetime:
    """Return before which time tokens of an entity end that is suspended or retired now.

    A node whose clock is ahead may have issued one "later" than the suspension.
    """
    return suspended_at + CLOCK_TOLERANCE


def accepts_tokens_from(restored_at: datetime) -> datetime:
    """Return since when tokens are valid again of an entity that is restored now.

    Earlier by the tolerance, so that no token is refused that a node whose clock is behind issues
    next. A suspension that is undone at once therefore leaves the latest tokens valid.
    """
    return restored_at - CLOCK_TOLERANCE
