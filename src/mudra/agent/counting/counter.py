"""The counter: turns events into open windows, and due windows into blocks to send.

Pure: the same events and moments always give the same counts, so replaying the
journal after a crash ends exactly where the crash began.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

import msgspec

from mudra.agent.counting.event import NO_STATUS, Began, Call, Ended, Event, Notice
from mudra.agent.counting.fi_session_tracker import Sessions, TrackerState, intermediate
from mudra.agent.counting.tally import Tally
from mudra.agent.counting.window import Windows, WindowState, WindowTally
from mudra.agent.host.clock import SECOND
from mudra.metrics.payload.catalogue import NotificationType, RequestType

ANSWER_WITHIN: Final = 30 * SECOND
"""network-facts: an answer later than this counts as a timeout."""
MAX_PENDING: Final = 100_000
MAX_RECENT: Final = 20_000

_OK: Final = 200
_FI_REQUEST: Final = RequestType.FI_REQUEST.value
_FI_FETCH: Final = RequestType.FI_FETCH.value
_FI_NOTICE: Final = NotificationType.FI.value

CallKey = tuple[bool, str]
"""Direction and the key that joins the halves."""


@dataclass(slots=True)
class CounterMetrics:
    """What was heard and could not be counted as it should."""

    events: int = 0
    late: int = 0
    """Came for a window that is closed."""
    late_answers: int = 0
    """Came more than 30 s after their call: counted as no answer."""
    unmatched: int = 0
    """Answers to calls that were never announced."""
    repeated: int = 0
    """Calls announced more than once."""
    unread_notices: int = 0
    """FI notifications without session or statuses: nobody can say which is the last."""
    over_limit: int = 0
    """Beyond the number of FIPs or of calls under way that memory is kept for."""


class CounterState(msgspec.Struct, array_like=True, frozen=True):
    """The counter as it is kept in a snapshot."""

    windows: list[WindowState]
    pending: list[Began]
    recent: list[CallKey]
    sessions: TrackerState


@dataclass(slots=True)
class Counter:
    """Everything that is being counted at this moment."""

    windows: Windows
    sessions: Sessions
    figures: CounterMetrics = field(default_factory=CounterMetrics)
    _pending: dict[CallKey, Began] = field(default_factory=dict)
    _recent: dict[CallKey, None] = field(default_factory=dict)

    @property
    def under_way(self) -> int:
        """Calls that have no answer yet."""
        return len(self._pending)

    def apply(self, events: Iterable[Event]) -> None:
        """Count these events."""
        for event in events:
            self.figures.events += 1
            if type(event) is Ended:
                self._ended(event)
            elif type(event) is Began:
                self._began(event)
            elif type(event) is Call:
                self._call(event)

    def expire(self, mono: int) -> None:
        """Give up waiting for answers that are overdue, and for sessions that never end."""
        for key in list(self._pending):
            began = self._pending[key]
            if mono - began.mono <= ANSWER_WITHIN:
                break  # in the order of their beginning
            self._give_up(key)
        self.sessions.expire(mono)

    def close(self, start: int) -> WindowTally:
        """The finished counts of a due window, which is shut with this."""
        self.sessions.settle(start, self._block_at)
        tally = self.windows.open.get(start) or WindowTally()
        self.windows.shut(start)
        return tally

    def _began(self, event: Began) -> None:
        key = (event.inward, event.key)
        if key in self._pending or key in self._recent:
            self.figures.repeated += 1
            return
        if event.code != _FI_NOTICE or not event.inward:
            tally = self._block(event.wall, event.fip, event.code, inward=event.inward)
            if tally is None:
                return
            tally.began()
        elif event.notice is None:
            self.figures.unread_notices += 1
            return
        if len(self._pending) >= MAX_PENDING:
            self.figures.over_limit += 1
            self._give_up(next(iter(self._pending)))
        self._pending[key] = event

    def _ended(self, event: Ended) -> None:
        key = (event.inward, event.key)
        began = self._pending.get(key)
        if began is None:
            if key not in self._recent:
                self.figures.unmatched += 1
            return
        took = event.mono - began.mono
        if took > ANSWER_WITHIN:
            self.figures.late_answers += 1
            self._give_up(key)
            return
        del self._pending[key]
        self._remember(key)
        self._finish(
            Call(
                began.inward, began.fip, began.code, began.wall, began.mono, took,
                event.status, event.size, event.session, began.notice,
            )
        )  # fmt: skip  # the members in their order

    def _call(self, event: Call) -> None:
        if event.took > ANSWER_WITHIN:
            self.figures.late_answers += 1
            event = msgspec.structs.replace(event, status=NO_STATUS, took=ANSWER_WITHIN)
        if not (event.inward and event.code == _FI_NOTICE):
            tally = self._block(event.wall, event.fip, event.code, inward=event.inward)
            if tally is None:
                return
            tally.began()
        elif event.notice is None:
            self.figures.unread_notices += 1
            return
        self._finish(event)

    def _finish(self, call: Call) -> None:
        """Count how a call ended; that it began is counted already."""
        if call.inward and call.code == _FI_NOTICE:
            if call.notice is not None:
                self._notice(call, call.notice)
            return
        if call.status == NO_STATUS:
            return
        tally = self._block(call.wall, call.fip, call.code, inward=call.inward)
        if tally is None:
            return
        tally.answered(call.status, call.took, timed=not call.inward)
        if call.status != _OK or call.inward:
            return
        if call.code == _FI_FETCH:
            tally.size += call.size
        elif call.code == _FI_REQUEST and call.session:
            self.sessions.requested(call.fip, call.session, call.mono + call.took)

    def _notice(self, call: Call, notice: Notice) -> None:
        window = self.windows.of(call.wall)
        if window is None:
            self.figures.late += 1
            return
        if self.sessions.noticed(call.fip, notice, call):
            tally = window.block(call.fip, _FI_NOTICE, inward=True)
            if tally is not None:
                intermediate(tally)

    def _give_up(self, key: CallKey) -> None:
        began = self._pending.pop(key)
        self._remember(key)
        if began.notice is not None:
            self._finish(
                Call(
                    began.inward, began.fip, began.code, began.wall, began.mono, ANSWER_WITHIN,
                    NO_STATUS, notice=began.notice,
                )
            )  # fmt: skip  # the members in their order

    def _remember(self, key: CallKey) -> None:
        self._recent[key] = None
        if len(self._recent) > MAX_RECENT:
            del self._recent[next(iter(self._recent))]

    def _block(self, wall: int, fip: str, code: str, *, inward: bool) -> Tally | None:
        window = self.windows.of(wall)
        if window is None:
            self.figures.late += 1
            return None
        tally = window.block(fip, code, inward=inward)
        if tally is None:
            self.figures.over_limit += 1
        return tally

    def _block_at(self, start: int, fip: str, code: str, inward: bool) -> Tally | None:
        return self._block(start, fip, code, inward=inward)

    def state(self) -> CounterState:
        """What a snapshot keeps."""
        return CounterState(
            self.windows.state(),
            list(self._pending.values()),
            list(self._recent),
            self.sessions.state(),
        )

    def restore(self, state: CounterState, shift: int) -> None:
        """Take over from a snapshot, monotonic times moved by `shift` milliseconds."""
        self.windows.restore(state.windows)
        for began in state.pending:
            moved = msgspec.structs.replace(began, mono=began.mono + shift)
            self._pending[moved.inward, moved.key] = moved
        self._recent = dict.fromkeys(state.recent)
        self.sessions.restore(state.sessions, shift)
