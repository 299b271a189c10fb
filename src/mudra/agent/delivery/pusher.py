"""Delivers what waits in the spool. Each payload goes until it has a receipt or a refusal.

At most 2 in flight, 2 starts a second, the live window first, then the oldest;
no end to retrying (quality G2, G4). The decisions are in `backoff.py`.
"""

import sqlite3
from collections.abc import Callable
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Final

import httpx
import msgspec

from mudra.agent.clock import MINUTE, Clock
from mudra.agent.counting.payload import format_time
from mudra.agent.delivery.backoff import (
    BETWEEN_STARTS,
    IN_FLIGHT,
    Delivered,
    NotNow,
    Outcome,
    Refused,
    TokenRefused,
    Uniform,
    choose,
    judge,
    pause,
)
from mudra.agent.delivery.credentials import CredentialFault, Tokens, read_bounded
from mudra.agent.spool.dead_letter import DeadLetter, requeue, write_dead_letter
from mudra.agent.spool.event_recorder import EventRecorder
from mudra.agent.spool.spool import MAX_BYTES, QueuedPayload

TOGETHER: Final = 3
"""After so many failures in a row over all payloads, the operator is taken to be down."""
ENFORCE_EVERY: Final = MINUTE


@dataclass(slots=True)
class PushMetrics:
    """What became of the pushes."""

    delivered: int = 0
    refused: int = 0
    failed: int = 0
    last_fault: str = ""
    last_delivery: int | None = None
    """Wall time."""
    dropped_full: int = 0
    clock_offset: int | None = None
    """Milliseconds by which the operator's clock is ahead, from its `Date`; whole seconds."""


@dataclass(slots=True)
class Pusher:
    """The delivery of one agent."""

    recorder: EventRecorder
    tokens: Tokens
    http: httpx.AsyncClient
    url: str
    directory: Path
    clock: Clock
    uniform: Uniform
    warn: Callable[[str], None]
    note: Callable[[], str]
    """What the operator should know beside the payloads: drops and jumps, for a header."""
    most_bytes: int = MAX_BYTES
    metrics: PushMetrics = field(default_factory=PushMetrics)
    _in_flight: set[int] = field(default_factory=set)
    _failures: dict[int, int] = field(default_factory=dict)
    _not_before: dict[int, int] = field(default_factory=dict)
    _in_a_row: int = 0
    _paused_until: int = 0
    _next_start: int = 0
    _next_enforce: int = 0

    async def next(self) -> QueuedPayload | None:
        """The payload to send now, which then is in flight; None when there is nothing to do."""
        now = self.clock.monotonic()
        if len(self._in_flight) >= IN_FLIGHT or now < max(self._next_start, self._paused_until):
            return None
        try:
            if now >= self._next_enforce:
                await self._enforce()
                self._next_enforce = now + ENFORCE_EVERY
            queued = await self.recorder.on_disk(self.recorder.spool.queued)
        except sqlite3.Error as error:
            self.metrics.last_fault = f"the spool cannot be read: {error}"
            return None
        there = {one.id for one in queued}
        self._not_before = {
            one: at for one, at in self._not_before.items() if one in there and at > now
        }
        self._failures = {one: count for one, count in self._failures.items() if one in there}
        chosen = choose(queued, self.clock.wall(), self._in_flight | self._not_before.keys())
        if chosen is not None:
            self._in_flight.add(chosen.id)
            self._next_start = now + BETWEEN_STARTS
        return chosen

    async def send(self, queued: QueuedPayload) -> Outcome | None:
        """Send one payload and do what its answer asks for; None when it was damaged on disk."""
        try:
            body = await self.recorder.on_disk(lambda: self.recorder.spool.body(queued))
            if body is None:
                self.warn(
                    f"the payload of {format_time(queued.window)} was damaged on disk; dropped"
                )
                return None
            outcome = await self._post(queued, body)
            if isinstance(outcome, TokenRefused) and not self._failures.get(queued.id):
                outcome = await self._post(queued, body)
            await self._settle(queued, body, outcome)
        except (sqlite3.Error, OSError) as error:
            # Delivered perhaps, but not noted: sent again, the operator answers `duplicate`.
            outcome = NotNow(f"the spool cannot be format_time: {error}")
            self._failed(queued, outcome.why, None)
        finally:
            self._in_flight.discard(queued.id)
        return outcome

    async def _post(self, queued: QueuedPayload, body: bytes) -> Outcome:
        try:
            token = await self.tokens.token()
        except CredentialFault as error:
            return NotNow(str(error), error.asked)
        headers = {
            "Authorization": "Bearer " + token.reveal(),
            "Content-Type": "application/json",
            "Accept": "application/json",
        }
        told = (await self.recorder.on_disk(self.note), self.recorder.marks.get(queued.window))
        note = ", ".join(filter(None, told))
        if note:
            headers["Mudra-Agent-Note"] = note
        try:
            async with self.http.stream(
                "POST", self.url, content=body, headers=headers
            ) as response:
                answer = await read_bounded(response)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            return NotNow(f"the operator cannot be reached ({type(error).__name__})")
        self._compare_clocks(response.headers.get("date", ""))
        outcome = judge(response.status_code, response.headers, answer, self.clock.wall())
        if isinstance(outcome, TokenRefused):
            self.tokens.refused(token)
        return outcome

    async def _settle(self, queued: QueuedPayload, body: bytes, outcome: Outcome) -> None:
        now = self.clock.wall()
        if isinstance(outcome, NotNow):
            self._failed(queued, outcome.why, outcome.asked)
        elif isinstance(outcome, TokenRefused):
            self._failed(queued, outcome.why, None)
        elif isinstance(outcome, Refused):
            letter = DeadLetter(
                queued.txn_id, queued.tag, format_time(queued.window), format_time(now),
                outcome.status, outcome.answer, msgspec.Raw(body),
            )  # fmt: skip  # the members in their order
            path = write_dead_letter(self.directory, queued, letter)
            facts: dict[str, object] = {"last_refusal": f"{outcome.status} at {format_time(now)}"}
            await self.recorder.on_disk(
                lambda: self.recorder.spool.done(queued, facts, "dead_letters")
            )
            self.metrics.refused += 1
            self._in_a_row = 0
            self.warn(
                f"the operator refused the payload of {format_time(queued.window)} for good "
                f"({outcome.status}); it lies with the answer in {path}"
            )
        elif isinstance(outcome, Delivered):
            facts = {
                "last_delivery": now,
                "last_receipt": outcome.receipt.receipt_id,
                "last_receipt_status": outcome.receipt.status,
                "last_delivered_window": queued.window,
            }
            await self.recorder.on_disk(
                lambda: self.recorder.spool.done(queued, facts, "delivered")
            )
            self.metrics.delivered += 1
            self.metrics.last_delivery = now
            self.metrics.last_fault = ""
            self._in_a_row = 0

    def _failed(self, queued: QueuedPayload, why: str, asked: int | None) -> None:
        now = self.clock.monotonic()
        failures = self._failures[queued.id] = self._failures.get(queued.id, 0) + 1
        wait = pause(failures, asked, self.uniform)
        self._not_before[queued.id] = now + wait
        self._in_a_row += 1
        if asked is not None:
            self._paused_until = max(self._paused_until, now + wait)
        elif self._in_a_row >= TOGETHER:
            together = pause(self._in_a_row - TOGETHER + 1, None, self.uniform)
            self._paused_until = max(self._paused_until, now + together)
        self.metrics.failed += 1
        if why != self.metrics.last_fault:
            self.warn(f"{why}; it is tried again")
        self.metrics.last_fault = why

    async def _enforce(self) -> None:
        now = self.clock.wall()
        try:
            await self.recorder.on_disk(lambda: requeue(self.directory, self.recorder.spool, now))
        except OSError as error:
            self.warn(f"the letters to be sent again cannot be read: {error}")
        dropped = await self.recorder.on_disk(
            lambda: self.recorder.spool.enforce(now, self.most_bytes)
        )
        if dropped:
            self.metrics.dropped_full += dropped
            self.warn(
                f"{dropped} payloads waited for 7 days or beyond 1 GiB and were dropped, "
                "the oldest first; see why the operator takes none: mudra agent status"
            )

    def _compare_clocks(self, date: str) -> None:
        at = http_date(date)
        if at is not None:
            self.metrics.clock_offset = at - self.clock.wall()


def http_date(text: str) -> int | None:
    """Milliseconds since 1970 of a `Date` header; None when it is none."""
    try:
        return int(parsedate_to_datetime(text).timestamp() * 1000)
    except (ValueError, TypeError):
        return None
