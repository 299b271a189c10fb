"""Keeps windows open after their end while events for them still arrive.

After an agent was down, its sources send what they queued: batch after batch, for
windows that ended long ago. Such a window closes once no old event has come for it
for a while, not at the first tick. A start counts as such an event: what a source
queued arrives only after the listeners are bound. The wait is bounded in time and
in memory, so a source that never ends holds nothing for ever.
"""

from collections.abc import Collection, Iterable, Mapping
from typing import Final

from mudra.agent.clock import HOUR, SECOND
from mudra.agent.counting.event import Call, Event
from mudra.agent.counting.window import CLOSE_DELAY, WINDOW, WindowTally

QUIET: Final = 60 * SECOND
"""Longer than the pauses of exporters that retry: the collector's are up to 45 s."""
MAX_HOLD: Final = HOUR
MAX_STARTS: Final = 5
"""After so many starts that a window did not survive, it closes: an agent that ends again and
again reports what it has."""
MAX_HELD_BLOCKS: Final = 50_000
"""Blocks of all held windows together: some 50 MB, about what one full window may have."""


class WindowHolds:
    """The windows for which old events came, and when. All times are monotonic."""

    __slots__ = ("_first", "_last", "starts")

    def __init__(self) -> None:
        self.starts: dict[int, int] = {}
        """How many starts of the agent an ended window has seen; stored."""
        self._first: dict[int, int] = {}
        self._last: dict[int, int] = {}

    def recovered(self, opened: Iterable[int], wall: int, mono: int) -> None:
        """Hold the windows that a start found open: what is queued for them is still to come."""
        for start in opened:
            if start + WINDOW <= wall:
                self.starts[start] = self.starts.get(start, 0) + 1
            if self.starts.get(start, 0) <= MAX_STARTS:
                self._hold(start, mono)

    def arrived(
        self, events: Iterable[Event], opened: Collection[int], wall: int, mono: int
    ) -> None:
        """Hold the open windows of those events that were old when they came."""
        limit = wall - CLOSE_DELAY
        for event in events:
            if event.wall >= limit:
                continue
            # A call that took long is no older than its answer.
            if type(event) is Call and event.wall + event.duration >= limit:
                continue
            start = event.wall - event.wall % WINDOW
            if start in opened:
                self._hold(start, mono)

    def held(self, due: Iterable[int], opened: Mapping[int, WindowTally], mono: int) -> set[int]:
        """Return the due windows that stay open; of too many those with the latest events."""
        waiting = [
            start
            for start in due
            if start in self._last
            and mono - self._last[start] < QUIET
            and mono - self._first[start] < MAX_HOLD
        ]
        waiting.sort(key=lambda start: self._last[start], reverse=True)
        held: set[int] = set()
        blocks = 0
        for start in waiting:
            blocks += opened[start].size
            if held and blocks > MAX_HELD_BLOCKS:
                break
            held.add(start)
        return held

    def release(self, start: int) -> None:
        """Forget a window that was closed."""
        for times in (self.starts, self._first, self._last):
            times.pop(start, None)

    def _hold(self, start: int, mono: int) -> None:
        self._first.setdefault(start, mono)
        self._last[start] = mono
