"""A cache of what this node read from the database, used as long as it is proven valid.

Each cache of a node is one of these; `cache_invalidation.py` says what is valid (decision 0003).
"""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from math import inf
from time import monotonic
from typing import Final, Generic, TypeVar

from msgspec import Struct

from mudra.shared.unavailable import ServiceUnavailable
from mudra.storage.caching.cache_invalidation import CacheInvalidation

V = TypeVar("V")
_UNPROVEN: Final = -1


class Known(Struct, Generic[V], frozen=True):
    """A value in memory, and when its read began."""

    value: V
    read_at: float
    doubts: int
    """How often changes may have been missed before it was read; it counts while that is so."""


class NodeCache(Generic[V]):
    """Values by key, read when they are asked for and their memory is not valid.

    `watched` are the beginnings of the announced keys. The value of a key is dropped when its
    change is announced; the value of the empty key is of all that is watched, and is dropped at
    each announcement. At most `most` values are kept.

    Callers that arrive while a read is in progress share the next one, of at most `at_once` keys:
    a cache that is invalid for a moment would otherwise open a transaction for each. A read runs
    in a task of its own, so a caller that goes away does not end it for the others.
    """

    def __init__(
        self,
        invalidation: CacheInvalidation,
        watched: tuple[str, ...],
        read: Callable[[Sequence[str]], Awaitable[Mapping[str, V]]],
        *,
        most: int = 1,
        at_once: int = 1,
        lives_s: float = inf,
        without_database: bool = False,
    ) -> None:
        """`read` returns a value for each key; what it raises is raised in all that wait for it.

        A value is read again after `lives_s` seconds. With `without_database` it is also used
        while there is no database, for as long as the invalidation permits that for tokens.
        """
        self._invalidation = invalidation
        self._watched = watched
        self._prefix = watched[0]
        self._read = read
        self._most = most
        self._at_once = at_once
        self._lives_s = lives_s
        self._without_database = without_database
        self._known: OrderedDict[str, Known[V]] = OrderedDict()
        self._doubts = 0
        self._wanted: dict[str, asyncio.Future[V]] = {}
        self._reading: asyncio.Task[None] | None = None
        invalidation.on_change(self._forget)

    def __len__(self) -> int:
        """Return how many values are kept."""
        return len(self._known)

    def known(self, key: str) -> Known[V] | None:
        """Return the value in memory if it is valid right now."""
        found = self._known.get(key)
        if found is None or found.doubts != self._doubts:
            return None
        if self._is_valid(key):
            return found if monotonic() - found.read_at < self._lives_s else None
        usable = self._without_database and self._invalidation.is_usable_for_tokens(
            self._prefix + key
        )
        return found if usable else None

    def last(self, key: str) -> Known[V] | None:
        """Return the last value that was read, if no change of it was announced since.

        Changes may have been missed.
        """
        return self._known.get(key)

    async def find(self, key: str) -> V:
        """Return the value, with all that was committed before this call."""
        known = self.known(key)
        if known is not None:
            return known.value
        wanted = self._wanted.get(key)
        if wanted is None:
            wanted = self._wanted[key] = asyncio.get_running_loop().create_future()
        if self._reading is None:
            self._reading = asyncio.create_task(self._read_wanted(), name=f"read {self._prefix}")
        # Others may wait for the same result: a caller that gives up must not cancel it for them.
        return await asyncio.shield(wanted)

    def _is_valid(self, key: str) -> bool:
        if key:
            return self._invalidation.is_valid(self._prefix + key)
        return self._invalidation.are_valid(self._watched)

    async def _read_wanted(self) -> None:
        try:
            while self._wanted:
                keys = list(self._wanted)[: self._at_once]
                # A later caller may know of a change that this read does not see.
                batch = {key: self._wanted.pop(key) for key in keys}
                try:
                    found = await self._read_and_keep(keys)
                except Exception as failure:  # noqa: BLE001  # raised in each caller that waits
                    failed = list(batch.values())
                    if isinstance(failure, ServiceUnavailable):
                        # One after the other, each would wait for a database that is gone.
                        failed += self._wanted.values()
                        self._wanted.clear()
                    for future in failed:
                        future.set_exception(failure)
                        future.exception()  # the caller may be gone
                    continue
                for key, future in batch.items():
                    future.set_result(found[key])
        finally:
            self._reading = None

    async def _read_and_keep(self, keys: Sequence[str]) -> Mapping[str, V]:
        generation, began = self._invalidation.generation, monotonic()
        found = await self._read(keys)
        values = {key: found[key] for key in keys}
        # What changed during the read is not cached: it may be the previous state.
        if generation == self._invalidation.generation:
            for key, value in values.items():
                valid = self._is_valid(key)
                # A fenced change may be committed after this read.
                if valid or not self._invalidation.is_fenced(self._prefix + key):
                    self._known[key] = Known(value, began, self._doubts if valid else _UNPROVEN)
                    self._known.move_to_end(key)
            while len(self._known) > self._most:
                self._known.popitem(last=False)
        return values

    def _forget(self, announced: str) -> None:
        if announced == "*":
            self._doubts += 1
            return
        for prefix in self._watched:
            if announced.startswith(prefix):
                self._known.pop(announced.removeprefix(prefix), None)
                self._known.pop("", None)
