"""Turns events into open windows, and due windows into counts to send.

Pure: the same events and times always give the same counts, so replaying the
journal after a crash ends exactly where the crash began.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

import msgspec

from mudra.agent.clock import SECOND
from mudra.agent.counting.event import NO_STATUS, Call, CallEnded, CallStarted, Event, Notification
from mudra.agent.counting.fi_session_tracker import (
    FiSessionTracker,
    TrackerState,
    count_intermediate,
)
from mudra.agent.counting.tally import Tally
from mudra.agent.counting.window import WINDOW, Windows, WindowState, WindowTally
from mudra.metrics.payload.catalogue import NotificationType, RequestType

ANSWER_WITHIN: Final = 30 * SECOND
"""A later answer counts as a timeout, as in the network's agent of today."""
MAX_PENDING: Final = 100_000
MAX_RECENT: Final = 50_000
"""More calls than fit into the largest request, so that all of one that is repeated are known."""

_OK: Final = 200
_FI_REQUEST: Final = RequestType.FI_REQUEST.value
_FI_FETCH: Final = RequestType.FI_FETCH.value
_FI_NOTIFICATION: Final = NotificationType.FI.value

CallKey = tuple[bool, str]
"""Direction and the key that joins the halves of a call."""


@dataclass(slots=True)
class CounterMetrics:
    """Counts of events that came and could not be counted as they should."""

    events: int = 0
    late: int = 0
    """Came for a window that is closed."""
    late_answers: int = 0
    """Came more than 30 s after their call: counted as no answer."""
    unmatched: int = 0
    """Answers to calls that were not reported at their start."""
    repeated: int = 0
    """Calls that were reported more than once."""
    unread_notifications: int = 0
    """FI notifications without session or statuses: which is the last cannot be known."""
    over_limit: int = 0
    """Beyond the number of FIPs or of open calls that memory is kept for."""


class CounterState(msgspec.Struct, array_like=True, frozen=True):
    """The counter as stored in a snapshot."""

    windows: list[WindowState]
    pending: list[CallStarted]
    recent: list[CallKey]
    sessions: TrackerState
    uncounted: list[CallKey] = []


@dataclass(slots=True)
class Counter:
    """Everything that is being counted."""

    windows: Windows
    sessions: FiSessionTracker
    metrics: CounterMetrics = field(default_factory=CounterMetrics)
    _pending: dict[CallKey, tuple[CallStarted, int]] = field(default_factory=dict)
    """Calls without an answer yet, and when each was reported, in the order of that."""
    _recent: dict[CallKey, None] = field(default_factory=dict)
    """Calls that ended lately, so that repetitions are recognized."""
    _uncounted: set[CallKey] = field(default_factory=set)
    """Those of `_pending` that were reported after their window closed: their end says whether
    they are late or had no answer (decision 0020)."""

    @property
    def pending(self) -> int:
        """Number of calls that have no answer yet."""
        return len(self._pending)

    def apply(self, events: Iterable[Event], mono: int | None = None) -> None:
        """Count these events, which came at this monotonic time; None: each when it was."""
        for event in events:
            self.metrics.events += 1
            if type(event) is CallEnded:
                self._call_ended(event)
            elif type(event) is CallStarted:
                self._call_started(event, event.mono if mono is None else mono)
            elif type(event) is Call and not self._is_repeated(event):
                self._call(event)

    def expire(self, mono: int) -> None:
        """Give up calls with an overdue answer, and sessions that never end.

        A call of an hour ago that was reported just now is not overdue: its answer
        may come in the next batch of its source.
        """
        for key in list(self._pending):
            if mono - self._pending[key][1] <= ANSWER_WITHIN:
                break  # in the order in which they were reported
            self._give_up(key)
        self.sessions.expire(mono)

    def close(self, start: int) -> WindowTally:
        """Close a due window and return its counts."""
        self.sessions.close_window(start, self._tally_at)
        tally = self.windows.open.get(start) or WindowTally()
        self.windows.close(start)
        return tally

    def _call_started(self, event: CallStarted, reported: int) -> None:
        key = (event.inbound, event.key)
        if key in self._pending or key in self._recent:
            self.metrics.repeated += 1
            return
        if self._may_be_unanswered(event, reported):
            self._uncounted.add(key)
        elif event.code != _FI_NOTIFICATION or not event.inbound:
            tally = self._tally(event.wall, event.fip, event.code, inbound=event.inbound)
            if tally is None:
                return
            tally.started()
        elif event.notification is None:
            self.metrics.unread_notifications += 1
            return
        if len(self._pending) >= MAX_PENDING:
            self.metrics.over_limit += 1
            self._give_up(next(iter(self._pending)))
        self._pending[key] = event, reported

    def _call_ended(self, event: CallEnded) -> None:
        key = self._key_of(event)
        pending = self._pending.get(key)
        if pending is None:
            if key not in self._recent:
                self.metrics.unmatched += 1
            return
        started, _ = pending
        duration = event.mono - started.mono
        unanswered, uncounted = duration > ANSWER_WITHIN, key in self._uncounted
        is_replaced = uncounted and self.windows.may_reopen(started.wall)
        if unanswered != uncounted and not is_replaced:  # the answer or the call comes too late
            self.metrics.late_answers += unanswered
            self._give_up(key)
            return
        del self._pending[key]
        self._uncounted.discard(key)
        self._remember(key)
        call = Call(
            started.inbound, started.fip, started.code, started.wall, started.mono, duration,
            event.status, event.size, event.session, started.notification,
        )  # fmt: skip  # the fields in their order
        if uncounted:
            self._call(call)
        else:
            self._finish(call)

    def _may_be_unanswered(self, event: CallStarted, reported: int) -> bool:
        """Return whether this may be a call without an answer that is reported once it is over."""
        return (
            reported - event.mono > ANSWER_WITHIN
            and self.windows.is_closed(event.wall)
            and not self.windows.is_closed(event.wall + WINDOW)
        )

    def _key_of(self, event: CallEnded) -> CallKey:
        """Return the key of its call: a key that ends with a space is the start of one."""
        if event.key.endswith(" "):
            for inbound, key in self._pending:
                if inbound == event.inbound and key.startswith(event.key):
                    return inbound, key
        return event.inbound, event.key

    def _is_repeated(self, event: Call) -> bool:
        """Return whether this call was reported before; from now on it was."""
        if not event.key:
            return False
        key = (event.inbound, event.key)
        if key in self._recent:
            self.metrics.repeated += 1
            return True
        self._remember(key)
        return False

    def _call(self, event: Call) -> None:
        if event.duration > ANSWER_WITHIN:
            self.metrics.late_answers += 1
            wall = self._counted_at(event)
            event = msgspec.structs.replace(
                event, wall=wall, status=NO_STATUS, duration=ANSWER_WITHIN
            )
        if not (event.inbound and event.code == _FI_NOTIFICATION):
            tally = self._tally(event.wall, event.fip, event.code, inbound=event.inbound)
            if tally is None:
                return
            tally.started()
        elif event.notification is None:
            self.metrics.unread_notifications += 1
            return
        self._finish(event)

    def _counted_at(self, event: Call) -> int:
        """Return when to count a call without an answer in time (decision 0020).

        It is reported once it is over, which may be after the window of its start closed: then it
        counts in the next one, if it ended there.
        """
        if self.windows.is_closed(event.wall):
            return event.wall + min(event.duration, WINDOW)
        return event.wall

    def _finish(self, call: Call) -> None:
        """Count how a call ended; its start is counted already."""
        if call.inbound and call.code == _FI_NOTIFICATION:
            if call.notification is not None:
                self._notification(call, call.notification)
            return
        if call.status == NO_STATUS:
            return
        tally = self._tally(call.wall, call.fip, call.code, inbound=call.inbound)
        if tally is None:
            return
        tally.answered(call.status, call.duration, timed=not call.inbound)
        if call.status != _OK or call.inbound:
            return
        if call.code == _FI_FETCH:
            tally.size += call.size
        elif call.code == _FI_REQUEST and call.session:
            self.sessions.request_accepted(call.fip, call.session, call.mono + call.duration)

    def _notification(self, call: Call, notification: Notification) -> None:
        window = self.windows.at(call.wall)
        if window is None:
            self.metrics.late += 1
            return
        if self.sessions.notification_received(call.fip, notification, call):
            tally = window.block(call.fip, _FI_NOTIFICATION, inbound=True)
            if tally is not None:
                count_intermediate(tally)

    def _give_up(self, key: CallKey) -> None:
        started, _ = self._pending.pop(key)
        self._remember(key)
        if key in self._uncounted:
            self._uncounted.discard(key)
            tally = self._tally(started.wall, started.fip, started.code, inbound=started.inbound)
            if tally is not None and started.notification is None:
                tally.started()
        elif started.notification is not None:
            self._finish(
                Call(
                    started.inbound, started.fip, started.code, started.wall, started.mono,
                    ANSWER_WITHIN, NO_STATUS, notification=started.notification,
                )
            )  # fmt: skip  # the fields in their order

    def _remember(self, key: CallKey) -> None:
        self._recent[key] = None
        if len(self._recent) > MAX_RECENT:
            del self._recent[next(iter(self._recent))]

    def _tally(self, wall: int, fip: str, code: str, *, inbound: bool) -> Tally | None:
        window = self.windows.at(wall)
        if window is None:
            self.metrics.late += 1
            return None
        tally = window.block(fip, code, inbound=inbound)
        if tally is None:
            self.metrics.over_limit += 1
        return tally

    def _tally_at(self, start: int, fip: str, code: str, inbound: bool) -> Tally | None:
        return self._tally(start, fip, code, inbound=inbound)

    def state(self) -> CounterState:
        """Return what a snapshot stores."""
        return CounterState(
            self.windows.state(),
            [started for started, _ in self._pending.values()],
            list(self._recent),
            self.sessions.state(),
            list(self._uncounted),
        )

    def restore(self, state: CounterState, shift: int, mono: int | None = None) -> None:
        """Restore a snapshot, monotonic times moved by `shift` milliseconds.

        Its calls count as reported at `mono`; None: each when it was.
        """
        self.windows.restore(state.windows)
        for started in state.pending:
            moved = msgspec.structs.replace(started, mono=started.mono + shift)
            reported = moved.mono if mono is None else mono
            self._pending[moved.inbound, moved.key] = moved, reported
        self._recent = dict.fromkeys(state.recent)
        self._uncounted = set(state.uncounted)
        self.sessions.restore(state.sessions, shift)
