"""The type of a clock, for everything that is given one, and how wrong a node's may be."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Final

Clock = Callable[[], datetime]
"""Returns the current time as an aware datetime in UTC."""

CLOCK_TOLERANCE: Final = timedelta(seconds=30)
"""A node whose clock is further than this from the database's does not answer."""
