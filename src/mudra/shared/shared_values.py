"""What many ask for at the same moment is made once, and again when what it is made of changes."""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable
from contextlib import nullcontext
from typing import Final, TypeVar, cast

from msgspec import Struct

from mudra.shared.shared_read import SharedRead, is_gone

MAX_LARGE: Final = 6
"""Of the large ones, which are megabytes: an AA's calls to 2,000 FIPs are 28,000 rows."""
MAX_SMALL: Final = 60
"""Of the others: a page that compares an AA with others asks for ten FIPs."""
TTL_S: Final = 600.0
"""A window: what is asked for after it is of later ones."""
IDLE_S: Final = 120.0
"""What no one asked for in this time is dropped: pages that are open ask once a minute."""
T = TypeVar("T")


class _Value(Struct, frozen=True):
    made_of: object
    value: object
    until: float


class _Place:
    """One question, with its latest value."""

    def __init__(self, is_of_all: Callable[[Exception], bool], *, large: bool) -> None:
        self.reading = SharedRead(is_of_all)
        self.large = large
        self.found: _Value | None = None
        self.asked_at = 0.0

    def is_old(self, now: float) -> bool:
        """Returns whether its value is given to no one any more, or was asked for by no one."""
        if self.reading.is_busy:
            return False
        return self.asked_at + IDLE_S <= now or (self.found is not None and self.found.until <= now)


class SharedValues:
    """The values of the latest questions.

    Each names what it is made of, and is given to those alone for whom that is the same. No reader
    is part of a question: what depends on who asks is none of these.
    """

    def __init__(
        self,
        monotonic: Callable[[], float],
        is_of_all: Callable[[Exception], bool] = is_gone,
        max_small: int = MAX_SMALL,
    ) -> None:
        """`is_of_all` says of a failure whether those who wait fail with it."""
        self._max_small = max_small
        self._monotonic = monotonic
        self._is_of_all = is_of_all
        self._places: OrderedDict[Hashable, _Place] = OrderedDict()
        self._large = asyncio.Lock()

    async def get(
        self,
        question: Hashable,
        made_of: object,
        make: Callable[[], Awaitable[T]],
        *,
        large: bool = False,
    ) -> T:
        """Returns the value of a question, if it is not there already by `make`.

        Who asks the same meanwhile waits for it, and fails with it when a database is gone. When
        the time of who makes it is over, the next of them makes it in their own. Of `large` values
        one is made at a time: several at once would share one processor, and hold at the same time
        what each is made from.
        """
        self._drop_old()
        place = self._place(question, large=large)
        async with place.reading.turn():
            found = place.found
            if found is None or found.until <= self._monotonic() or found.made_of != made_of:
                place.found = None
                async with self._large if large else nullcontext():
                    value = await make()
                place.found = found = _Value(made_of, value, self._monotonic() + TTL_S)
            return cast("T", found.value)

    def _drop_old(self) -> None:
        """Drop what is old: most questions are of a time, and no one asks for them after it."""
        now = self._monotonic()
        old = [one for one, place in self._places.items() if place.is_old(now)]
        for question in old:
            del self._places[question]

    def _place(self, question: Hashable, *, large: bool) -> _Place:
        place = self._places.setdefault(question, _Place(self._is_of_all, large=large))
        place.asked_at = self._monotonic()
        self._places.move_to_end(question)
        # What is being made stays: who asks for it next would have it made once more.
        alike = {one: of for one, of in self._places.items() if of.large == large}
        free = [one for one, of in alike.items() if not of.reading.is_busy]
        most = MAX_LARGE if large else self._max_small
        for old in free[: max(0, len(alike) - most)]:
            if old != question:
                del self._places[old]
        return place
