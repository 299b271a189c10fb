"""Reports calls to an agent from inside a Python program: a function, httpx, and ASGI.

    reporter = Reporter("http://127.0.0.1:4044")
    reporter.call("FIP-1", "/FI/request", took_ms=180, status=200, session="S-1")

Reporting never waits, never raises and never grows: events wait in a bounded
queue, a thread of its own sends them in arrays, and events beyond it are counted.
"""

import threading
import uuid
from collections import deque
from dataclasses import dataclass, field
from typing import Final

import httpx
import msgspec

from mudra.agent.clock import Clock, MachineClock

MAX_QUEUED: Final = 10_000
MAX_AT_ONCE: Final = 1_000
SECONDS_BETWEEN: Final = 0.5
MAX_BODY: Final = 1 << 20
_OK: Final = 200


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
    body: msgspec.Raw = msgspec.Raw(b"null")


@dataclass(slots=True)
class Reporter:
    """Sends events to one agent. Safe to use from every thread; `close` it at the end."""

    address: str
    http: httpx.Client = field(default_factory=lambda: httpx.Client(timeout=5))
    clock: Clock = field(default_factory=MachineClock)
    metrics: ReporterMetrics = field(default_factory=ReporterMetrics)
    _queue: deque[ReportedEvent] = field(default_factory=deque)
    _wake: threading.Event = field(default_factory=threading.Event)
    _closed: bool = False
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _thread: threading.Thread | None = None

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
        if session and not body:
            body = msgspec.json.encode({"sessionId": session})
        raw = msgspec.Raw(body if _is_json(body) else b"null")
        none = msgspec.Raw(b"null")
        first, second = ("requestIn", "responseOut") if inbound else ("requestOut", "responseIn")
        self._add(
            ReportedEvent(
                first, route, key, end - round(took_ms), fip, method=method,
                body=raw if inbound else none,
            ),
            ReportedEvent(
                second, route, key, end, fip, method=method, http_status=status,
                body=none if inbound else raw,
            ),
        )  # fmt: skip  # one event a paragraph

    def close(self, timeout: float = 5.0) -> None:
        """Send what is queued and stop."""
        self._closed = True
        self._wake.set()
        if self._thread is not None:
            self._thread.join(timeout)
        self.http.close()

    def _add(self, *events: ReportedEvent) -> None:
        with self._lock:
            if len(self._queue) + len(events) > MAX_QUEUED:
                self.metrics.dropped += len(events)
                return
            self._queue += events
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="mudra-agent", daemon=True)
                self._thread.start()
            if len(self._queue) >= MAX_AT_ONCE:
                self._wake.set()

    def _run(self) -> None:
        while not self._closed:
            self._wake.wait(SECONDS_BETWEEN)
            self._wake.clear()
            while self._queue and self._send():
                pass
        self._send()

    def _send(self) -> bool:
        with self._lock:
            batch = [self._queue[index] for index in range(min(MAX_AT_ONCE, len(self._queue)))]
        if not batch:
            return False
        try:
            response = self.http.post(
                f"{self.address}/sna/v1/aa",
                content=msgspec.json.encode(batch),
                headers={"Content-Type": "application/json"},
            )
        except httpx.HTTPError:
            return False  # sent again later, until the queue is full
        with self._lock:
            for _ in batch:
                self._queue.popleft()
            if response.status_code == _OK:
                self.metrics.sent += len(batch)
            else:
                self.metrics.dropped += len(batch)
        return True


def _is_json(body: bytes) -> bool:
    if not body or len(body) > MAX_BODY:
        return False
    try:
        msgspec.json.decode(body, type=msgspec.Raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False
    return True
