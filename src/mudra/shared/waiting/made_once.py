"""Values that many ask for at once: one computation for all, again when its inputs change."""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable
from contextlib import nullcontext
from math import inf
from typing import Final, TypeVar, cast

from msgspec import Struct

from mudra.shared.unavailable import ServiceUnavailable

MAX_LARGE: Final = 3
"""Of the large ones: an AA's calls to 2,000 FIPs are 28,000 rows, which take 19 MB."""
MAX_SMALL: Final = 60
"""Of the others: a page that compares an AA with others asks for ten FIPs."""
TTL_S: Final = 600.0
"""A window: what is asked for after it is of later ones."""
IDLE_S: Final = 120.0
"""A value that no one asked for in this time is dropped: open pages ask once a minute."""
_LOOK_S: Final = 1.0
T = TypeVar("T")


def _is_unavailable(failure: Exception) -> bool:
    return isinstance(failure, ServiceUnavailable)


class _Value(Struct, frozen=True):
    made_of: object
    value: object
    until: float


class _Place:
    """One question, with its latest value and the turn to make it."""

    def __init__(self, *, large: bool) -> None:
        self.making = asyncio.Lock()
        self.large = large
        self.found: _Value | None = None
        self.asked_at = 0.0
        self.failures = 0
        self.failure: Exception | None = None

    def until(self, idle_s: float) -> float:
        """Returns when its value is given to no one any more, or was asked for by no one."""
        if self.making.locked():
            return inf
        idle_at = self.asked_at + idle_s
        return idle_at if self.found is None else min(idle_at, self.found.until)


class MadeOnce:
    """The values of the latest questions, each with the inputs that it was made of.

    A value is given only to callers that name the same inputs. No reader is part of a question:
    what depends on who asks is made after it. An old value is dropped also when nothing is asked
    for any more.
    """

    def __init__(
        self,
        monotonic: Callable[[], float],
        *,
        max_small: int = MAX_SMALL,
        lives_s: Callable[[float], float] = lambda _: TTL_S,
        idle_s: float = IDLE_S,
        is_of_all: Callable[[Exception], bool] = _is_unavailable,
    ) -> None:
        """`lives_s` returns how long a value lives, by the seconds that it took to make.

        `is_of_all` returns whether callers that wait for a computation fail with it.
        """
        self._monotonic = monotonic
        self._max_small = max_small
        self._lives_s = lives_s
        self._idle_s = idle_s
        self._is_of_all = is_of_all
        self._places: OrderedDict[Hashable, _Place] = OrderedDict()
        self._large = asyncio.Lock()
        self._look: asyncio.TimerHandle | None = None

    async def get(
        self,
        question: Hashable,
        made_of: object,
        make: Callable[[], Awaitable[T]],
        *,
        large: bool = False,
    ) -> T:
        """Returns the value of a question, by `make` where none of the same inputs is there.

        `made_of` is compared by `==`. Concurrent callers wait for one computation, in the task of
        the first. They fail with it if it fails as it would for all: one after the other, each
        would wait its own time for a database that is gone. After any other failure,
        or when the first is cancelled, the next one makes the value in its own task and time. Of
        `large` values one is made at a time: several at once would share one processor, and hold
        at the same time what each is made from.
        """
        self._drop_old()
        place = self._place(question, large=large)
        failures = place.failures
        async with place.making:
            if place.failure is not None and failures != place.failures:
                raise place.failure.with_traceback(None)
            found = place.found
            if found is None or found.until <= self._monotonic() or found.made_of != made_of:
                place.found = None
                place.found = found = await self._made(place, made_of, make)
            # Callers come in order: all that waited for the failed one have had their turn. A kept
            # failure holds the frames of its traceback, with all that was read.
            place.failure = None
        self._look_later()
        return cast("T", found.value)

    async def _made(
        self, place: _Place, made_of: object, make: Callable[[], Awaitable[object]]
    ) -> _Value:
        try:
            async with self._large if place.large else nullcontext():
                began = self._monotonic()
                value = await make()
        except Exception as failure:
            if self._is_of_all(failure):
                place.failures += 1
                place.failure = failure
            raise
        ended = self._monotonic()
        return _Value(made_of, value, ended + self._lives_s(ended - began))

    def _drop_old(self) -> None:
        """Drop what is old: most questions are of a time, and no one asks for them after it."""
        now = self._monotonic()
        old = [one for one, place in self._places.items() if place.until(self._idle_s) <= now]
        for question in old:
            del self._places[question]

    def _look_later(self) -> None:
        """Look again when the first value is old, unless that is waited for."""
        first = min((place.until(self._idle_s) for place in self._places.values()), default=inf)
        if self._look is None and first < inf:
            wait_s = max(_LOOK_S, first - self._monotonic())
            self._look = asyncio.get_running_loop().call_later(wait_s, self._looked)

    def _looked(self) -> None:
        self._look = None
        self._drop_old()
        self._look_later()

    def _place(self, question: Hashable, *, large: bool) -> _Place:
        place = self._places.setdefault(question, _Place(large=large))
        place.asked_at = self._monotonic()
        self._places.move_to_end(question)
        # A value that is being made stays: the next caller would have it made once more.
        alike = {one: of for one, of in self._places.items() if of.large == large}
        free = [one for one, of in alike.items() if not of.making.locked()]
        most = MAX_LARGE if large else self._max_small
        for old in free[: max(0, len(alike) - most)]:
            if old != question:
                del self._places[old]
        return place
