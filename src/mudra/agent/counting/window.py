"""The ten-minute windows that are open, and the list of those that are closed.

A window closes 30 s after its end, when every call that started in it has its answer or has
none (later than 30 s is a timeout); `window_holds.py` says which windows wait longer. What comes
for a closed window opens it again while its counts are kept, and it closes with a higher revision,
which replaces what was reported. Only a call without an answer, which is reported
once it is over, counts in the next window (decision 0020).
"""

from collections.abc import Iterable
from typing import Final

import msgspec

from mudra.agent.clock import SECOND
from mudra.agent.counting.event import MAX_AGE
from mudra.agent.counting.tally import Tally, TallyState
from mudra.metrics.payload.catalogue import WINDOW_SECONDS, NotificationType

WINDOW: Final = WINDOW_SECONDS * SECOND
CLOSE_DELAY: Final = 30 * SECOND
MAX_FIPS: Final = 5_000
"""A window with more FIPs than the network can have is an error at its source, not traffic."""
MAX_CLOSED: Final = 2 * MAX_AGE // WINDOW
"""So many closed windows are remembered: of 14 days, twice as long as events are reported."""

_FI_NOTIFICATION: Final = NotificationType.FI.value

BlockKey = tuple[str, str]
"""FIP and type code."""


class WindowState(msgspec.Struct, array_like=True, frozen=True):
    """A window as stored in a snapshot."""

    start: int
    requests: list[tuple[str, str, TallyState]]
    notifications: list[tuple[str, str, TallyState]]
    revision: int = 0


class WindowTally:
    """All counts of one window."""

    __slots__ = ("fips", "notifications", "requests", "revision", "touched")

    def __init__(self, revision: int = 0) -> None:
        self.revision = revision
        """How often it was closed before."""
        self.requests: dict[BlockKey, Tally] = {}
        self.notifications: dict[BlockKey, Tally] = {}
        self.fips: set[str] = set()
        self.touched = {False, True}
        """The directions of which something is to be reported: inbound or not."""

    @property
    def size(self) -> int:
        """Number of blocks, which is what a window takes of the memory."""
        return len(self.requests) + len(self.notifications)

    def block(self, fip: str, code: str, *, inbound: bool) -> Tally | None:
        """Return the tally to count into; None beyond `MAX_FIPS`."""
        blocks = self.notifications if inbound else self.requests
        self.touched.add(inbound)
        found = blocks.get((fip, code))
        if found is None:
            if fip not in self.fips:
                if len(self.fips) >= MAX_FIPS:
                    return None
                self.fips.add(fip)
            found = blocks[fip, code] = Tally(statuses=inbound and code == _FI_NOTIFICATION)
        return found

    def state(self, start: int) -> WindowState:
        """Return what is stored of it."""
        return WindowState(
            start,
            [(*key, tally.state()) for key, tally in self.requests.items()],
            [(*key, tally.state()) for key, tally in self.notifications.items()],
            self.revision,
        )

    @classmethod
    def restored(cls, state: WindowState) -> "WindowTally":
        """Restore a window from what was stored."""
        window = cls(state.revision)
        window.requests = {(f, c): Tally.restored(tally) for f, c, tally in state.requests}
        window.notifications = {
            (f, c): Tally.restored(tally) for f, c, tally in state.notifications
        }
        window.fips = {fip for fip, _ in (*window.requests, *window.notifications)}
        return window


class Windows:
    """Open windows by their start, and the starts of the closed ones."""

    def __init__(self, closed: Iterable[int] = ()) -> None:
        self.open: dict[int, WindowTally] = {}
        self.closed = set(closed)
        self.kept: dict[int, WindowState] = {}
        """Counts of closed windows for which events may come, read from the disk."""
        self.reopened = 0

    def at(self, wall: int) -> WindowTally | None:
        """Return the window of this time, opened if it is new; None when it is closed already."""
        start = wall - wall % WINDOW
        found = self.open.get(start)
        if found is None:
            found = self._reopened(start) if start in self.closed else WindowTally()
            if found is not None:
                self.open[start] = found
        return found

    def _reopened(self, start: int) -> WindowTally | None:
        """Return a closed window as it was, with its next revision; None when it is not kept."""
        state = self.kept.pop(start, None)
        if state is None:
            return None
        self.closed.discard(start)
        self.reopened += 1
        window = WindowTally.restored(state)
        window.revision += 1
        window.touched.clear()
        return window

    def may_reopen(self, wall: int) -> bool:
        """Return whether the window of this time is closed, and can be opened again."""
        return wall - wall % WINDOW in self.kept

    def is_closed(self, wall: int) -> bool:
        """Return whether the window of this time is closed."""
        return wall - wall % WINDOW in self.closed

    def due(self, now: int) -> list[int]:
        """Return the windows that may be closed at this time, oldest first."""
        return sorted(start for start in self.open if start + WINDOW + CLOSE_DELAY <= now)

    def close(self, start: int) -> None:
        """Close this window for good."""
        self.open.pop(start, None)
        self.closed.add(start)

    def forget_old(self, now: int) -> None:
        """Forget the oldest closed windows beyond `MAX_CLOSED`, future ones not counted.

        By number and not by age: a window that closed under a clock that was ahead says nothing
        about the age of the others.
        """
        if len(self.closed) > MAX_CLOSED:
            past = sorted(start for start in self.closed if start <= now)[-MAX_CLOSED:]
            self.closed = {start for start in self.closed if start >= (past or [0])[0]}

    def state(self) -> list[WindowState]:
        """Return what a snapshot stores."""
        return [window.state(start) for start, window in self.open.items()]

    def restore(self, states: Iterable[WindowState]) -> None:
        """Restore the open windows from a snapshot."""
        for state in states:
            self.open[state.start] = WindowTally.restored(state)
            self.closed.discard(state.start)
