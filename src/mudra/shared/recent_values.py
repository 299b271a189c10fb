"""The last values that were asked for, by what they are made of."""

from collections import OrderedDict
from collections.abc import Hashable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class RecentValues(Generic[K, V]):
    """Keeps so many values. A key names all that its value is made of, so that none gets old."""

    def __init__(self, number: int) -> None:
        self._number = number
        self._values: OrderedDict[K, V] = OrderedDict()

    def get(self, key: K) -> V | None:
        """Returns the value, or None where it is not kept."""
        if key not in self._values:
            return None
        self._values.move_to_end(key)
        return self._values[key]

    def put(self, key: K, value: V) -> None:
        """Keeps a value, in place of the one that was not asked for longest."""
        self._values[key] = value
        self._values.move_to_end(key)
        while len(self._values) > self._number:
            self._values.popitem(last=False)
