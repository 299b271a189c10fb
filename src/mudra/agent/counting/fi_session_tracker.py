"""Follows FI requests by their session ID to the notification that decides them.

Spec 2.6: only the last /FI/Notification in which every FIStatus is terminal is
counted; others are position 7. Notifications come out of order and more than
once (network-facts), so the last word stands open until its window closes:
then it is counted, once, and with it the time since the 200 of the FI request
(spec 2.5, `sfireqnot` and `ffireqnot`). What comes for a session after that is
a repetition. Memory is bounded by age and by number; what is dropped is counted.
"""

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
_REFUSED: Final = 400
_FI: Final = NotificationType.FI.value
_READY_TIME: Final = RequestType.FI_READY_TIME.value
_FAILED_TIME: Final = RequestType.FI_FAILED_TIME.value

Block = Callable[[int, str, str, bool], Tally | None]
"""The tally of (window start, FIP, code, inbound), or None where it cannot be counted."""
SessionKey = tuple[str, str]
"""FIP and session ID: session IDs are the FIP's own."""


class Verdict(msgspec.Struct, array_like=True, frozen=True, gc=False):
    """The last word on a session so far."""

    window: int
    mono: int
    statuses: int
    sent_at: int
    status: int
    """HTTP status that the AA answered with."""


class Session(msgspec.Struct, array_like=True, gc=False):
    """One FI request on its way."""

    mono: int
    """When it was first heard of."""
    requested: int | None = None
    """Monotonic time of the 200 of the FI request."""
    verdict: Verdict | None = None
    ended: bool = False


class TrackerState(msgspec.Struct, array_like=True, frozen=True):
    """All sessions as they are kept in a snapshot."""

    sessions: list[tuple[str, str, Session]]


@dataclass(slots=True)
class TrackerMetrics:
    """What happened beside the counts."""

    repeated: int = 0
    """Notices for sessions whose end was counted already."""
    without_request: int = 0
    """Ends of sessions whose FI request this agent never saw: no time can be given."""
    never_ended: int = 0
    """FiSessionTracker dropped for their age or for want of room before a last word came."""


class FiSessionTracker:
    """The sessions under way and those that ended lately."""

    def __init__(self, keep: int = MAX_AGE, most: int = MAX_COUNT) -> None:
        self._keep, self._most = keep, most
        self._sessions: dict[SessionKey, Session] = {}
        self._undecided: dict[int, dict[SessionKey, None]] = {}
        self.metrics = TrackerMetrics()

    def __len__(self) -> int:
        return len(self._sessions)

    def requested(self, fip: str, session: str, mono: int) -> None:
        """The FIP answered an FI request with 200 and this session ID."""
        found = self._session(fip, session, mono)
        if found.requested is None and not found.ended:
            found.requested = mono

    def noticed(self, fip: str, notification: Notification, call: Call) -> bool:
        """A notification was answered; True when it is only an intermediate one."""
        if notification.statuses & ~TERMINAL or not notification.statuses:
            return True
        found = self._session(fip, notification.session, call.mono)
        if found.ended:
            self.metrics.repeated += 1
            return False
        window = call.wall - call.wall % WINDOW
        verdict = Verdict(
            window, call.mono, notification.statuses, notification.sent_at, call.status
        )
        former = found.verdict
        if former is not None:
            # By the call's own time: a log that is read after a pause ends each window as it was.
            final = call.wall + call.took > former.window + WINDOW + CLOSE_DELAY
            if (final and former.status < _REFUSED) or not _supersedes(verdict, former):
                self.metrics.repeated += 1
                return False
            self._undecided[former.window].pop((fip, notification.session), None)
        found.verdict = verdict
        self._undecided.setdefault(window, {})[fip, notification.session] = None
        return False

    def settle(self, window: int, block: Block) -> None:
        """Count the last words that came in this window; it is about to close."""
        for key in self._undecided.pop(window, ()):
            session = self._sessions.get(key)
            if session is not None and session.verdict is not None:
                self._count(key[0], session, session.verdict, block)

    def _count(self, fip: str, session: Session, verdict: Verdict, block: Block) -> None:
        session.verdict = None
        tally = block(verdict.window, fip, _FI, True)  # noqa: FBT003 - Block is positional
        if tally is None or tally.statuses is None:
            return
        tally.began()
        tally.answered(verdict.status, 0, timed=False)
        if verdict.status >= _REFUSED:
            return  # spec 2.6: not an outcome; the FIP will tell it again
        session.ended = True
        for place in _places(verdict.statuses):
            tally.statuses[place] += 1
        if session.requested is None:
            self.metrics.without_request += 1
            return
        code = _READY_TIME if verdict.statuses & SUCCESS else _FAILED_TIME
        timing = block(verdict.window, fip, code, False)  # noqa: FBT003 - Block is positional
        if timing is not None:
            timing.began()
            timing.answered(_OK, verdict.mono - session.requested, timed=True)

    def expire(self, mono: int) -> None:
        """Drop what is too old; sessions without an end are counted."""
        for key in list(self._sessions):
            session = self._sessions[key]
            if mono - session.mono <= self._keep:
                return  # in the order of their first event
            self._drop(key, session)

    def _session(self, fip: str, session: str, mono: int) -> Session:
        found = self._sessions.get((fip, session))
        if found is None:
            if len(self._sessions) >= self._most:
                oldest = next(iter(self._sessions))
                self._drop(oldest, self._sessions[oldest])
            found = self._sessions[fip, session] = Session(mono)
        return found

    def _drop(self, key: SessionKey, session: Session) -> None:
        del self._sessions[key]
        if not session.ended:
            self.metrics.never_ended += 1

    def state(self) -> TrackerState:
        """What a snapshot keeps."""
        return TrackerState([(*key, session) for key, session in self._sessions.items()])

    def restore(self, state: TrackerState, shift: int) -> None:
        """Record sessions over from a snapshot, their monotonic times moved by `shift`."""
        for fip, name, session in state.sessions:
            session.mono += shift
            if session.requested is not None:
                session.requested += shift
            if session.verdict is not None:
                moved = msgspec.structs.replace(session.verdict, mono=session.verdict.mono + shift)
                session.verdict = moved
                self._undecided.setdefault(moved.window, {})[fip, name] = None
            self._sessions[fip, name] = session


def intermediate(tally: Tally) -> None:
    """Count a notification in which a status is not terminal yet."""
    if tally.statuses is not None:
        tally.statuses[StatusPosition.PENDING] += 1


def _supersedes(later: Verdict, former: Verdict) -> bool:
    """Is the one that arrived later also the later word?"""
    if former.status >= _REFUSED or later.status >= _REFUSED:
        return former.status >= _REFUSED
    if UNKNOWN in (later.sent_at, former.sent_at):
        return True
    return later.sent_at >= former.sent_at


def _places(statuses: int) -> list[StatusPosition]:
    """Where a last notification is counted: its outcome, and each status that occurs in it."""
    outcome = StatusPosition.SUCCEEDED if statuses & SUCCESS else StatusPosition.FAILED
    return [outcome, *(place for status, place in _PLACE.items() if statuses & status)]


_PLACE: Final = {
    FiStatus.READY: StatusPosition.READY,
    FiStatus.DENIED: StatusPosition.DENIED,
    FiStatus.DELIVERED: StatusPosition.DELIVERED,
    FiStatus.TIMEOUT: StatusPosition.TIMEOUT,
}
