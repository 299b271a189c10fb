"""Follows each FI request by its session ID to the notifications that decide it.

Spec 2.6: only the last /FI/Notification in which every FIStatus is terminal is
counted; others are position 7. Notifications come out of order and more than
once, so the last one is known only when its window closes, and
is counted then. Whatever the AA answered, it counts in the status array and for the
times of 2.5; only `failRecdCnt` leaves out those that the AA refused (4xx, 5xx).

Spec 2.5: `sfireqnot` is the time from the 200 of the FI request to the first
notification in which an account is READY or DELIVERED, whatever comes later;
`ffireqnot` that to the failure. Each is counted in the window of its notification.

A failure may be followed by a success in a later window, which counts there and
is reported (`drain_recovered`). Anything else after an outcome is a repetition.
Memory is bounded by age and by number; dropped sessions are counted.
"""

import enum
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import msgspec

from mudra.agent.clock import DAY
from mudra.agent.counting.event import SUCCESS, TERMINAL, UNKNOWN, Call, FiStatus, Notification
from mudra.agent.counting.tally import Tally
from mudra.agent.counting.window import CLOSE_DELAY, WINDOW
from mudra.metrics.payload.catalogue import NotificationType, RequestType, StatusPosition

MAX_AGE: Final = DAY
MAX_COUNT: Final = 100_000
_OK: Final = 200
_FIRST_ERROR: Final = 400
_FI: Final = NotificationType.FI.value
_READY_TIME: Final = RequestType.FI_READY_TIME.value
_FAILED_TIME: Final = RequestType.FI_FAILED_TIME.value

TallyOf = Callable[[int, str, str, bool], Tally | None]
"""Returns the tally of (window start, FIP, code, inbound), or None where it cannot be counted."""
SessionKey = tuple[str, str]
"""FIP and session ID: each FIP chooses its own session IDs."""


class Outcome(enum.IntEnum):
    """The end of a session, as far as it was counted."""

    NONE = 0
    FAILED = 1
    SUCCEEDED = 2


class FinalNotification(msgspec.Struct, array_like=True, frozen=True, gc=False):
    """The last terminal notification of a session in a window that is still open."""

    window: int
    mono: int
    statuses: int
    sent_at: int
    status: int
    """HTTP status that the AA answered with."""

    @property
    def outcome(self) -> Outcome:
        """Return how this ends the session; None for a failure that the AA refused (spec 2.6)."""
        if self.statuses & SUCCESS:
            return Outcome.SUCCEEDED
        return Outcome.NONE if self.status >= _FIRST_ERROR else Outcome.FAILED


class Session(msgspec.Struct, array_like=True, gc=False):
    """One FI request in progress. Times are monotonic."""

    first_seen: int
    requested_at: int | None = None
    """When the FIP answered the FI request with 200."""
    success_window: int | None = None
    """Window of the first notification with a READY or DELIVERED account."""
    success_at: int = 0
    time_counted: bool = False
    finals: list[FinalNotification] = []
    """At most one for each open window, oldest first."""
    outcome: Outcome = Outcome.NONE
    failure_timed: bool = False


class TrackerState(msgspec.Struct, array_like=True, frozen=True):
    """All sessions, as stored in a snapshot."""

    sessions: list[tuple[str, str, Session]]


@dataclass(slots=True)
class TrackerMetrics:
    """Counts of events that the payloads do not show."""

    repeated: int = 0
    """Notifications for sessions with an outcome that was counted already."""
    without_request: int = 0
    """Outcomes of sessions without a known FI request: they have no time."""
    never_ended: int = 0
    """Sessions dropped for age or number before they had an outcome."""
    recovered: int = 0
    """Sessions that succeeded after their failure had been counted."""


class FiSessionTracker:
    """The sessions in progress and those that ended lately."""

    def __init__(self, max_age: int = MAX_AGE, max_count: int = MAX_COUNT) -> None:
        self._max_age, self._max_count = max_age, max_count
        self._sessions: dict[SessionKey, Session] = {}
        self._by_window: dict[int, dict[SessionKey, None]] = {}
        """Sessions with something to count when the window closes."""
        self._recovered: list[SessionKey] = []
        self.metrics = TrackerMetrics()

    def __len__(self) -> int:
        return len(self._sessions)

    def request_accepted(self, fip: str, session: str, mono: int) -> None:
        """Record that the FIP answered an FI request with 200 and this session ID."""
        found = self._session((fip, session), mono)
        if found.requested_at is None:
            found.requested_at = mono

    def notification_received(self, fip: str, notification: Notification, call: Call) -> bool:
        """Record an answered notification; return True when it is an intermediate one."""
        key, window = (fip, notification.session), call.wall - call.wall % WINDOW
        intermediate = bool(notification.statuses & ~TERMINAL) or not notification.statuses
        if notification.statuses & SUCCESS:
            session = self._session(key, call.mono)
            if session.success_window is None:
                session.success_window, session.success_at = window, call.mono
                self._by_window.setdefault(window, {})[key] = None
        if not intermediate:
            self._final_received(key, notification, call, window)
        return intermediate

    def _final_received(
        self, key: SessionKey, notification: Notification, call: Call, window: int
    ) -> None:
        session = self._session(key, call.mono)
        final = FinalNotification(
            window, call.mono, notification.statuses, notification.sent_at, call.status
        )
        if session.outcome >= max(final.outcome, Outcome.FAILED):
            self.metrics.repeated += 1
            return
        previous = session.finals[-1] if session.finals else None
        # By the call's own time: a log that is read after a pause ends each window as it was.
        if previous is not None and call.wall + call.duration <= (
            previous.window + WINDOW + CLOSE_DELAY
        ):
            if not _supersedes(final, previous):
                self.metrics.repeated += 1
                return
            session.finals.pop()
        session.finals.append(final)
        self._by_window.setdefault(window, {})[key] = None

    def close_window(self, window: int, tally_of: TallyOf) -> None:
        """Count what was decided in this window."""
        for key in self._by_window.pop(window, ()):
            session = self._sessions.get(key)
            if session is None:
                continue
            if session.success_window == window:
                block = (window, key[0], _READY_TIME, False)
                self._count_time(session, session.success_at, block, tally_of)
                session.time_counted = True
            while session.finals and session.finals[0].window <= window:
                self._count_final(key, session, session.finals.pop(0), tally_of)

    def _count_final(
        self, key: SessionKey, session: Session, final: FinalNotification, tally_of: TallyOf
    ) -> None:
        outcome = final.outcome
        if session.outcome >= max(outcome, Outcome.FAILED):
            self.metrics.repeated += 1
            return
        tally = tally_of(final.window, key[0], _FI, True)  # noqa: FBT003 - TallyOf is positional
        if tally is None or tally.statuses is None:
            return
        tally.started()
        tally.answered(final.status, 0, timed=False)
        for position in _positions(final.statuses, outcome):
            tally.statuses[position] += 1
        if session.outcome is Outcome.FAILED:
            self.metrics.recovered += 1
            self._recovered.append(key)
        if not final.statuses & SUCCESS and not session.failure_timed:
            block = (final.window, key[0], _FAILED_TIME, False)
            self._count_time(session, final.mono, block, tally_of)
            session.failure_timed = True
        session.outcome = outcome

    def _count_time(
        self, session: Session, mono: int, block: tuple[int, str, str, bool], tally_of: TallyOf
    ) -> None:
        if session.requested_at is None:
            self.metrics.without_request += 1
            return
        tally = tally_of(*block)
        if tally is not None:
            tally.started()
            tally.answered(_OK, mono - session.requested_at, timed=True)

    def drain_recovered(self) -> list[SessionKey]:
        """Return the sessions that succeeded after a counted failure since the last call."""
        recovered, self._recovered = self._recovered, []
        return recovered

    def expire(self, mono: int) -> None:
        """Drop sessions that are too old; those without an outcome are counted."""
        for key in list(self._sessions):
            session = self._sessions[key]
            if mono - session.first_seen <= self._max_age:
                return  # in the order of their first event
            if not session.finals:
                self._drop(key, session)

    def _session(self, key: SessionKey, mono: int) -> Session:
        found = self._sessions.get(key)
        if found is None:
            if len(self._sessions) >= self._max_count:
                oldest = next(iter(self._sessions))
                self._drop(oldest, self._sessions[oldest])
            found = self._sessions[key] = Session(mono)
        return found

    def _drop(self, key: SessionKey, session: Session) -> None:
        del self._sessions[key]
        if session.outcome is Outcome.NONE:
            self.metrics.never_ended += 1

    def state(self) -> TrackerState:
        """Return what a snapshot stores."""
        return TrackerState([(*key, session) for key, session in self._sessions.items()])

    def restore(self, state: TrackerState, shift: int) -> None:
        """Restore sessions from a snapshot, their monotonic times moved by `shift`."""
        for fip, name, session in state.sessions:
            session.first_seen += shift
            session.success_at += shift
            if session.requested_at is not None:
                session.requested_at += shift
            session.finals = [
                msgspec.structs.replace(final, mono=final.mono + shift) for final in session.finals
            ]
            windows = {final.window for final in session.finals}
            if session.success_window is not None and not session.time_counted:
                windows.add(session.success_window)
            for window in windows:
                self._by_window.setdefault(window, {})[fip, name] = None
            self._sessions[fip, name] = session


def count_intermediate(tally: Tally) -> None:
    """Count a notification in which a status is not terminal yet."""
    if tally.statuses is not None:
        tally.statuses[StatusPosition.PENDING] += 1


def _supersedes(later: FinalNotification, earlier: FinalNotification) -> bool:
    """Return whether the notification that arrived later replaces the earlier one."""
    if earlier.status < _FIRST_ERROR <= later.status and later.statuses == earlier.statuses:
        return False  # a repetition that the AA refused because it had accepted the first
    if UNKNOWN in (later.sent_at, earlier.sent_at):
        return True
    return later.sent_at >= earlier.sent_at


def _positions(statuses: int, outcome: Outcome) -> list[StatusPosition]:
    """Return where a final notification counts: its outcome, and each status that occurs in it."""
    positions = [position for status, position in _POSITION.items() if statuses & status]
    return positions if outcome is Outcome.NONE else [_OUTCOME[outcome], *positions]


_OUTCOME: Final = {
    Outcome.SUCCEEDED: StatusPosition.SUCCEEDED,
    Outcome.FAILED: StatusPosition.FAILED,
}
_POSITION: Final = {
    FiStatus.READY: StatusPosition.READY,
    FiStatus.DENIED: StatusPosition.DENIED,
    FiStatus.DELIVERED: StatusPosition.DELIVERED,
    FiStatus.TIMEOUT: StatusPosition.TIMEOUT,
}
