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

from mudra.agent.counting.payload import written
from mudra.agent.delivery.backoff import (
    BETWEEN_STARTS,
    IN_FLIGHT,
    Chance,
    Delivered,
    NotNow,
    Outcome,
    Refused,
    TokenRefused,
    choose,
    judge,
    pause,
)
from mudra.agent.delivery.credentials import CredentialFault, Tokens, read_bounded
from mudra.agent.host.clock import MINUTE, Clock
from mudra.agent.spool.dead_letter import DeadLetter, requeue, write_dead_letter
from mudra.agent.spool.event_recorder import EventRecorder
from mudra.agent.spool.spool import MAX_BYTES, Waiting

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

    keeper: EventRecorder
    tokens: Tokens
    http: httpx.AsyncClient
    url: str
    directory: Path
    clock: Clock
    chance: Chance
    warn: Callable[[str], None]
    note: Callable[[], str]
    """What the operator should know beside the payloads: drops and jumps, for a header."""
    most_bytes: int = MAX_BYTES
    figures: PushMetrics = field(default_factory=PushMetrics)
    _in_flight: set[int] = field(default_factory=set)
    _failures: dict[int, int] = field(default_factory=dict)
    _not_before: dict[int, int] = field(default_factory=dict)
    _in_a_row: int = 0
    _paused_until: int = 0
    _next_start: int = 0
    _next_enforce: int = 0

    async def next(self) -> Waiting | None:
        """The payload to send now, which then is in flight; None when there is nothing to do."""
        now = self.clock.monotonic()
        if len(self._in_flight) >= IN_FLIGHT or now < max(self._next_start, self._paused_until):
            return None
        try:
            if now >= self._next_enforce:
                await self._enforce()
                self._next_enforce = now + ENFORCE_EVERY
            waiting = await self.keeper.with_disk(self.keeper.spool.waiting)
        except sqlite3.Error as fault:
            self.figures.last_fault = f"the spool cannot be read: {fault}"
            return None
        there = {one.id for one in waiting}
        self._not_before = {
            one: at for one, at in self._not_before.items() if one in there and at > now
        }
        self._failures = {one: count for one, count in self._failures.items() if one in there}
        chosen = choose(waiting, self.clock.wall(), self._in_flight | self._not_before.keys())
        if chosen is not None:
            self._in_flight.add(chosen.id)
            self._next_start = now + BETWEEN_STARTS
        return chosen

    async def send(self, waiting: Waiting) -> Outcome | None:
        """Send one payload and do what its answer asks for; None when it was damaged on disk."""
        try:
            body = await self.keeper.with_disk(lambda: self.keeper.spool.body(waiting))
            if body is None:
                self.warn(f"the payload of {written(waiting.window)} was damaged on disk; dropped")
                return None
            outcome = await self._post(waiting, body)
            if isinstance(outcome, TokenRefused) and not self._failures.get(waiting.id):
                outcome = await self._post(waiting, body)
            await self._settle(waiting, body, outcome)
        except (sqlite3.Error, OSError) as fault:
            # Delivered perhaps, but not noted: sent again, the operator answers `duplicate`.
            outcome = NotNow(f"the spool cannot be written: {fault}")
            self._failed(waiting, outcome.why, None)
        finally:
            self._in_flight.discard(waiting.id)
        return outcome

    async def _post(self, waiting: Waiting, body: bytes) -> Outcome:
        try:
            token = await self.tokens.token()
        except CredentialFault as fault:
            return NotNow(str(fault), fault.asked)
        headers = {
            "Authorization": "Bearer " + token.reveal(),
            "Content-Type": "application/json",
            "Accept": "application/json",
        }
        told = (await self.keeper.with_disk(self.note), self.keeper.marks.get(waiting.window))
        note = ", ".join(filter(None, told))
        if note:
            headers["Mudra-Agent-Note"] = note
        try:
            async with self.http.stream(
                "POST", self.url, content=body, headers=headers
            ) as response:
                answer = await read_bounded(response)
        except (httpx.HTTPError, httpx.InvalidURL) as fault:
            return NotNow(f"the operator cannot be reached ({type(fault).__name__})")
        self._compare_clocks(response.headers.get("date", ""))
        outcome = judge(response.status_code, response.headers, answer, self.clock.wall())
        if isinstance(outcome, TokenRefused):
            self.tokens.refused(token)
        return outcome

    async def _settle(self, waiting: Waiting, body: bytes, outcome: Outcome) -> None:
        now = self.clock.wall()
        if isinstance(outcome, NotNow):
            self._failed(waiting, outcome.why, outcome.asked)
        elif isinstance(outcome, TokenRefused):
            self._failed(waiting, outcome.why, None)
        elif isinstance(outcome, Refused):
            letter = DeadLetter(
                waiting.txn_id, waiting.tag, written(waiting.window), written(now),
                outcome.status, outcome.answer, msgspec.Raw(body),
            )  # fmt: skip  # the members in their order
            path = write_dead_letter(self.directory, waiting, letter)
            facts: dict[str, object] = {"last_refusal": f"{outcome.status} at {written(now)}"}
            await self.keeper.with_disk(
                lambda: self.keeper.spool.done(waiting, facts, "dead_letters")
            )
            self.figures.refused += 1
            self._in_a_row = 0
            self.warn(
                f"the operator refused the payload of {written(waiting.window)} for good "
                f"({outcome.status}); it lies with the answer in {path}"
            )
        elif isinstance(outcome, Delivered):
            facts = {
                "last_delivery": now,
                "last_receipt": outcome.receipt.receipt_id,
                "last_receipt_status": outcome.receipt.status,
                "last_delivered_window": waiting.window,
            }
            await self.keeper.with_disk(lambda: self.keeper.spool.done(waiting, facts, "delivered"))
            self.figures.delivered += 1
            self.figures.last_delivery = now
            self.figures.last_fault = ""
            self._in_a_row = 0

    def _failed(self, waiting: Waiting, why: str, asked: int | None) -> None:
        now = self.clock.monotonic()
        failures = self._failures[waiting.id] = self._failures.get(waiting.id, 0) + 1
        wait = pause(failures, asked, self.chance)
        self._not_before[waiting.id] = now + wait
        self._in_a_row += 1
        if asked is not None:
            self._paused_until = max(self._paused_until, now + wait)
        elif self._in_a_row >= TOGETHER:
            together = pause(self._in_a_row - TOGETHER + 1, None, self.chance)
            self._paused_until = max(self._paused_until, now + together)
        self.figures.failed += 1
        if why != self.figures.last_fault:
            self.warn(f"{why}; it is tried again")
        self.figures.last_fault = why

    async def _enforce(self) -> None:
        now = self.clock.wall()
        try:
            await self.keeper.with_disk(lambda: requeue(self.directory, self.keeper.spool, now))
        except OSError as fault:
            self.warn(f"the letters to be sent again cannot be read: {fault}")
        dropped = await self.keeper.with_disk(
            lambda: self.keeper.spool.enforce(now, self.most_bytes)
        )
        if dropped:
            self.figures.dropped_full += dropped
            self.warn(
                f"{dropped} payloads waited for 7 days or beyond 1 GiB and were dropped, "
                "the oldest first; see why the operator takes none: mudra agent status"
            )

    def _compare_clocks(self, date: str) -> None:
        at = http_date(date)
        if at is not None:
            self.figures.clock_offset = at - self.clock.wall()


def http_date(text: str) -> int | None:
    """Milliseconds since 1970 of a `Date` header; None when it is none."""
    try:
        return int(parsedate_to_datetime(text).timestamp() * 1000)
    except (ValueError, TypeError):
        return None
