"""Reports calls to an agent from inside a Python program: a function, httpx2, and ASGI.

    reporter = Reporter("http://127.0.0.1:4044")
    reporter.call("FIP-1", "/FI/request", took_ms=180, status=200, session="S-1")

Reporting never waits, never raises and never grows: of a body only what is counted is
kept, events wait in a queue that is bounded by number and bytes, a thread of its own
sends them in arrays, and events beyond it are counted. What the agent cannot take now
waits; what it refuses is dropped, counted and logged once a minute. A process that is forked
reports what it adds itself; what its parent had queued is the parent's.
"""

import enum
import logging
import os
import threading
import time
import uuid
from collections import deque
from dataclasses import dataclass, field
from typing import Final

import httpx2
import msgspec

from mudra.agent.clock import MINUTE, Clock, MachineClock
from mudra.agent.sources.body import (
    packets_in,
    read_notification,
    session_id,
    session_in,
    shortened_notification,
)
from mudra.agent.sources.route import Routes
from mudra.metrics.payload.catalogue import NotificationType, RequestType
from mudra.shared.text.undecodable import UNDECODABLE
from mudra.shared.waiting.fork_lock import ForkLock

MAX_QUEUED: Final = 10_000
MAX_QUEUED_BYTES: Final = 16 << 20
MAX_AT_ONCE: Final = 1_000
MAX_BYTES_AT_ONCE: Final = 1 << 20
"""Of one request: a proxy on the way takes no more, if it was left as it is installed."""
SECONDS_BETWEEN: Final = 0.5
MAX_BODY: Final = 1 << 20
_MAX_REASON: Final = 200
_OK: Final = 200
_TOO_LARGE: Final = 413
_LATER: Final = frozenset({408, 425, 429})
_FIRST_SERVER_ERROR: Final = 500
_FI_REQUEST: Final = RequestType.FI_REQUEST.value
_FI_FETCH: Final = RequestType.FI_FETCH.value
_FI_NOTIFICATION: Final = NotificationType.FI.value
_NULL: Final = b"null"

_LOG: Final = logging.getLogger("mudra.agent.reporter")


@dataclass(slots=True)
class ReporterMetrics:
    """Counts of the reported events by outcome."""

    sent: int = 0
    dropped: int = 0


class ReportedEvent(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """One half of a call, in the shape that the agent accepts."""

    call_type: str
    route: str
    txn_cor_id: str
    timestamp: int
    peer_id: str = ""
    peer_type: str = "FIP"
    method: str = ""
    http_status: int | None = None
    packet_bytes: int | None = None
    body: msgspec.Raw = msgspec.Raw(_NULL)


class _Rejected(msgspec.Struct, frozen=True):
    """An event that the agent did not accept, and why."""

    message: str = ""


class _Accepted(msgspec.Struct, frozen=True):
    """The agent's answer to events; those that it did not accept are named."""

    rejected: list[_Rejected] = []


class _OwnClient(httpx2.Client):
    """The client of a reporter that was given none: a forked process makes one of its own."""

    def __init__(self) -> None:
        super().__init__(timeout=5)


class _Outcome(enum.Enum):
    """The end of a request."""

    DONE = 0
    BUSY = 1
    """The agent answers, and takes it later."""
    AWAY = 2


@dataclass(slots=True)
class Reporter:
    """Sends events to one agent. Safe to use from every thread; `close` it at the end."""

    address: str
    http: httpx2.Client = field(default_factory=_OwnClient)
    clock: Clock = field(default_factory=MachineClock)
    metrics: ReporterMetrics = field(default_factory=ReporterMetrics)
    _routes: Routes = field(default_factory=Routes)
    _queue: deque[bytes] = field(default_factory=deque)
    """Encoded events: their bytes are what the memory is bounded by."""
    _queued_bytes: int = 0
    _most_at_once: int = MAX_AT_ONCE
    """Half after a request that was too large; one more after each that was accepted."""
    _reason: str = ""
    """Why events were dropped last."""
    _logged: int = 0
    _next_log: int = 0
    _wake: threading.Event = field(default_factory=threading.Event)
    _closing: threading.Event = field(default_factory=threading.Event)
    _give_up_at: float = 0.0
    _lock: ForkLock = field(default_factory=ForkLock)
    _thread: threading.Thread | None = None
    _process: int = field(default_factory=os.getpid)

    def call(  # noqa: PLR0913 - the parts of one call, all but three by name
        self,
        fip: str,
        route: str,
        *,
        took_ms: float,
        status: int | None,
        method: str = "",
        inbound: bool = False,
        body: bytes = b"",
        session: str = "",
        ended_at: float | None = None,
    ) -> None:
        """Report one whole call that ended now, or at `ended_at` (seconds since 1970).

        `status` is None when no answer came. `body` is the one that the agent
        looks into: of the answer for FI request and FI fetch, of the request
        for an FI notification. `session` is enough for an FI request.
        """
        end = self.clock.wall() if ended_at is None else round(ended_at * 1000)
        key = uuid.uuid4().hex
        code = self._routes.code(method, route, inbound=inbound)
        counted, packets = _counted(code, body, session)
        raw, none = msgspec.Raw(counted), msgspec.Raw(_NULL)
        first, second = ("requestIn", "responseOut") if inbound else ("requestOut", "responseIn")
        self._add(
            ReportedEvent(
                first, route, key, end - round(took_ms), fip, method=method,
                body=raw if inbound else none,
            ),
            ReportedEvent(
                second, route, key, end, fip, method=method, http_status=status,
                packet_bytes=packets, body=none if inbound else raw,
            ),
        )  # fmt: skip  # one event a paragraph

    def close(self, timeout: float = 5.0) -> None:
        """Send what is queued and stop; what an agent does not take in this time is dropped."""
        self._give_up_at = time.monotonic() + timeout
        self._closing.set()
        self._wake.set()
        if self._thread is not None:
            self._thread.join(timeout)
        self.http.close()

    def _add(self, *events: ReportedEvent) -> None:
        encoded = [msgspec.json.encode(event) for event in events]
        size = sum(map(len, encoded))
        with self._lock:
            if self._process != os.getpid():
                self._leave_parent()
            if self._closing.is_set():
                self._drop(len(encoded), "the reporter is closed")
                return
            if (
                len(self._queue) + len(encoded) > MAX_QUEUED
                or self._queued_bytes + size > MAX_QUEUED_BYTES
            ):
                self._drop(len(encoded), "the agent does not take them fast enough")
                return
            self._queue += encoded
            self._queued_bytes += size
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._run, name="mudra-agent", daemon=True)
                self._thread.start()
            if len(self._queue) >= MAX_AT_ONCE:
                self._wake.set()

    def _leave_parent(self) -> None:
        """Begin without what belongs to the process that this one was forked from."""
        self._process, self._thread = os.getpid(), None
        self._queue.clear()
        self._queued_bytes = 0
        is_closed = self._closing.is_set()
        self._wake, self._closing = threading.Event(), threading.Event()
        if is_closed:
            self._closing.set()
        if isinstance(self.http, _OwnClient):
            self.http = _OwnClient()  # two processes on one connection read each other's answers

    def _run(self) -> None:
        while not self._closing.is_set():
            self._wake.wait(SECONDS_BETWEEN)
            self._wake.clear()
            outcome = _Outcome.DONE
            while self._queue and outcome is _Outcome.DONE:
                outcome = self._send()
            self._log_dropped()
            if outcome is not _Outcome.DONE:
                self._closing.wait(SECONDS_BETWEEN)
        self._finish()

    def _finish(self) -> None:
        """Send what is queued; an agent that is busy is asked again until the time is over."""
        while self._queue and time.monotonic() < self._give_up_at:
            outcome = self._send()
            if outcome is _Outcome.AWAY:
                break
            if outcome is _Outcome.BUSY:
                time.sleep(SECONDS_BETWEEN)
        with self._lock:
            if self._queue:
                self._drop(len(self._queue), "the program ended before the agent took them")
                self._queue.clear()
        self._next_log = 0
        self._log_dropped()

    def _send(self) -> _Outcome:
        batch = self._batch()
        try:
            response = self.http.post(
                f"{self.address}/sna/v1/aa",
                content=b"[" + b",".join(batch) + b"]",
                headers={"Content-Type": "application/json"},
            )
        except httpx2.HTTPError:
            return _Outcome.AWAY  # sent again later, until the queue is full
        status = response.status_code
        if status in _LATER or status >= _FIRST_SERVER_ERROR:
            return _Outcome.BUSY
        if status == _TOO_LARGE and len(batch) > 1:
            self._most_at_once = len(batch) // 2
            return _Outcome.DONE  # the next one is smaller
        with self._lock:
            for _ in batch:
                self._queued_bytes -= len(self._queue.popleft())
            if status == _OK:
                rejected = _rejected(response.content)[: len(batch)]
                self.metrics.sent += len(batch) - len(rejected)
                if rejected:
                    reason = rejected[0].message[:_MAX_REASON]
                    self._drop(len(rejected), f"the agent did not accept them: {reason}")
                self._most_at_once = min(self._most_at_once + 1, MAX_AT_ONCE)
            else:
                self._drop(len(batch), f"the agent answered {status}")
        return _Outcome.DONE

    def _batch(self) -> list[bytes]:
        """Return the next events that go in one request, at least one."""
        batch: list[bytes] = []
        size = 1
        with self._lock:
            for event in self._queue:
                size += len(event) + 1
                if batch and (size > MAX_BYTES_AT_ONCE or len(batch) >= self._most_at_once):
                    break
                batch.append(event)
        return batch

    def _drop(self, events: int, reason: str) -> None:
        self.metrics.dropped += events
        self._reason = reason

    def _log_dropped(self) -> None:
        """Log how many events were dropped since the last time, at most once a minute."""
        now, dropped = self.clock.monotonic(), self.metrics.dropped
        if dropped == self._logged or now < self._next_log:
            return
        _LOG.warning("%d events were not reported: %s", dropped - self._logged, self._reason)
        self._logged, self._next_log = dropped, now + MINUTE


def _rejected(answer: bytes) -> list[_Rejected]:
    """Return the events that an answer with 200 names as not accepted."""
    try:
        return msgspec.json.decode(answer, type=_Accepted).rejected
    except UNDECODABLE:
        return []


def _counted(code: str, body: bytes, session: str) -> tuple[bytes, int | None]:
    """Return what is counted of a body: itself shortened, and the bytes of its packets."""
    if len(body) > MAX_BODY:
        body = b""
    if code == _FI_REQUEST:
        found = session_in(body) or session_id(session)
        return (msgspec.json.encode({"sessionId": found}) if found else _NULL), None
    if code == _FI_NOTIFICATION:
        notification = read_notification(body)
        return (_NULL if notification is None else shortened_notification(notification)), None
    return _NULL, (packets_in(body) if code == _FI_FETCH and body else None)
