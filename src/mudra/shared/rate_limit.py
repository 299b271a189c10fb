"""A limit per key in this process's memory: GCRA, the leaky bucket without a queue.

`burst` uses at once, then one every 1/`per_second` s. Old keys are forgotten.
"""

import math
from collections import OrderedDict
from collections.abc import Callable
from typing import Final

_MAX_KEYS: Final = 100_000


class KeyedRateLimit:
    """Counts uses per key and returns how long the next one must wait."""

    def __init__(self, per_second: float, burst: int, monotonic: Callable[[], float]) -> None:
        self._interval = 1.0 / per_second
        self._tolerance = self._interval * burst
        self._monotonic = monotonic
        self._due: OrderedDict[str, float] = OrderedDict()

    def wait_s(self, key: str) -> int:
        """Count one use and return 0, or the whole seconds until the next is permitted."""
        now = self._monotonic()
        due = max(self._due.get(key, now), now) + self._interval
        if due - now > self._tolerance:
            return max(1, math.ceil(due - now - self._tolerance))
        self._due[key] = due
        self._due.move_to_end(key)
        if len(self._due) > _MAX_KEYS:
            self._due.popitem(last=False)
        return 0

    def is_used_up(self, key: str) -> bool:
        """Return whether the next use would have to wait; counts nothing."""
        now = self._monotonic()
        return max(self._due.get(key, now), now) + self._interval - now > self._tolerance

    def __len__(self) -> int:
        """Return how many keys are remembered."""
        return len(self._due)
