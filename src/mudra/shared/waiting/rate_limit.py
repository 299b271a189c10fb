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
        wait_s = self.next_wait_s(key)
        if not wait_s:
            self.count(key)
        return wait_s

    def next_wait_s(self, key: str) -> int:
        """Return what `wait_s` would, and count nothing."""
        now = self._monotonic()
        late = self._due_after(key, now) - now - self._tolerance
        return max(1, math.ceil(late)) if late > 0 else 0

    def count(self, key: str) -> None:
        """Count one use, also one that is not permitted: the next ones wait the longer for it."""
        self._due[key] = self._due_after(key, self._monotonic())
        self._due.move_to_end(key)
        if len(self._due) > _MAX_KEYS:
            self._due.popitem(last=False)

    def _due_after(self, key: str, now: float) -> float:
        return max(self._due.get(key, now), now) + self._interval

    def __len__(self) -> int:
        """Return how many keys are remembered."""
        return len(self._due)
