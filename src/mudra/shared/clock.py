"""The type of a clock, for everything that is given one."""

from collections.abc import Callable
from datetime import datetime

Clock = Callable[[], datetime]
"""Returns the current time as an aware datetime in UTC."""
