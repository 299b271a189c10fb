"""Delivers what waits in the spool: each payload is sent until it has a receipt or a refusal.

At most 2 in flight, 2 starts a second, the live window first, then the oldest;
retries never end. While the operator seems down, each round tries two payloads at once, those that
matter most, and the next round comes within a minute. The decisions are in `backoff.py`.
"""

import sqlite3
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, assert_never

import httpx2

from mudra.agent.clock import MINUTE, SECOND, Clock
from mudra.agent.counting.payload import format_time
from mudra.agent.delivery.backoff import (
    BETWEEN_STARTS,
    IN_FLIGHT,
    MAX_RETRY_AFTER,
    Delivered,
    NotNow,
    PushOutcome,
    Receipt,
    Refused,
    TokenRefused,
    Uniform,
    classify_response,
    next_payload,
    parse_http_date,
    retry_after_its_end,
    retry_delay,
)
from mudra.agent.delivery.credentials import Tokens, token_headers
from mudra.agent.spool.dead_letter import SHARE, drop_beyond_room, requeue, write_dead_letter
from mudra.agent.spool.event_recorder import EventRecorder
from mudra.agent.spool.payload_files import QueuedPayload
from mudra.agent.spool.spool import MAX_BYTES, Fact
from mudra.client.errors import PAUSE_SECONDS, MudraClientError, RetryableError, kind_of_failure
from mudra.client.exchange import ANSWER_BYTES
from mudra.client.tasks import read_bounded

OPERATOR_DOWN: Final = 3
"""After so many failures in a row over all payloads, the operator is considered down."""
ENFORCE_EVERY: Final = MINUTE


@dataclass(slots=True)
class PushMetrics:
    """Counts of the pushes by outcome."""

    delivered: int = 0
    refused: int = 0
    failed: int = 0
    last_error: str = ""
    last_delivery: int | None = None
    """Wall time, also of an earlier run."""
    delivered_at: int | None = None
    """Monotonic time of the last delivery of this run."""
    dropped_full: int = 0
    clock_offset: int | None = None
    """Milliseconds by which the operator's clock is ahead, from its `Date`; whole seconds."""


@dataclass(slots=True)
class Pusher:
    """The delivery of one agent."""

    aa_id: str
    recorder: EventRecorder
    tokens: Tokens
    http: httpx2.AsyncClient
    url: str
    directory: Path
    clock: Clock
    uniform: Uniform
    warn: Callable[[str], None]
    agent_note: Callable[[], str]
    """What the operator should know that is not in the payloads, for a header."""
    max_bytes: int = MAX_BYTES
    metrics: PushMetrics = field(default_factory=PushMetrics)
    _in_flight: set[QueuedPayload] = field(default_factory=set)
    _failures: dict[str, int] = field(default_factory=dict)
    _not_before: dict[str, int] = field(default_factory=dict)
    _own_wait: set[str] = field(default_factory=set)
    """Payloads that wait for a reason of their own, also while the operator is down."""
    _failures_in_a_row: int = 0
    _paused_until: int = 0
    _asked_until: int = 0
    """The end of a wait that the operator asked for: nothing is started before."""
    _tried: set[str] = field(default_factory=set)
    """Payloads that were started since the last pause ended: a round has `IN_FLIGHT` of them."""
    _next_start: int = 0
    _next_enforce: int = 0

    async def next(self) -> QueuedPayload | None:
        """Return the payload to send now, which then is in flight; None when there is none."""
        now = self.clock.monotonic()
        if len(self._in_flight) >= IN_FLIGHT or now < max(self._next_start, self._asked_until):
            return None
        if now < self._paused_until and len(self._tried) >= IN_FLIGHT:
            return None
        if now >= self._next_enforce:
            try:
                await self._enforce_limits()
            except (sqlite3.Error, OSError) as error:
                self.metrics.last_error = f"the spool cannot be written: {error}"
                return None
            self._next_enforce = now + ENFORCE_EVERY
        queued = self.recorder.spool.queued()
        names = {one.name for one in queued}
        self._not_before = {
            name: at for name, at in self._not_before.items() if name in names and at > now
        }
        self._failures = {name: count for name, count in self._failures.items() if name in names}
        self._own_wait &= self._not_before.keys()
        is_down = self._failures_in_a_row >= OPERATOR_DOWN
        if now >= self._paused_until:
            self._tried.clear()
        waiting = self._own_wait | self._tried if is_down else self._not_before.keys()
        # A window that is on its way is not overtaken by its next revision.
        under_way = {one.report for one in self._in_flight}
        blocked = {one.name for one in queued if one.report in under_way} | waiting
        chosen = next_payload(queued, self.clock.wall(), blocked, self.aa_id)
        if chosen is not None:
            self._tried.add(chosen.name)
            self._in_flight.add(chosen)
            self._next_start = now + BETWEEN_STARTS
        return chosen

    def resume(self) -> None:
        """Send what waits without the pauses of earlier failures: their cause may be gone."""
        self._not_before.clear()
        self._failures_in_a_row = self._paused_until = self._asked_until = 0

    async def send(self, queued: QueuedPayload) -> None:
        """Send one payload and act on the response. A payload damaged on disk is dropped."""
        spool = self.recorder.spool
        try:
            waits, body = await self.recorder.on_disk(
                lambda: (spool.holds(queued), spool.body(queued))
            )
            if body is None:
                if waits:  # else a later revision has just replaced it
                    self.warn(f"the payload of {format_time(queued.window)} is damaged; dropped")
                return
            outcome = await self._post(queued, body)
            if isinstance(outcome, TokenRefused) and not self._failures.get(queued.name):
                outcome = await self._post(queued, body)
            await self._act_on(outcome, queued, body)
        except (sqlite3.Error, OSError) as error:
            # Delivered perhaps, but not recorded: sent again, the operator answers `duplicate`.
            self._failed(queued, f"the spool cannot be written: {error}")
        finally:
            self._in_flight.discard(queued)

    async def _post(self, queued: QueuedPayload, body: bytes) -> PushOutcome:
        try:
            token = await self.tokens.token()
        except MudraClientError as error:
            return NotNow(str(error), _asked(error))
        headers = {
            **token_headers(token, self.tokens.dpop, self.url),
            "Content-Type": "application/json",
            "Accept": "application/json",
        }
        agent_note = await self.recorder.on_disk(self.agent_note)
        window_note = self.recorder.window_notes.get(queued.window)
        if agent_note or window_note:
            headers["Mudra-Agent-Note"] = ", ".join(filter(None, (agent_note, window_note)))
        try:
            async with self.http.stream(
                "POST", self.url, content=body, headers=headers
            ) as response:
                answer = await read_bounded(response, ANSWER_BYTES)
        # A ValueError: of a redirect to a host that IDNA 2008 forbids.
        except (httpx2.HTTPError, httpx2.InvalidURL, ValueError) as error:
            return NotNow(f"the operator cannot be reached ({kind_of_failure(error)})")
        operators_time = self._compare_clocks(response.headers.get("date", ""))
        outcome = classify_response(
            response.status_code, response.headers, answer, self.clock.wall()
        )
        if isinstance(outcome, TokenRefused):
            self.tokens.token_was_refused(token)
        if operators_time is None:
            return outcome
        return retry_after_its_end(outcome, queued.window, operators_time)

    async def _act_on(self, outcome: PushOutcome, queued: QueuedPayload, body: bytes) -> None:
        match outcome:
            case Delivered(receipt):
                await self._delivered(queued, receipt)
            case Refused():
                await self._refused(queued, body, outcome)
            case NotNow(reason, retry_after, others_too):
                self._failed(queued, reason, retry_after, others_too=others_too)
            case TokenRefused(reason):
                error = self.tokens.error
                self._failed(queued, reason if error is None else f"{reason}; {error}")
            case _:
                assert_never(outcome)

    async def _delivered(self, queued: QueuedPayload, receipt: Receipt) -> None:
        now = self.clock.wall()
        facts: dict[str, Fact] = {
            "last_delivery": now,
            "last_receipt": receipt.receipt_id,
            "last_receipt_status": receipt.status,
            "last_delivered_window": queued.window,
        }
        await self.recorder.on_disk(lambda: self.recorder.spool.remove(queued, facts, "delivered"))
        self.metrics.delivered += 1
        self.metrics.last_delivery = now
        self.metrics.delivered_at = self.clock.monotonic()
        self.metrics.last_error = ""
        self._failures_in_a_row = 0

    async def _refused(self, queued: QueuedPayload, body: bytes, refused: Refused) -> None:
        now = self.clock.wall()
        path = write_dead_letter(self.directory, queued, body, refused.status, refused.answer, now)
        facts = {"last_refusal": f"{refused.status} at {format_time(now)}"}
        await self.recorder.on_disk(
            lambda: self.recorder.spool.remove(queued, facts, "dead_letters")
        )
        self.metrics.refused += 1
        self._failures_in_a_row = 0
        self.warn(
            f"the operator refused the payload of {format_time(queued.window)} for good "
            f"({refused.status}); payload and response are in {path}"
        )

    def _failed(
        self,
        queued: QueuedPayload,
        reason: str,
        retry_after: int | None = None,
        *,
        others_too: bool = True,
    ) -> None:
        now = self.clock.monotonic()
        failures = self._failures[queued.name] = self._failures.get(queued.name, 0) + 1
        wait = retry_delay(failures, retry_after, self.uniform)
        self._not_before[queued.name] = now + wait
        if not others_too:
            self._own_wait.add(queued.name)
        else:
            self._pause(now, None if retry_after is None else wait)
        self.metrics.failed += 1
        if reason != self.metrics.last_error:
            self.warn(f"{reason}; the agent tries again")
        self.metrics.last_error = reason

    def _pause(self, now: int, asked: int | None) -> None:
        """Send nothing for the wait that was asked for, or once the operator seems to be down."""
        self._failures_in_a_row += 1
        wait = asked
        if wait is None and self._failures_in_a_row >= OPERATOR_DOWN:
            wait = retry_delay(self._failures_in_a_row - OPERATOR_DOWN + 1, None, self.uniform)
        if wait is not None:
            self._paused_until = max(self._paused_until, now + wait)
        if asked is not None:
            self._asked_until = max(self._asked_until, now + asked)

    async def _enforce_limits(self) -> None:
        spool = self.recorder.spool
        try:
            await self.recorder.on_disk(lambda: requeue(self.directory, spool))
        except OSError as error:
            self.warn(
                f"the dead letters to be sent again cannot be queued: {error}; give the folder "
                "and its files to the agent's user"
            )
        await self._bound_dead_letters()
        # By the operator's clock where that is behind: what it still accepts is not too old.
        now = self.clock.wall() + min(self.metrics.clock_offset or 0, 0)
        dropped = await self.recorder.on_disk(lambda: spool.enforce_limits(now, self.max_bytes))
        if dropped:
            self.metrics.dropped_full += dropped
            self.warn(
                f"{dropped} payloads waited for 7 days or beyond 1 GiB and were dropped, "
                "the oldest first; see why the operator accepts none: mudra agent status"
            )

    async def _bound_dead_letters(self) -> None:
        room = self.max_bytes // SHARE
        try:
            gone = await self.recorder.on_disk(lambda: drop_beyond_room(self.directory, room))
        except OSError as error:
            self.warn(f"the dead letters cannot be bounded: {error}; give them to the agent's user")
        else:
            if gone:
                self.warn(f"{gone} dead letters beyond {room} bytes were dropped, the oldest first")

    def _compare_clocks(self, date: str) -> int | None:
        """Return the operator's time, if it sent one, and note how far it is ahead."""
        at = parse_http_date(date)
        if at is not None:
            self.metrics.clock_offset = at - self.clock.wall()
        return at


def _asked(error: MudraClientError) -> int | None:
    """Return the milliseconds that the token service asked for, a minute at most.

    The source of tokens keeps that pause: a wait of our own within it would be added to it.
    """
    if not isinstance(error, RetryableError) or error.retry_after <= PAUSE_SECONDS:
        return None
    return min(int(error.retry_after * SECOND), MAX_RETRY_AFTER)
